#include "warp_text.hpp"

#include <algorithm>

namespace sluice::nests {
namespace {

void write_shuffle(ExpressionText& out, const Statement& statement, const char* way,
                   const std::string& lane, int64_t clamp, const std::string& mask) {
  const std::string value = out.word();
  out.line("mov.u32 {}, {}", value, out.operand(*statement.left));
  out.line("shfl.sync.{}.b32 {}, {}, {}, {}, {}", way, ExpressionText::variable(statement.variable),
           value, lane, clamp, mask);
}

void write_vote(ExpressionText& out, const Statement& statement, const std::string& mask) {
  const std::string result = ExpressionText::variable(statement.variable);
  const std::string holds = out.predicate(), all = out.predicate();
  out.line("setp.gt.s32 {}, {}, 3", holds, out.operand(*statement.left));
  if (statement.operation == WarpOperation::ballot)
    return out.line("vote.sync.ballot.b32 {}, {}, {}", result, holds, mask);
  out.line("vote.sync.{}.pred {}, {}, {}",
           statement.operation == WarpOperation::any ? "any" : "all", all, holds, mask);
  out.line("selp.b32 {}, 1, 0, {}", result, all);
}

// A vote or a sum, which take any mask.
void write_together(ExpressionText& out, const Statement& statement, const std::string& mask) {
  if (statement.operation != WarpOperation::sum) return write_vote(out, statement, mask);
  const std::string value = out.operand(*statement.left);
  out.line("redux.sync.add.u32 {}, {}, {}", ExpressionText::variable(statement.variable), value,
           mask);
}

}  // namespace

void write_of_warp(ExpressionText& out, const Nest& nest, const Statement& statement) {
  // Lanes beyond the last have nothing to read.
  const int64_t lanes = std::min<int64_t>(32, int64_t(nest.block.count()));
  const std::string mask = std::to_string(nest.warp_mask);
  const std::string distance = std::to_string(statement.distance);
  switch (statement.operation) {
    case WarpOperation::shuffle_up:
      return write_shuffle(out, statement, "up", distance, 0, mask);
    case WarpOperation::shuffle_down:
      return write_shuffle(out, statement, "down", distance, lanes - 1, mask);
    case WarpOperation::shuffle_butterfly:
      return write_shuffle(out, statement, "bfly", distance, lanes - 1, mask);
    case WarpOperation::shuffle_index:
      return write_shuffle(out, statement, "idx", std::to_string(statement.distance % lanes), 31,
                           mask);
    default:
      return write_together(out, statement, mask);
  }
}

void write_of_some(ExpressionText& out, const Statement& statement, const std::string& mask) {
  if (statement.operation > WarpOperation::shuffle_index)
    return write_together(out, statement, mask);
  // The lane `distance` further on, by one of two ways, or the own one where the mask lacks that.
  const bool flips = statement.operation == WarpOperation::shuffle_butterfly;
  const std::string own = out.word(), other = out.word(), wrapped = out.word();
  out.line("and.b32 {}, {}, 31", own, out.thread());
  out.line("{} {}, {}, {}", flips ? "xor.b32" : "add.s32", other, own, statement.distance);
  out.line("and.b32 {}, {}, 31", wrapped, other);
  const std::string bits = out.word(), bit = out.word(), from = out.word();
  const std::string named = out.predicate();
  out.line("shr.u32 {}, {}, {}", bits, mask, wrapped);
  out.line("and.b32 {}, {}, 1", bit, bits);
  out.line("setp.ne.u32 {}, {}, 0", named, bit);
  out.line("selp.b32 {}, {}, {}, {}", from, wrapped, own, named);
  write_shuffle(out, statement, "idx", from, 31, mask);
}

}  // namespace sluice::nests
