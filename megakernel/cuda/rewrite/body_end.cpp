#include "megakernel/cuda/rewrite/body_end.hpp"

#include <ranges>
#include <vector>

#include <fmt/format.h>

#include "megakernel/cuda/rewrite/block_loop.hpp"
#include "megakernel/cuda/rewrite/statements.hpp"
#include "megakernel/cuda/worker_memory.h"
#include "ptx/visit.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Instruction;
using ptx::Label;
using ptx::Opcode;
using ptx::Statement;

bool ends_at_once(const Instruction& instruction) {
  return instruction.opcode == Opcode::ret || instruction.opcode == Opcode::exit;
}

// label_of() is where a branch goes; empty for other instructions.
std::string_view label_of(const Instruction& instruction) {
  if (instruction.opcode != Opcode::bra || instruction.operands.size() != 1) return {};
  const auto* label = std::get_if<ptx::Identifier>(&instruction.operands[0].value);
  return label == nullptr ? std::string_view{} : std::string_view(label->name);
}

// A label may stand before a branch to a later or an earlier one, so what is found is looked at
// until nothing is added.
std::set<std::string> ending_labels(const ptx::Block& body) {
  std::vector<const Statement*> statements;
  ptx::for_each_statement(body, [&](const Statement& statement) {
    if (std::holds_alternative<Label>(statement) || std::holds_alternative<Instruction>(statement))
      statements.push_back(&statement);
  });
  std::set<std::string> labels;
  size_t known = 0;
  do {
    known = labels.size();
    bool ends = true;  // behind the last statement the thread ends too
    for (const Statement* statement : std::views::reverse(statements)) {
      if (const auto* label = std::get_if<Label>(statement)) {
        if (ends) labels.insert(label->name);
        continue;
      }
      const auto& instruction = std::get<Instruction>(*statement);
      ends = !instruction.guard &&
             (ends_at_once(instruction) || labels.contains(std::string(label_of(instruction))));
    }
  } while (labels.size() != known);
  return labels;
}

}  // namespace

BodyEnd::BodyEnd(const RewriteContext& context, const ptx::Block& body)
    : context_(context), meeting_(context), labels_(ending_labels(body)) {
  ptx::for_each_instruction(body, [&](const Instruction& instruction) {
    waits_for_copies_ |= instruction.opcode == Opcode::cp;
  });
}

bool BodyEnd::owes() const {
  return waits_for_copies_ || context_.drops_out || !context_.exchanges_past_ends.empty();
}

bool BodyEnd::is_end(const Instruction& instruction) const {
  return ends_at_once(instruction) ||
         (owes() && labels_.contains(std::string(label_of(instruction))));
}

void BodyEnd::open(ptx::Block& out) const {
  if (!context_.drops_out) return;
  // The place is a barrier's from then on, so before it begins anew it must end.
  append(out, fmt::format(".reg .b32 %sl_known;\n.reg .b64 %sl_phase;\n"
                          ".reg .pred %sl_first, %sl_over;\n"
                          "ld.shared.u32 %sl_known, [{0}+{1}];\n"
                          "setp.eq.u32 %sl_first, %sl_thread, 0;\n"
                          "setp.ne.and.u32 %sl_over, %sl_known, 0, %sl_first;\n"
                          "@%sl_over mbarrier.inval.shared.b64 [{0}+{2}];\n"
                          "@%sl_first mbarrier.init.shared.b64 [{0}+{2}], {3};\n"
                          "@%sl_first st.shared.u32 [{0}+{1}], 1;\n"
                          "barrier.sync 1, {4};",
                          SLUICE_POOL, +SLUICE_CONTROL_HAS_BARRIER, +SLUICE_CONTROL_BARRIER,
                          context_.block.count(), context_.whole_warps()));
}

void BodyEnd::write(ptx::Block& out, const std::optional<ptx::Guard>& guard) const {
  const std::string under =
      guard ? fmt::format("@{}{} ", guard->negated ? "!" : "", guard->predicate) : "";
  if (!context_.exchanges_past_ends.empty()) meeting_.close(out, under);
  if (waits_for_copies_) append(out, under + "cp.async.wait_all;");
  if (context_.drops_out) {
    append(out, fmt::format("{}mbarrier.arrive_drop.shared.b64 %sl_phase, [{}+{}];", under,
                            SLUICE_POOL, +SLUICE_CONTROL_BARRIER));
  }
  append(out, under + (context_.loops ? fmt::format("bra {};", block_end) : "ret;"));
}

void BodyEnd::meet(ptx::Block& out) {
  append(out, fmt::format("mbarrier.arrive.shared.b64 %sl_phase, [{0}+{1}];\n"
                          "$sluice_barrier_{2}:\n"
                          "mbarrier.test_wait.shared.b64 %sl_over, [{0}+{1}], %sl_phase;\n"
                          "@!%sl_over bra $sluice_barrier_{2};",
                          SLUICE_POOL, +SLUICE_CONTROL_BARRIER, barriers_++));
}

}  // namespace sluice::megakernel
