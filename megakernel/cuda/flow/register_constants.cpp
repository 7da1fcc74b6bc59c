#include "megakernel/cuda/flow/register_constants.hpp"

#include "ptx/visit.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Instruction;
using ptx::Opcode;

constexpr uint64_t largest_constant = INT32_MAX;  // nothing wraps below it, in any width

bool gives_low_half(const Instruction& instruction) {
  return !instruction.has_modifier("hi") && !instruction.has_modifier("wide");
}

}  // namespace

bool computes_integers(const Instruction& instruction) {
  for (const char* type : {"s32", "u32", "b32", "s64", "u64", "b64"}) {
    if (instruction.has_modifier(type)) return true;
  }
  return false;
}

RegisterConstants::RegisterConstants(const FlowGraph& graph, const Dim3& block) : block_(block) {
  for (changed_ = true; changed_;) {
    changed_ = false;
    for (const FlowGraph::Node& node : graph.nodes) {
      for (const Instruction* instruction : node.instructions)
        define(*instruction);
    }
  }
}

std::optional<uint64_t> RegisterConstants::operand(const Instruction& instruction,
                                                   size_t index) const {
  const Known operand = known(instruction, index);
  return operand.knowledge == Knowledge::constant ? std::optional<uint64_t>(operand.value)
                                                  : std::nullopt;
}

bool RegisterConstants::product_is_zero(const Instruction& instruction) const {
  return gives_low_half(instruction) && product(known(instruction, 1), known(instruction, 2)).is(0);
}

RegisterConstants::Known RegisterConstants::constant(uint64_t value) {
  return value <= largest_constant ? Known{Knowledge::constant, value}
                                   : Known{Knowledge::varying, 0};
}

RegisterConstants::Known RegisterConstants::sum(const Known& a, const Known& b) {
  if (a.knowledge == Knowledge::none || b.knowledge == Knowledge::none) return {};
  if (a.knowledge != b.knowledge || a.knowledge == Knowledge::varying) {
    return {Knowledge::varying};
  }
  return constant(a.value + b.value);
}

RegisterConstants::Known RegisterConstants::product(const Known& a, const Known& b) {
  if (a.is(0) || b.is(0)) return constant(0);
  if (a.knowledge == Knowledge::none || b.knowledge == Knowledge::none) return {};
  if (a.knowledge != b.knowledge || a.knowledge == Knowledge::varying) {
    return {Knowledge::varying};
  }
  return constant(a.value * b.value);
}

RegisterConstants::Known RegisterConstants::known(const Instruction& instruction,
                                                  size_t index) const {
  if (index >= instruction.operands.size()) return {Knowledge::varying};
  const ptx::Operand& operand = instruction.operands[index];
  if (const auto* integer = std::get_if<ptx::IntegerLiteral>(&operand.value)) {
    return constant(integer->bits);
  }
  const auto* name = std::get_if<ptx::Identifier>(&operand.value);
  if (name == nullptr || !name->name.starts_with("%")) return {Knowledge::varying};
  const uint32_t extents[] = {block_.x, block_.y, block_.z};
  const size_t axis = name->component == "x" ? 0 : name->component == "y" ? 1 : 2;
  if (name->name == "%ntid") return constant(extents[axis]);
  if (name->name == "%tid") return extents[axis] == 1 ? constant(0) : Known{Knowledge::varying};
  if (!name->component.empty()) return {Knowledge::varying};
  const auto found = constants_.find(name->name);
  return found == constants_.end() ? Known{} : found->second;
}

RegisterConstants::Known RegisterConstants::computed(const Instruction& instruction) const {
  if (instruction.guard || !computes_integers(instruction)) return {Knowledge::varying};
  const Known first = known(instruction, 1), second = known(instruction, 2);
  const Opcode opcode = instruction.opcode;
  if (opcode == Opcode::mov) return first;
  if (opcode == Opcode::add) return sum(first, second);
  const bool multiplies = opcode == Opcode::mul || opcode == Opcode::mad;
  if (!multiplies || !gives_low_half(instruction)) return {Knowledge::varying};
  const Known low = product(first, second);
  return opcode == Opcode::mul ? low : sum(low, known(instruction, 3));
}

void RegisterConstants::define(const Instruction& instruction) {
  const Known value = computed(instruction);
  if (value.knowledge == Knowledge::none) return;
  ptx::for_each_destination(instruction, [&](const std::string& name) { note(name, value); });
}

void RegisterConstants::note(const std::string& name, Known after) {
  Known& before = constants_[name];
  if (before.knowledge != Knowledge::none && !before.is(after.value)) {
    after = {Knowledge::varying};
  }
  if (before.knowledge == after.knowledge) return;
  before = after;
  changed_ = true;
}

}  // namespace sluice::megakernel
