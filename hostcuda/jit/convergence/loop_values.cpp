#include "hostcuda/jit/convergence/loop_values.hpp"

#include <optional>

#include <llvm/IR/Constants.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr size_t most_values = 64;
constexpr unsigned most_loops = 3;        // around each other
constexpr unsigned most_loop_steps = 32;  // of operands' operands

// What a value is for all threads alike.
std::optional<uint64_t> common_value(LaneValues& values, const Value* value) {
  const LaneValues::Lanes* lanes = values.of(value);
  if (!lanes || !all_equal(*lanes)) return std::nullopt;
  return lanes->front();
}

// Whether the loop ends after the round in which its values are these.
bool ends(const Loop& loop, LaneValues& values) {
  SmallVector<BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  const BasicBlock* latch = loop.getLoopLatch();
  return any_of(exiting, [&](const BasicBlock* block) {
    if (block != latch && block != loop.getHeader()) return false;
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional()) return false;
    const std::optional<uint64_t> goes = common_value(values, branch->getCondition());
    return goes && !loop.contains(branch->getSuccessor(*goes != 0 ? 0 : 1));
  });
}

}  // namespace

const std::vector<uint64_t>& LoopValues::find(const PHINode& phi, unsigned depth) {
  const auto [known, is_new] = known_.try_emplace(&phi);
  if (!is_new || depth > most_loops || !phi.getType()->isIntegerTy() ||
      phi.getType()->getIntegerBitWidth() > 64) {
    return known->second;
  }
  const std::optional<LoopVariable> variable = loop_variable(phi, loops_);
  if (!variable) return known->second;
  std::vector<uint64_t> values = start_of(variable->start, depth);
  if (!values.empty()) values = follow(phi, *variable, std::move(values));
  return known_[&phi] = std::move(values);
}

std::vector<uint64_t> LoopValues::start_of(const Value* start, unsigned depth) {
  LaneValues plain(function_, block_);
  if (const auto value = common_value(plain, start)) return {*value};
  std::vector<const PHINode*> variables;
  find_variables(start, depth + 1, variables);
  if (variables.size() != 1) return {};
  std::vector<uint64_t> found;
  for (uint64_t outer : find(*variables.front(), depth + 1)) {
    LaneValues values(function_, block_);
    values.assume(variables.front(), LaneValues::Lanes(values.threads(), outer));
    const auto value = common_value(values, start);
    if (!value) return {};
    if (!is_contained(found, *value)) found.push_back(*value);
  }
  return found;
}

std::vector<uint64_t> LoopValues::follow(const PHINode& phi, const LoopVariable& variable,
                                         std::vector<uint64_t> values) {
  const Value* next = variable.next;
  auto* operation = dyn_cast<Instruction>(next);
  const bool multiplies = operation && (operation->getOpcode() == Instruction::Shl ||
                                        operation->getOpcode() == Instruction::Mul);
  for (size_t i = 0; i < values.size(); ++i) {
    LaneValues round(function_, block_);
    round.assume(&phi, LaneValues::Lanes(round.threads(), values[i]));
    const auto value = common_value(round, next);
    if (!value) return {};
    if (ends(*variable.loop, round) || (multiplies && *value == 0)) continue;
    if (!is_contained(values, *value)) values.push_back(*value);
    if (values.size() > most_values) return {};
  }
  return values;
}

std::vector<const PHINode*> LoopValues::variables_of(const Value* value) {
  std::vector<const PHINode*> found;
  find_variables(value, 0, found);
  return found;
}

void LoopValues::find_variables(const Value* value, unsigned depth,
                                std::vector<const PHINode*>& found) {
  SmallPtrSet<const Value*, 32> seen;
  std::vector<std::pair<const Value*, unsigned>> pending = {{value, 0}};
  while (!pending.empty()) {
    const auto [at, steps] = pending.back();
    pending.pop_back();
    auto* instruction = dyn_cast<Instruction>(at);
    if (!instruction || steps > most_loop_steps || !seen.insert(at).second) continue;
    if (auto* phi = dyn_cast<PHINode>(instruction)) {
      if (!find(*phi, depth).empty() && !is_contained(found, phi)) found.push_back(phi);
      continue;
    }
    if (instruction->mayReadOrWriteMemory()) continue;
    for (const Use& operand : instruction->operands())
      pending.push_back({operand.get(), steps + 1});
  }
}

}  // namespace sluice::hostcuda::jit
