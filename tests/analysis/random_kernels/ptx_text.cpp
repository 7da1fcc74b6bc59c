#include "ptx_text.hpp"

#include <random>
#include <utility>

#include <fmt/format.h>

#include "ptx_names.hpp"

namespace sluice::analysis::random {
namespace {

class Writer {
 public:
  explicit Writer(const Kernel& kernel) : kernel_(kernel), random_(kernel.seed ^ 0x5eed) {}

  std::string write() {
    for (uint32_t i = 0; i < kernel_.variables.size(); ++i)
      variables_.push_back(fresh(kernel_.variables[i]));
    load_parameters();
    for (uint32_t i = 0; i < kernel_.variables.size(); ++i) {
      line("mov.{} {}, 0", suffix(kernel_.variables[i]), variables_[i]);
    }
    sum_ = fresh(Type::u32);
    line("mov.u32 {}, 1", sum_);
    write(kernel_.body);
    return fmt::format(
        ".version 7.5\n.target sm_75\n.address_size 64\n\n.visible .entry {}(\n{}\n)\n{{\n"
        "  .reg .pred %p<{}>;\n  .reg .b32 %r<{}>;\n  .reg .b64 %rd<{}>;\n{}DONE:\n  ret;\n}}\n",
        kernel_name, parameter_list(kernel_), predicates_ + 1, words_ + 1, doubles_ + 1, text_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += "  " + guard_ + fmt::format(format, std::forward<Values>(values)...) + ";\n";
  }
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  std::string fresh(Type type) {
    if (type == Type::predicate) return fmt::format("%p{}", ++predicates_);
    if (bits_of(type) == 64) return fmt::format("%rd{}", ++doubles_);
    return fmt::format("%r{}", ++words_);
  }
  std::string fresh_label() { return fmt::format("L{}", ++labels_); }

  void load_parameters() {
    for (const Parameter& parameter : kernel_.parameters) {
      const std::string place = parameter.field == 0
                                    ? parameter.name
                                    : fmt::format("{}+{}", parameter.name, parameter.field);
      const std::string name = fresh(parameter.type);
      line("ld.param.{} {}, [{}]", suffix(parameter.type), name, place);
      if (parameter.pointer && !parameter.generic) {
        const std::string global = fresh(Type::u64);
        line("cvta.to.global.u64 {}, {}", global, name);
        parameters_.push_back(global);
      } else {
        parameters_.push_back(name);
      }
    }
  }

  void write(const Statements& statements) {
    for (const Statement& statement : statements)
      write(statement);
  }

  void write(const Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::access:
        return write(statement.access, address(statement.access), {});
      case Statement::Kind::assign: {
        const std::string value = operand(*statement.value);
        return line("mov.{} {}, {}", suffix(statement.value->type), variables_[statement.variable],
                    value);
      }
      case Statement::Kind::branch:
        return write_branch(statement);
      case Statement::Kind::loop:
        return write_loop(statement);
      case Statement::Kind::leave: {
        const std::string condition = operand(*statement.value);
        constexpr const char* ways[] = {"bra DONE", "exit", "ret"};
        return line("@{} {}", condition, ways[random_() % 3]);
      }
      case Statement::Kind::barrier:
        return line("bar.sync 0");
    }
  }

  void write_branch(const Statement& statement) {
    if (statement.predicated) {
      const Access& access = statement.first[0].access;
      const std::string condition = operand(*statement.value);
      return write(access, address(access), "@" + condition + " ");
    }
    const std::string condition = operand(*statement.value);
    const std::string otherwise = fresh_label(), end = fresh_label();
    line("@!{} bra {}", condition, otherwise);
    write(statement.first);
    if (!statement.second.empty()) line("bra {}", end);
    text_ += otherwise + ":\n";
    write(statement.second);
    text_ += end + ":\n";
  }

  void write_loop(const Statement& statement) {
    const Type type = kernel_.variables[statement.variable];
    const std::string counter = variables_[statement.variable];
    line("mov.{} {}, {}", suffix(type), counter, operand(*statement.start));
    const std::string bound = operand(*statement.bound), step = operand(*statement.step);
    const std::string head = fresh_label(), end = fresh_label();
    const auto leave_unless_more = [&](const std::string& label) {
      const std::string more = fresh(Type::predicate);
      line("setp.{}.{} {}, {}, {}", comparison(statement.compare), suffix(type), more, counter,
           bound);
      line("@!{} bra {}", more, label);
    };
    if (statement.bottom_tested) leave_unless_more(end);
    text_ += head + ":\n";
    if (!statement.bottom_tested) leave_unless_more(end);
    write(statement.first);
    line("add.{} {}, {}, {}", suffix(type), counter, counter, step);
    if (statement.bottom_tested) {
      const std::string more = fresh(Type::predicate);
      line("setp.{}.{} {}, {}, {}", comparison(statement.compare), suffix(type), more, counter,
           bound);
      line("@{} bra {}", more, head);
    } else {
      line("bra {}", head);
    }
    text_ += end + ":\n";
  }

  std::string address(const Access& access) {
    return address(access.pointer, *access.offset, access.immediate);
  }
  std::string address(uint32_t pointer, const Expression& offset, int64_t immediate) {
    const std::string place = operand(offset);
    const std::string sum = fresh(Type::u64);
    line("add.{} {}, {}, {}", chance(50) ? "s64" : "u64", sum, parameters_[pointer], place);
    return immediate == 0 ? sum : fmt::format("{}+{}", sum, immediate);
  }

  std::string space(uint32_t pointer) const {
    return kernel_.parameters[pointer].generic ? "" : ".global";
  }

  // write() writes one access; what is read goes into the sum that stores write.
  void write(const Access& access, const std::string& address, const std::string& guard) {
    const Type type = access.bytes == 8 ? Type::u64 : Type::u32;
    const std::string where = space(access.pointer);
    const std::string element = fmt::format("u{}", access.bytes * 8);
    guard_ = guard;
    if (access.kind == AccessKind::reduce) {
      line("red{}.add.{} [{}], {}", where, element, address, sum_as(type));
    } else if (access.kind == AccessKind::atomic) {
      const std::string old = fresh(type);
      const std::string what = chance(50) ? "add.u" : "exch.b";
      line("atom{}.{}{} {}, [{}], {}", where, what, access.bytes * 8, old, address, sum_as(type));
    } else {
      std::string lanes, vector;
      std::vector<std::string> values;
      for (uint32_t i = 0; i < access.lanes; ++i) {
        values.push_back(access.kind == AccessKind::load ? zero(type) : sum_as(type));
        lanes += (i == 0 ? "" : ", ") + values.back();
      }
      if (access.lanes > 1) {
        lanes = "{" + lanes + "}";
        vector = fmt::format(".v{}", access.lanes);
      }
      if (access.kind == AccessKind::load) {
        line("ld{}{}.{} {}, [{}]", where, vector, element, lanes, address);
        guard_.clear();
        add_up(values, type);
      } else {
        line("st{}{}.{} [{}], {}", where, vector, element, address, lanes);
      }
    }
    guard_.clear();
  }

  // zero() is a register that a guarded load may leave as it is.
  std::string zero(Type type) {
    const std::string result = fresh(type), guard = std::exchange(guard_, {});
    line("mov.{} {}, 0", suffix(type), result);
    guard_ = guard;
    return result;
  }

  std::string sum_as(Type type) {
    if (bits_of(type) == 32) return sum_;
    const std::string wide = fresh(type), guard = std::exchange(guard_, {});
    line("cvt.u64.u32 {}, {}", wide, sum_);
    guard_ = guard;
    return wide;
  }

  void add_up(const std::vector<std::string>& values, Type type) {
    for (std::string value : values) {
      if (bits_of(type) == 64) {
        const std::string low = fresh(Type::u32);
        line("cvt.u32.u64 {}, {}", low, value);
        value = low;
      }
      line("xor.b32 {}, {}, {}", sum_, sum_, value);
    }
  }

  // operand() computes an expression and says what holds it: a register or a number.
  std::string operand(const Expression& e) {
    switch (e.op) {
      case Op::constant:
        return fmt::format("{}", e.value);
      case Op::scalar:
        return parameters_[e.index];
      case Op::variable:
        return variables_[e.index];
      case Op::special: {
        const std::string result = fresh(Type::u32);
        line("mov.u32 {}, {}", result, special_name(e.index));
        return result;
      }
      case Op::loaded: {
        const std::string place = address(e.index, *e.operands[0], 0);
        const std::string result = fresh(e.type);
        line("ld{}.{} {}, [{}]", space(e.index), e.value == 1 ? "u8" : "u32", result, place);
        line("xor.b32 {}, {}, {}", sum_, sum_, result);
        return result;
      }
      default:
        return computed(e);
    }
  }

  std::string in_register(const Expression& e) {
    const std::string text = operand(e);
    if (e.op != Op::constant) return text;
    const std::string result = fresh(e.type);
    line("mov.{} {}, {}", suffix(e.type), result, text);
    return result;
  }

  std::string computed(const Expression& e) {
    if (std::string fused = fused_multiply(e); !fused.empty()) return fused;
    if (e.op == Op::convert) return converted(e);
    std::vector<std::string> operands;
    for (size_t i = 0; i < e.operands.size(); ++i) {
      operands.push_back(i == 0 ? in_register(*e.operands[i]) : operand(*e.operands[i]));
    }
    const std::string result = fresh(e.type);
    if (e.op == Op::select) {
      line("selp.{} {}, {}, {}, {}", suffix(e.type), result, operands[1], operands[2], operands[0]);
    } else if (is_comparison(e.op)) {
      line("setp.{}.{} {}, {}, {}", comparison(e.op), suffix(e.operands[0]->type), result,
           operands[0], operands[1]);
    } else if (operands.size() == 1) {
      line("{} {}, {}", opcode(e), result, operands[0]);
    } else {
      line("{} {}, {}, {}", opcode(e), result, operands[0], operands[1]);
    }
    return result;
  }

  std::string converted(const Expression& e) {
    const Type from = e.operands[0]->type;
    const std::string value = in_register(*e.operands[0]);
    if (bits_of(from) == bits_of(e.type)) return value;
    const std::string result = fresh(e.type);
    line("cvt.{}.{} {}, {}", suffix(e.type), suffix(from), result, value);
    return result;
  }

  // fused_multiply() writes a * b + c as one instruction, where the dice say so.
  std::string fused_multiply(const Expression& e) {
    if (e.op != Op::add) return {};
    const Expression& product = *e.operands[0];
    const bool wide = product.op == Op::multiply_wide;
    if ((!wide && product.op != Op::multiply) || chance(40)) return {};
    const std::string a = in_register(*product.operands[0]), b = operand(*product.operands[1]);
    const std::string c = operand(*e.operands[1]), result = fresh(e.type);
    line("mad.{}.{} {}, {}, {}, {}", wide ? "wide" : "lo", suffix(product.operands[0]->type),
         result, a, b, c);
    return result;
  }

  const Kernel& kernel_;
  std::mt19937_64 random_;
  std::string text_;
  std::string guard_;
  std::string sum_;  // a register: all that was read and decides nothing
  std::vector<std::string> parameters_, variables_;
  unsigned predicates_ = 0, words_ = 0, doubles_ = 0, labels_ = 0;
};

}  // namespace

std::string ptx_of(const Kernel& kernel) {
  return Writer(kernel).write();
}

}  // namespace sluice::analysis::random
