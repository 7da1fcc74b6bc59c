#include "hostcuda/jit/convergence/known_states.hpp"

#include <algorithm>

#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr size_t most_states_at_block = 1024;
constexpr size_t most_followed = 16384;  // from a block to the next, some 3 µs each
constexpr unsigned most_needed = 1024;   // operands of operands

std::optional<uint64_t> common_number(LaneValues& values, const Value* value) {
  const LaneValues::Lanes* lanes = values.of(value);
  return lanes ? std::optional(lanes->front()) : std::nullopt;
}

bool may_take(const Instruction& end, const BasicBlock& next, LaneValues& values) {
  if (auto* branch = dyn_cast<BranchInst>(&end); branch && branch->isConditional()) {
    const auto goes = common_number(values, branch->getCondition());
    return !goes || branch->getSuccessor(*goes != 0 ? 0 : 1) == &next;
  }
  if (auto* choice = dyn_cast<SwitchInst>(&end)) {
    const auto chosen = common_number(values, choice->getCondition());
    if (!chosen) return true;
    auto* type = cast<IntegerType>(choice->getCondition()->getType());
    return choice->findCaseValue(ConstantInt::get(type, *chosen))->getCaseSuccessor() == &next;
  }
  return true;
}

// The phi that takes most numbers.
const PHINode& most_varied(const std::set<KnownStates::State>& states) {
  std::map<const PHINode*, std::set<uint64_t>> numbers;
  for (const KnownStates::State& state : states) {
    for (const auto& [phi, number] : state)
      numbers[phi].insert(number);
  }
  const auto most = std::max_element(
      numbers.begin(), numbers.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return *most->first;
}

// Whether a round of a loop leaves a multiple of a phi for the next.
bool multiplies(const Value* value, const PHINode& phi) {
  auto* operation = dyn_cast<Instruction>(value);
  if (!operation || !is_contained(operation->operands(), &phi)) return false;
  return operation->getOpcode() == Instruction::Shl || operation->getOpcode() == Instruction::Mul;
}

// Where it matters what a phi is: in blocks of users, and of those that compute with it.
DenseSet<const BasicBlock*> users_of(const PHINode& phi) {
  DenseSet<const BasicBlock*> blocks;
  SmallPtrSet<const Value*, 16> seen = {&phi};
  std::vector<const Value*> pending = {&phi};
  while (!pending.empty()) {
    const Value* value = pending.back();
    pending.pop_back();
    for (const Use& use : value->uses()) {
      const auto* user = cast<Instruction>(use.getUser());
      if (auto* other = dyn_cast<PHINode>(user)) {
        blocks.insert(other->getIncomingBlock(use));
      } else {
        blocks.insert(user->getParent());
        if (!user->mayReadOrWriteMemory() && seen.insert(user).second) pending.push_back(user);
      }
    }
  }
  return blocks;
}

}  // namespace

const std::set<KnownStates::State>& KnownStates::at(const BasicBlock& block) {
  if (!is_followed_) follow();
  is_followed_ = true;
  std::set<State>& states = states_[&block];
  if (states.empty()) states.insert(State{});
  return states;
}

std::set<KnownStates::State> KnownStates::of(ArrayRef<const Value*> values,
                                             const BasicBlock& block) {
  SmallPtrSet<const Value*, 32> needed;
  std::vector<const Value*> pending(values.begin(), values.end());
  while (!pending.empty() && needed.size() < most_needed) {
    auto* instruction = dyn_cast<Instruction>(pending.back());
    pending.pop_back();
    if (!instruction || !needed.insert(instruction).second) continue;
    if (isa<PHINode>(instruction) || instruction->mayReadOrWriteMemory()) continue;
    pending.insert(pending.end(), instruction->op_begin(), instruction->op_end());
  }
  std::set<State> states;
  for (const State& state : at(block)) {
    State here;
    for (const auto& known : state) {
      if (needed.contains(known.first)) here.insert(here.end(), known);
    }
    states.insert(std::move(here));
  }
  return states;
}

const std::set<int64_t>& KnownStates::numbers(const Value& value, const BasicBlock& block) {
  const auto [place, is_new] = numbers_.try_emplace({&value, &block});
  std::set<int64_t>& numbers = place->second;
  if (!is_new || !value.getType()->isIntegerTy()) return numbers;
  for (const State& state : of({&value}, block)) {
    LaneValues values = values_in(state);
    const auto known = common_number(values, &value);
    if (!known) {
      numbers.clear();
      break;
    }
    numbers.insert(signed_lane(*known, *value.getType()));
  }
  return numbers;
}

void KnownStates::follow() {
  pending_ = {{&function_.getEntryBlock(), {}}};
  for (size_t step = 0; !pending_.empty(); ++step) {
    if (step == most_followed) return states_.clear();
    const auto [block, state] = std::move(pending_.back());
    pending_.pop_back();
    LaneValues values = values_in(state);
    const SmallSetVector<const BasicBlock*, 4> ways(succ_begin(block), succ_end(block));
    for (const BasicBlock* next : ways) {
      if (!may_take(*block->getTerminator(), *next, values)) continue;
      if (auto after = next_state(*block, *next, state, values)) arrive(*next, std::move(*after));
    }
  }
}

void KnownStates::arrive(const BasicBlock& block, State state) {
  std::set<State>& states = states_[&block];
  if (!states.insert(state).second) return;
  if (states.size() > most_states_at_block) {
    forget(most_varied(states));
  } else {
    pending_.emplace_back(&block, std::move(state));
  }
}

// What has been followed with the numbers of a phi is followed again without.
void KnownStates::forget(const PHINode& phi) {
  forgotten_.insert(&phi);
  std::erase_if(pending_, [&](const auto& next) { return next.second.contains(&phi); });
  for (auto& [block, states] : states_) {
    std::vector<State> shorter;
    for (auto state = states.begin(); state != states.end();) {
      if (state->contains(&phi)) {
        shorter.push_back(*state);
        shorter.back().erase(&phi);
        state = states.erase(state);
      } else {
        ++state;
      }
    }
    for (State& state : shorter) {
      if (states.insert(state).second) pending_.emplace_back(block, std::move(state));
    }
  }
}

std::optional<KnownStates::State> KnownStates::next_state(const BasicBlock& from,
                                                          const BasicBlock& to, const State& state,
                                                          LaneValues& values) {
  State after;
  for (const auto& [phi, number] : state) {
    if (phi->getParent() != &to && matters(*phi, to)) after.emplace_hint(after.end(), phi, number);
  }
  for (const PHINode& phi : to.phis()) {
    if (forgotten_.contains(&phi) || !phi.getType()->isIntegerTy()) continue;
    const Value* next = phi.getIncomingValueForBlock(&from);
    const auto known = common_number(values, next);
    if (!known || !matters(phi, to)) continue;
    if (*known == 0 && multiplies(next, phi)) return std::nullopt;
    after[&phi] = *known;
  }
  return after;
}

bool KnownStates::matters(const PHINode& phi, const BasicBlock& block) {
  const auto [place, is_new] = uses_.try_emplace(&phi);
  Uses& uses = place->second;
  if (is_new) {
    uses = users_of(phi);
    std::vector<const BasicBlock*> pending(uses.begin(), uses.end());
    while (!pending.empty()) {
      const BasicBlock* used = pending.back();
      pending.pop_back();
      if (used == phi.getParent()) continue;
      for (const BasicBlock* before : predecessors(used)) {
        if (uses.insert(before).second) pending.push_back(before);
      }
    }
  }
  return uses.contains(&block);
}

LaneValues KnownStates::values_in(const State& state) const {
  LaneValues values = LaneValues::of_all(function_, block_);
  for (const auto& [phi, number] : state)
    values.assume(phi, {number});
  return values;
}

}  // namespace sluice::hostcuda::jit
