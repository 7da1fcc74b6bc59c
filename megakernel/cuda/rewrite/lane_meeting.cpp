#include "megakernel/cuda/rewrite/lane_meeting.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "megakernel/cuda/rewrite/statements.hpp"

namespace sluice::megakernel {

void LaneMeeting::declare(ptx::Block& out) {
  append(out,
         ".reg .b32 %sl_lane_thread, %sl_lane_pool, %sl_lane_own, %sl_lane_bit, %sl_lane_first;\n"
         ".reg .b32 %sl_lane_mask, %sl_lane_left, %sl_lane_there, %sl_lane_other, %sl_lane_place;\n"
         ".reg .b32 %sl_lane_state;\n"
         ".reg .pred %sl_lane_none, %sl_lane_came, %sl_lane_ended;");
}

// A lane that has ended has state 0. While it runs its state is all bits but its own, which no mask
// of an exchange is that it may come to.
std::string LaneMeeting::own_state_place() const {
  return fmt::format(
      "{}\nmov.u32 %sl_lane_pool, {};\n"
      "mad.lo.u32 %sl_lane_own, %sl_lane_thread, 4, %sl_lane_pool;\n",
      group_.thread("%sl_lane_thread"), group_.pool());
}

void LaneMeeting::open(ptx::Block& out, uint64_t threads) const {
  append(out, fmt::format("{}mov.u32 %sl_lane_bit, %lanemask_eq;\n"
                          "not.b32 %sl_lane_state, %sl_lane_bit;\n"
                          "setp.ge.u32 %sl_lane_ended, %sl_lane_thread, {};\n"
                          "selp.b32 %sl_lane_state, 0, %sl_lane_state, %sl_lane_ended;\n"
                          "st.volatile.shared.u32 [%sl_lane_own+{}], %sl_lane_state;\n"
                          "bar.warp.sync 0xffffffff;",
                          own_state_place(), threads, states_));
}

void LaneMeeting::close(ptx::Block& out, const std::string& under) const {
  append(out, fmt::format("{}mov.u32 %sl_lane_state, 0;\n"
                          "{}st.volatile.shared.u32 [%sl_lane_own+{}], %sl_lane_state;",
                          own_state_place(), under, states_));
}

void LaneMeeting::meet(ptx::Block& out, ptx::Instruction exchange) {
  const unsigned number = meetings_++;
  const std::optional<ptx::Guard> guard = std::exchange(exchange.guard, std::nullopt);
  if (guard) {
    append(out, fmt::format("@{}{} bra $sluice_past_{};", guard->negated ? "" : "!",
                            guard->predicate, number));
  }
  ptx::Instruction take_mask;
  take_mask.opcode = ptx::Opcode::mov;
  take_mask.modifiers = {"b32"};
  take_mask.operands = {ptx::Operand{ptx::Identifier{"%sl_lane_mask", {}}},
                        exchange.operands.back()};
  out.statements.emplace_back(std::move(take_mask));
  // The lane looks at the others one by one. A barrier of itself alone lets other lanes run where
  // lanes take turns, and costs a GPU next to nothing.
  append(out, fmt::format("{0}mov.u32 %sl_lane_bit, %lanemask_eq;\n"
                          "and.b32 %sl_lane_first, %sl_lane_thread, 0xffffffe0;\n"
                          "mad.lo.u32 %sl_lane_first, %sl_lane_first, 4, %sl_lane_pool;\n"
                          "st.volatile.shared.u32 [%sl_lane_own+{1}], %sl_lane_mask;\n"
                          "mov.u32 %sl_lane_there, %sl_lane_mask;\n"
                          "not.b32 %sl_lane_left, %sl_lane_bit;\n"
                          "and.b32 %sl_lane_left, %sl_lane_left, %sl_lane_mask;\n"
                          "$sluice_look_{2}:\n"
                          "setp.eq.u32 %sl_lane_none, %sl_lane_left, 0;\n"
                          "@%sl_lane_none bra $sluice_met_{2};\n"
                          "bfind.u32 %sl_lane_place, %sl_lane_left;\n"
                          "shl.b32 %sl_lane_other, 1, %sl_lane_place;\n"
                          "mad.lo.u32 %sl_lane_place, %sl_lane_place, 4, %sl_lane_first;\n"
                          "$sluice_wait_{2}:\n"
                          "ld.volatile.shared.u32 %sl_lane_state, [%sl_lane_place+{1}];\n"
                          "setp.eq.u32 %sl_lane_came, %sl_lane_state, %sl_lane_mask;\n"
                          "setp.eq.u32 %sl_lane_ended, %sl_lane_state, 0;\n"
                          "@%sl_lane_came bra $sluice_next_{2};\n"
                          "@%sl_lane_ended bra $sluice_gone_{2};\n"
                          "bar.warp.sync %sl_lane_bit;\n"
                          "bra $sluice_wait_{2};\n"
                          "$sluice_gone_{2}:\n"
                          "xor.b32 %sl_lane_there, %sl_lane_there, %sl_lane_other;\n"
                          "$sluice_next_{2}:\n"
                          "xor.b32 %sl_lane_left, %sl_lane_left, %sl_lane_other;\n"
                          "bra $sluice_look_{2};\n"
                          "$sluice_met_{2}:",
                          own_state_place(), states_, number));
  exchange.operands.back() = ptx::Operand{ptx::Identifier{"%sl_lane_there", {}}};
  out.statements.emplace_back(std::move(exchange));
  // Nobody comes to another exchange before all that met have left this one.
  append(out, fmt::format("not.b32 %sl_lane_state, %sl_lane_bit;\n"
                          "st.volatile.shared.u32 [%sl_lane_own+{}], %sl_lane_state;\n"
                          "bar.warp.sync %sl_lane_there;",
                          states_));
  if (guard) append(out, fmt::format("$sluice_past_{}:", number));
}

}  // namespace sluice::megakernel
