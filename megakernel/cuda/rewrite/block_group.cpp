#include "megakernel/cuda/rewrite/block_group.hpp"

#include <fmt/format.h>

#include "megakernel/cuda/rewrite/statements.hpp"

namespace sluice::megakernel {

size_t place_of_barrier_id(const ptx::Instruction& barrier) {
  return barrier.has_modifier("red") ? 1 : 0;
}

const ptx::IntegerLiteral* barrier_id(const ptx::Instruction& barrier) {
  const size_t place = place_of_barrier_id(barrier);
  return barrier.operands.size() > place
             ? std::get_if<ptx::IntegerLiteral>(&barrier.operands[place].value)
             : nullptr;
}

namespace {

// A number in a register would make ptxas take all 16 barriers, of which a processor has no more
// than 24 to 64 for all its workers.
void write_own(const ptx::Instruction& barrier, const SideBySide& needs, uint32_t groups,
               ptx::Block& out) {
  append(out, "mov.u32 %sl_group, %tid.x;\n" + divide("%sl_group", needs.threads));
  const std::string also = barrier.guard ? fmt::format(", {}{}", barrier.guard->negated ? "!" : "",
                                                       barrier.guard->predicate)
                                         : "";
  for (uint32_t group = 0; group < groups; ++group) {
    append(out, fmt::format("setp.eq{}.u32 %sl_at, %sl_group, {}{};", also.empty() ? "" : ".and",
                            group, also));
    ptx::Instruction own = barrier;
    own.guard = ptx::Guard{.predicate = "%sl_at", .negated = false};
    std::get<ptx::IntegerLiteral>(own.operands[place_of_barrier_id(own)].value).bits +=
        1 + group * needs.barriers;
    out.statements.emplace_back(std::move(own));
  }
}

void write_own(ptx::Block& block, const SideBySide& needs, uint32_t groups) {
  ptx::Block out;
  for (ptx::Statement& statement : block.statements) {
    if (auto* inner = std::get_if<ptx::Block>(&statement)) write_own(*inner, needs, groups);
    const auto* here = std::get_if<ptx::Instruction>(&statement);
    if (here != nullptr && here->meeting() == ptx::Meeting::block) {
      write_own(*here, needs, groups, out);
    } else {
      out.statements.push_back(std::move(statement));
    }
  }
  block.statements = std::move(out.statements);
}

}  // namespace

void BlockGroup::open(ptx::Block& out) const {
  if (!needs_) return;
  if (needs_->has_memory || needs_->barriers != 0)
    append(out, ".reg .b32 %sl_group, %sl_own, %sl_pool;\n.reg .pred %sl_at;");
  if (!needs_->has_memory) return;
  // As SideBySide::stride() has it.
  append(out, fmt::format("mov.u32 %sl_group, %tid.x;\n{4}\nld.shared.u32 %sl_own, [{0}+{1}];\n"
                          "add.u32 %sl_own, %sl_own, {2};\nand.b32 %sl_own, %sl_own, {3};\n"
                          "mov.u32 %sl_pool, {0};\n"
                          "mad.lo.u32 %sl_own, %sl_own, %sl_group, %sl_pool;",
                          SLUICE_POOL, +SLUICE_CONTROL_DYNAMIC_SHARED,
                          needs_->bytes + SLUICE_POOL_ALIGNMENT - 1, -SLUICE_POOL_ALIGNMENT,
                          divide("%sl_group", needs_->threads)));
}

std::string BlockGroup::thread(const std::string& to) const {
  std::string text = fmt::format("mov.u32 {}, %tid.x;", to);
  if (needs_) text += "\n" + remainder(to, needs_->threads);
  return text;
}

std::string BlockGroup::pool() const {
  return is_moved() ? "%sl_own" : SLUICE_POOL;
}

void BlockGroup::meet(ptx::Instruction barrier, ptx::Block& out) const {
  if (!needs_)
    ++std::get<ptx::IntegerLiteral>(barrier.operands[place_of_barrier_id(barrier)].value).bits;
  if (needs_ && needs_->is_one_warp()) {
    barrier.opcode = ptx::Opcode::bar;
    barrier.modifiers = {"warp", "sync"};
    barrier.operands = {ptx::Operand{ptx::IntegerLiteral{0xffffffff, false}}};
  }
  out.statements.emplace_back(std::move(barrier));
}

void BlockGroup::own_barriers(ptx::Function& function, const SideBySide& needs, uint32_t groups) {
  if (needs.barriers != 0) write_own(function.body, needs, groups);
}

}  // namespace sluice::megakernel
