#include "nest_text.hpp"

#include "expression_text.hpp"
#include "warp_text.hpp"

namespace sluice::nests {
namespace {

using Kind = Statement::Kind;

class Writer {
 public:
  explicit Writer(const Nest& nest) : nest_(nest), out_(nest) {}

  std::string write() {
    begin();
    write(nest_.body);
    store_results();
    std::string parameters;
    for (size_t i = 0; i < size_t(Buffer::count) + nest_.scalars.size(); ++i) {
      parameters += fmt::format("{}  .param .u{} p{}", i == 0 ? "" : ",\n",
                                i < size_t(Buffer::count) ? 64 : 32, i);
    }
    return fmt::format(
        ".version 7.5\n.target sm_80\n.address_size 64\n\n.visible .entry {}(\n{}\n)\n{{\n"
        "{}  .shared .align 4 .b8 pool[{}];\n{}DONE:\n  ret;\n}}\n",
        kernel_name, parameters, out_.declarations(), 4 * nest_.block.count(), out_.body());
  }

 private:
  // Loop is where jumps out of a loop's body lead.
  struct Loop {
    std::string exit, next;
  };

  void begin() {
    out_.begin();
    sum_ = out_.word();
    out_.line("mov.u32 {}, {}", sum_, out_.thread());
    real_sum_ = out_.real();
    out_.line("mov.f32 {}, {}", real_sum_, nest_.flushes ? "0f00800000" : "0f3F800000");
    for (uint32_t i = 0; i < nest_.variables; ++i)
      out_.line("mov.u32 {}, {}", ExpressionText::variable(i), i);
    out_.line("st.shared.u32 [{}], {}", out_.shared(out_.thread()), out_.thread());
    out_.line("bar.sync 0");
  }

  // Each thread leaves behind what it holds, a row of `results` for each value.
  void store_results() {
    store_result(0, sum_);
    const std::string bits = out_.word();
    out_.line("mov.b32 {}, {}", bits, real_sum_);
    store_result(1, bits);
    for (uint32_t i = 0; i < nest_.variables; ++i)
      store_result(i + 2, ExpressionText::variable(i));
  }

  void store_result(uint32_t row, const std::string& value) {
    const std::string base = out_.word(), place = out_.word();
    out_.line("mov.u32 {}, {}", base, row);
    out_.line("mad.lo.s32 {}, {}, {}, {}", place, base, out_.all(), out_.global());
    out_.line("st.global.u32 [{}], {}", out_.address(Buffer::results, place), value);
  }

  void write(const Statements& statements) {
    for (const Statement& statement : statements)
      write(statement);
  }

  void write(const Statement& statement) {
    switch (statement.kind) {
      case Kind::assign:
        return out_.line("mov.u32 {}, {}", ExpressionText::variable(statement.variable),
                         out_.operand(*statement.left));
      case Kind::add:
        return out_.line("mad.lo.s32 {}, {}, 5, {}", sum_, sum_, out_.operand(*statement.left));
      case Kind::add_real:
        return out_.line("fma.rn{} {}, {}, 0f3F000000, {}", real_type(), real_sum_, real_sum_,
                         real_at(out_.operand(*statement.left)));
      case Kind::store:
        return statement.real ? store_product(statement) : store_sum(statement);
      case Kind::column:
        return write_column(statement);
      case Kind::tally:
        return write_tally(statement);
      case Kind::branch:
      case Kind::split:
        return write_branch(statement);
      case Kind::loop:
        return write_loop(statement);
      case Kind::leave_loop:
        return out_.line("@{} bra {}", out_.test(statement.condition), loops_.back().exit);
      case Kind::next_round:
        return out_.line("@{} bra {}", out_.test(statement.condition), loops_.back().next);
      case Kind::leave:
        return write_leave(statement);
      default:
        return write_meeting(statement);
    }
  }

  std::string real_at(const std::string& index) {
    const std::string result = out_.real();
    const std::string place = out_.address(Buffer::fractions, index);
    out_.line("ld.global.f32 {}, [{}]", result, place);
    if (!nest_.flushes) return result;
    const std::string least = out_.real(), small = out_.real();
    out_.line("mul.rn.ftz.f32 {}, {}, 0f00800000", least, result);
    out_.line("fma.rn.ftz.f32 {}, {}, 0f40000000, 0f80800000", small, least);
    return small;
  }

  std::string_view real_type() const { return nest_.flushes ? ".ftz.f32" : ".f32"; }

  // sums[n] = numbers[n] * 3 + n, products[n] = fractions[n] * 0.5 + 1 or less the least normal
  // number, whoever writes it.
  void store_sum(const Statement& statement) {
    const std::string index = out_.operand(*statement.left);
    const std::string value = out_.operand(Expression{Op::loaded, 0, 0, {statement.left}});
    const std::string result = out_.word();
    out_.line("mad.lo.s32 {}, {}, 3, {}", result, value, index);
    out_.line("st.global.u32 [{}], {}", out_.address(Buffer::sums, index), result);
  }
  void store_product(const Statement& statement) {
    const std::string index = out_.operand(*statement.left), value = real_at(index);
    const std::string half = out_.real(), result = out_.real();
    out_.line("mul.rn{} {}, {}, 0f3F000000", real_type(), half, value);
    out_.line("add.rn{} {}, {}, {}", real_type(), result, half,
              nest_.flushes ? "0f80800000" : "0f3F800000");
    out_.line("st.global.f32 [{}], {}", out_.address(Buffer::products, index), result);
  }

  void write_column(const Statement& statement) {
    const std::string place = out_.address(Buffer::columns, out_.operand(*statement.left));
    const std::string value = out_.operand(*statement.right);
    const std::string old = out_.word(), result = out_.word();
    out_.line("ld.global.u32 {}, [{}]", old, place);
    out_.line("mad.lo.s32 {}, {}, 3, {}", result, old, value);
    out_.line("st.global.u32 [{}], {}", place, result);
  }

  void write_tally(const Statement& statement) {
    const std::string index = out_.word();
    out_.line("and.b32 {}, {}, 15", index, out_.operand(*statement.left));
    const std::string place = out_.address(Buffer::tallies, index);
    out_.line("red.global.add.u32 [{}], {}", place, out_.operand(*statement.right));
  }

  void write_branch(const Statement& statement) {
    const bool splits = statement.kind == Kind::split;
    const std::string otherwise = out_.fresh_label(), end = out_.fresh_label();
    out_.line("@!{} bra {}", out_.test(statement.condition), otherwise);
    write(statement.first);
    if (splits) out_.line("barrier.sync 0");
    out_.line("bra {}", end);
    out_.label(otherwise);
    write(statement.second);
    if (splits) out_.line("barrier.sync 0");
    out_.label(end);
  }

  void write_leave(const Statement& statement) {
    const std::string stays = out_.fresh_label();
    out_.line("@!{} bra {}", out_.test(statement.condition), stays);
    if (statement.real) store_result(0, sum_);
    out_.line("{}", statement.real ? "exit" : "bra DONE");
    out_.label(stays);
  }

  void write_loop(const Statement& loop) {
    using Form = Statement::Form;
    const std::string counter = ExpressionText::variable(loop.variable);
    const std::string bound = out_.operand(*loop.condition.right);
    const std::string step = out_.word();
    out_.line("mov.u32 {}, {}", step, out_.operand(*loop.right));
    out_.line("mov.u32 {}, {}", counter, out_.operand(*loop.left));
    std::string pointer, stride;
    if (loop.by_pointer) {
      pointer = out_.wide();
      out_.line("mov.u64 {}, {}", pointer, out_.address(Buffer::numbers, counter));
      stride = out_.wide();
      out_.line("mul.wide.s32 {}, {}, 4", stride, step);
      out_.pointers()[loop.variable] = pointer;
    }
    const std::string head = out_.fresh_label();
    const Loop places = {out_.fresh_label(), out_.fresh_label()};
    loops_.push_back(places);
    if (loop.form == Form::guarded) leave_unless_more(loop, bound, places.exit);
    out_.label(head);
    if (loop.form == Form::top_tested) leave_unless_more(loop, bound, places.exit);
    write(loop.first);
    out_.label(places.next);
    out_.line("add.s32 {}, {}, {}", counter, counter, step);
    if (loop.by_pointer) out_.line("add.s64 {}, {}, {}", pointer, pointer, stride);
    if (loop.form == Form::top_tested) {
      out_.line("bra {}", head);
    } else {
      again_if_more(loop, bound, places.exit, head);
    }
    out_.label(places.exit);
    loops_.pop_back();
    out_.pointers().erase(loop.variable);
  }

  std::string compare(const Statement& loop, const std::string& bound) {
    const std::string more = out_.predicate();
    out_.line("setp.{}.s32 {}, {}, {}",
              loop.condition.comparison == Comparison::greater ? "gt" : "lt", more,
              ExpressionText::variable(loop.variable), bound);
    return more;
  }

  void leave_unless_more(const Statement& loop, const std::string& bound, const std::string& exit) {
    out_.line("@!{} bra {}", compare(loop, bound), exit);
    if (loop.until.left) out_.line("@{} bra {}", out_.test(loop.until), exit);
  }

  // The last of the tests leads back, as compilers write it.
  void again_if_more(const Statement& loop, const std::string& bound, const std::string& exit,
                     const std::string& head) {
    const std::string more = compare(loop, bound);
    if (!loop.until.left) return out_.line("@{} bra {}", more, head);
    out_.line("@!{} bra {}", more, exit);
    out_.line("@!{} bra {}", out_.test(loop.until), head);
  }

  void write_meeting(const Statement& statement) {
    if (statement.kind == Kind::barrier) return out_.line("bar.sync 0");
    if (statement.kind == Kind::part) return write_parting(statement);
    if (statement.kind == Kind::warp) {
      return masks_.empty() ? write_of_warp(out_, nest_, statement)
                            : write_of_some(out_, statement, mask());
    }
    if (statement.kind == Kind::count_votes) {
      const std::string vote = out_.test(statement.condition);
      return out_.line("bar.red.popc.u32 {}, 0, {}", ExpressionText::variable(statement.variable),
                       vote);
    }
    const std::string value = out_.operand(*statement.left);
    out_.line("st.shared.u32 [{}], {}", out_.shared(out_.thread()), value);
    out_.line("bar.sync 0");
    const std::string other = out_.word(), wrapped = out_.word(), got = out_.word();
    out_.line("add.s32 {}, {}, {}", other, out_.thread(), statement.distance);
    out_.line("rem.u32 {}, {}, {}", wrapped, other, nest_.block.count());
    out_.line("ld.shared.u32 {}, [{}]", got, out_.shared(wrapped));
    out_.line("add.s32 {}, {}, {}", sum_, sum_, got);
    out_.line("bar.sync 0");
  }

  std::string mask() const {
    return masks_.empty() ? std::to_string(nest_.warp_mask) : masks_.back();
  }

  // Lanes of a warp part, and those of each arm know each other.
  void write_parting(const Statement& statement) {
    const std::string all = mask(), ones = out_.word(), others = out_.word();
    const std::string condition = out_.test(statement.condition);
    out_.line("vote.sync.ballot.b32 {}, {}, {}", ones, condition, all);
    out_.line("xor.b32 {}, {}, {}", others, ones, all);
    const std::string otherwise = out_.fresh_label(), end = out_.fresh_label();
    out_.line("@!{} bra {}", condition, otherwise);
    masks_.push_back(ones);
    write(statement.first);
    out_.line("bra {}", end);
    out_.label(otherwise);
    masks_.back() = others;
    write(statement.second);
    masks_.pop_back();
    out_.label(end);
  }

  const Nest& nest_;
  ExpressionText out_;
  std::vector<Loop> loops_;
  std::vector<std::string> masks_;  // registers with the lanes of a warp's arm, the innermost last
  std::string sum_, real_sum_;      // registers
};

}  // namespace

std::string ptx_of(const Nest& nest) {
  return Writer(nest).write();
}

}  // namespace sluice::nests
