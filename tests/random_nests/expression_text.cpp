#include "expression_text.hpp"

namespace sluice::nests {
namespace {

constexpr const char* comparisons[] = {"lt", "le", "gt", "ge", "eq", "ne"};

}  // namespace

void ExpressionText::begin() {
  for (size_t i = 0; i < size_t(Buffer::count); ++i) {
    const std::string generic = wide();
    buffers_.push_back(wide());
    line("ld.param.u64 {}, [p{}]", generic, i);
    line("cvta.to.global.u64 {}, {}", buffers_[i], generic);
  }
  for (size_t i = 0; i < nest_.scalars.size(); ++i) {
    scalars_.push_back(word());
    line("ld.param.u32 {}, [p{}]", scalars_[i], size_t(Buffer::count) + i);
  }
  const auto special = [&](const char* name) {
    const std::string result = word();
    line("mov.u32 {}, %{}", result, name);
    return result;
  };
  const auto mad = [&](const std::string& a, const std::string& b, const std::string& c) {
    const std::string result = word();
    line("mad.lo.s32 {}, {}, {}, {}", result, a, b, c);
    return result;
  };
  tid_x_ = special("tid.x");
  const std::string row = mad(special("tid.z"), special("ntid.y"), special("tid.y"));
  thread_ = mad(row, special("ntid.x"), tid_x_);
  block_ = special("ctaid.x");
  threads_ = std::to_string(nest_.block.count());
  all_ = std::to_string(nest_.block.count() * nest_.grid.count());
  global_ = mad(block_, threads_, thread_);
}

std::string ExpressionText::address(Buffer buffer, const std::string& index) {
  const std::string offset = wide(), sum = wide();
  line("mul.wide.s32 {}, {}, 4", offset, index);
  line("add.s64 {}, {}, {}", sum, buffers_[size_t(buffer)], offset);
  return sum;
}

std::string ExpressionText::shared(const std::string& index) {
  const std::string base = word(), result = word();
  line("mov.u32 {}, pool", base);
  line("mad.lo.s32 {}, {}, 4, {}", result, index, base);
  return result;
}

std::string ExpressionText::binary(const char* instruction, const Expression& expression) {
  const std::string a = operand(*expression.operands[0]), b = operand(*expression.operands[1]);
  const std::string result = word();
  line("{} {}, {}, {}", instruction, result, a, b);
  return result;
}

std::string ExpressionText::operand(const Expression& expression) {
  constexpr const char* instructions[] = {"add.s32", "sub.s32", "mul.lo.s32", "min.s32", "max.s32",
                                          "and.b32", "xor.b32", "shr.s32",    "rem.s32"};
  switch (expression.op) {
    case Op::constant:
      return std::to_string(expression.value);
    case Op::scalar:
      return scalars_[expression.index];
    case Op::variable:
      return variable(expression.index);
    case Op::loaded:
      return load(*expression.operands[0]);
    case Op::tid_x:
      return tid_x_;
    case Op::thread:
      return thread_;
    case Op::global:
      return global_;
    case Op::block:
      return block_;
    case Op::threads:
      return threads_;
    case Op::all:
      return all_;
    case Op::select: {
      const std::string less = predicate();
      const std::string a = operand(*expression.operands[0]);
      line("setp.lt.s32 {}, {}, {}", less, a, operand(*expression.operands[1]));
      const std::string c = operand(*expression.operands[2]);
      const std::string d = operand(*expression.operands[3]), result = word();
      line("selp.b32 {}, {}, {}, {}", result, c, d, less);
      return result;
    }
    default:
      return binary(instructions[size_t(expression.op) - size_t(Op::add)], expression);
  }
}

std::string ExpressionText::load(const Expression& index) {
  const auto pointer = index.op == Op::variable ? pointers_.find(index.index) : pointers_.end();
  const std::string result = word();
  const std::string place =
      pointer != pointers_.end() ? pointer->second : address(Buffer::numbers, operand(index));
  line("ld.global.u32 {}, [{}]", result, place);
  return result;
}

std::string ExpressionText::test(const Condition& condition) {
  const std::string left = operand(*condition.left), right = operand(*condition.right);
  const std::string result = predicate();
  line("setp.{}.s32 {}, {}, {}", comparisons[size_t(condition.comparison)], result, left, right);
  return result;
}

std::string ExpressionText::declarations() const {
  return fmt::format(
      "  .reg .pred %p<{}>;\n  .reg .b32 %r<{}>;\n  .reg .b32 %v<{}>;\n  .reg .f32 %f<{}>;\n"
      "  .reg .b64 %rd<{}>;\n",
      predicates_ + 1, words_ + 1, nest_.variables + 1, reals_ + 1, doubles_ + 1);
}

}  // namespace sluice::nests
