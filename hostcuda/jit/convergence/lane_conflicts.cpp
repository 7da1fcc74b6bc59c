#include "hostcuda/jit/convergence/lane_conflicts.hpp"

#include <algorithm>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/KnownBits.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr int64_t most_solutions = 16;
constexpr size_t most_states = 64;   // of an access
constexpr size_t most_choices = 16;  // of an access: four indices within bounds

const Value* pointer_of(const Instruction& access) {
  if (auto* update = dyn_cast<AtomicRMWInst>(&access)) return update->getPointerOperand();
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&access)) return exchange->getPointerOperand();
  return getLoadStorePointerOperand(&access);
}

int64_t divide_down(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return quotient - (value % by != 0 && (value < 0) != (by < 0));
}

// Whether a condition takes the value for a number without a sign.
bool counts_as_unsigned(const Value& condition, const Value& value) {
  auto* test = dyn_cast<ICmpInst>(&condition);
  return test && test->isUnsigned() && is_contained(test->operands(), &value);
}

bool has_own_terms(const LaneAddress& address) {
  return any_of(address.terms, [](const AddressTerm& term) { return !term.uniform; });
}

}  // namespace

bool LaneConflicts::conflict(unsigned first, unsigned second, uint64_t rounds) {
  const LaneAccess& before = accesses_.all()[first];
  const LaneAccess& after = accesses_.all()[second];
  if (!before.writes && !after.writes) return false;
  if (before.is_atomic && after.is_atomic) return false;
  if (before.address.shared != after.address.shared) return false;
  const int64_t distance = after.address.offset.front() - before.address.offset.front();
  const auto [answer, is_new] =
      answers_.try_emplace({before.pattern, after.pattern, distance, rounds}, Overlap::none);
  if (is_new) answer->second = overlap_by_choices(before, after, rounds);
  if (answer->second != Overlap::possible) return answer->second == Overlap::certain;
  const bool only_write = !before.reads && !after.reads;
  if (!before.address.shared) return !only_write && exchange(before, after);
  // Who scatters to places of its own does so without a barrier.
  const bool scatter = has_own_terms(before.address) && has_own_terms(after.address);
  return !only_write || !scatter || (before.is_volatile && after.is_volatile);
}

// What a value is one of, where that tells more than the value itself.
SmallVector<const Value*, 4> LaneConflicts::choices(const Value& value) {
  const auto is_known = [&](const Value* operand) { return accesses_.values().of(operand); };
  if (auto* limited = dyn_cast<MinMaxIntrinsic>(&value)) {
    if (!any_of(limited->args(), is_known)) return {};
    return {limited->getLHS(), limited->getRHS()};
  }
  if (auto* select = dyn_cast<SelectInst>(&value)) {
    return {select->getTrueValue(), select->getFalseValue()};
  }
  SmallVector<const Value*, 4> found;
  auto* phi = dyn_cast<PHINode>(&value);
  if (!phi || accesses_.loops().isLoopHeader(phi->getParent())) return {};
  for (const Value* incoming : phi->incoming_values()) {
    // What is left of a loop, lanes may have from different rounds.
    auto* from = dyn_cast<Instruction>(incoming);
    const Loop* loop = from ? accesses_.loops().getLoopFor(from->getParent()) : nullptr;
    if (loop && !loop->contains(phi)) return {};
    if (!is_contained(found, incoming)) found.push_back(incoming);
  }
  return found;
}

std::vector<LaneAccess> LaneConflicts::choices(const LaneAccess& access) {
  std::vector<LaneAccess> all{access};
  for (size_t i = 0; i < all.size();) {
    SmallVector<const Value*, 4> found;
    const auto chosen = find_if(all[i].address.terms, [&](const AddressTerm& term) {
      if (!term.uniform) found = choices(*term.value);
      return !found.empty();
    });
    if (chosen == all[i].address.terms.end() || all.size() + found.size() > most_choices) {
      ++i;
      continue;
    }
    const Value* value = chosen->value;
    const LaneAccess before = std::move(all[i]);
    all.erase(all.begin() + static_cast<ptrdiff_t>(i));
    for (const Value* choice : found) {
      LaneAccess other = before;
      other.chosen[value] = choice;
      all.push_back(accesses_.assuming(other, accesses_.values()));
    }
  }
  return all;
}

LaneConflicts::Overlap LaneConflicts::overlap_by_choices(const LaneAccess& first,
                                                         const LaneAccess& second,
                                                         uint64_t rounds) {
  const Overlap found = overlap_by_states(first, second, rounds);
  if (found != Overlap::possible) return found;
  const std::vector<LaneAccess> of_first = choices(first);
  const std::vector<LaneAccess> of_second = choices(second);
  if (of_first.size() == 1 && of_second.size() == 1) return found;
  const bool any = any_of(of_first, [&](const LaneAccess& one) {
    return any_of(of_second, [&](const LaneAccess& other) {
      return overlap_by_states(one, other, rounds) != Overlap::none;
    });
  });
  return any ? Overlap::possible : Overlap::none;
}

// KnownAccess is an access in one state.
struct LaneConflicts::KnownAccess {
  KnownStates::State state;
  LaneAccess access;
};

// What the branches on the way to the access depend on is left out where there is too much of it.
std::vector<LaneConflicts::KnownAccess> LaneConflicts::in_states(const LaneAccess& access) {
  const BasicBlock& block = *access.instruction->getParent();
  std::vector<const Value*> values = {pointer_of(*access.instruction)};
  for (const AddressTerm& term : access.address.terms)
    values.push_back(term.value);
  std::set<KnownStates::State> states = states_.of(values, block);
  for (const auto& [condition, holds] : access.guards)
    values.push_back(condition);
  std::set<KnownStates::State> with_guards = states_.of(values, block);
  if (with_guards.size() <= most_states) states = std::move(with_guards);
  std::vector<KnownAccess> found;
  if (states.size() > most_states) return found;
  for (const KnownStates::State& state : states) {
    LaneValues known(function_, block_);
    for (const auto& [phi, number] : state)
      known.assume(phi, LaneValues::Lanes(known.threads(), number));
    found.push_back({state, accesses_.assuming(access, known)});
  }
  return found;
}

// Whether a value may be another one than before those rounds.
bool LaneConflicts::changes(const Instruction& value, uint64_t rounds) const {
  return (accesses_.loops_around(*value.getParent()) & rounds) != 0;
}

// Whether lanes may be in these states since they last met.
bool LaneConflicts::go_together(const KnownStates::State& first, const KnownStates::State& second,
                                uint64_t rounds) const {
  return all_of(first, [&](const auto& known) {
    const auto [phi, number] = known;
    const auto other = second.find(phi);
    if (other == second.end() || other->second == number) return true;
    return changes(*phi, rounds) || !accesses_.uniformity().is_uniform(*phi);
  });
}

LaneConflicts::Overlap LaneConflicts::overlap_by_states(const LaneAccess& first,
                                                        const LaneAccess& second, uint64_t rounds) {
  const Overlap found = overlap(first, second, rounds);
  if (found != Overlap::possible) return found;
  const std::vector<KnownAccess> of_first = in_states(first);
  const std::vector<KnownAccess> of_second = in_states(second);
  const bool none =
      of_first.empty() || of_second.empty() || (of_first.size() == 1 && of_second.size() == 1);
  if (none) return found;
  const bool any = any_of(of_first, [&](const KnownAccess& one) {
    return any_of(of_second, [&](const KnownAccess& other) {
      return go_together(one.state, other.state, rounds) &&
             overlap(one.access, other.access, rounds) != Overlap::none;
    });
  });
  return any ? Overlap::possible : Overlap::none;
}

LaneConflicts::Overlap LaneConflicts::overlap(const LaneAccess& first, const LaneAccess& second,
                                              uint64_t rounds) {
  UnknownDistance rest(first, second, [&](const AddressTerm& term) {
    auto* instruction = dyn_cast<Instruction>(term.value);
    return instruction && changes(*instruction, rounds);
  });
  const auto apart = [&](const LaneAccess::Span& a, const LaneAccess::Span& b) {
    return a.is_empty || b.is_empty || a.last + static_cast<int64_t>(first.bytes) <= b.first ||
           b.last + static_cast<int64_t>(second.bytes) <= a.first;
  };
  for (size_t warp = 0; warp < accesses_.values().threads(); warp += warp_size) {
    const size_t number = warp / warp_size;
    if (rest.is_known() && apart(first.spans[number], second.spans[number])) continue;
    const size_t end = std::min(warp + warp_size, accesses_.values().threads());
    for (size_t a = warp; a < end; ++a) {
      if (!first.runs[a]) continue;
      for (size_t b = warp; b < end; ++b) {
        if (a == b || !second.runs[b]) continue;
        const int64_t distance = second.address.offset[b] - first.address.offset[a];
        if (!rest.may_meet(a, b, distance, states_)) continue;
        if (rest.is_known()) return Overlap::certain;
        if (!rest.term() || is_reachable(first, a, second, b, rest, distance))
          return Overlap::possible;
      }
    }
  }
  return Overlap::none;
}

// Whether there is a value of the one unknown term with which the accesses of two threads meet and
// both get there.
bool LaneConflicts::is_reachable(const LaneAccess& first, size_t a, const LaneAccess& second,
                                 size_t b, const UnknownDistance& rest, int64_t distance) {
  int64_t factor = rest.factor(a, b);
  if (factor == 0) return true;
  // -second.bytes < distance + factor * value < first.bytes
  if (factor < 0) {
    factor = -factor;
    distance = -distance;
  }
  const auto reach = static_cast<int64_t>(std::max(first.bytes, second.bytes)) - 1;
  const int64_t least = -divide_down(reach + distance, factor);
  const int64_t most = divide_down(reach - distance, factor);
  if (most - least >= most_solutions) return true;
  for (int64_t value = least; value <= most; ++value) {
    if (value % static_cast<int64_t>(rest.term()->step) != 0) continue;
    if (!may_be(*rest.term(), value)) continue;
    if (runs_with(first, a, *rest.term(), value) && runs_with(second, b, *rest.term(), value)) {
      return true;
    }
  }
  return false;
}

// Whether a value that is not known may be this one.
bool LaneConflicts::may_be(const AddressTerm& term, int64_t value) {
  if (term.start || !term.value->getType()->isIntegerTy()) return true;
  // A distance between neighbours that each thread multiplies by its own index is not zero.
  if (value == 0 && !all_equal(term.factor)) return false;
  if (auto* instruction = dyn_cast<Instruction>(term.value)) {
    const std::set<int64_t>& numbers = states_.numbers(*instruction, *instruction->getParent());
    if (!numbers.empty()) return numbers.contains(value);
  }
  const KnownBits known = computeKnownBits(term.value, function_.getParent()->getDataLayout());
  const APInt bits(known.getBitWidth(), static_cast<uint64_t>(value), true);
  return !known.Zero.intersects(bits) && known.One.isSubsetOf(bits);
}

// Whether a value that was chosen of two is the one to choose, where it is this number.
bool LaneConflicts::is_chosen_with(const LaneAccess& access, size_t thread, const AddressTerm& term,
                                   int64_t value) {
  return all_of(access.chosen, [&](const auto& choice) {
    if (choice.second != term.value) return true;
    const auto* limited = dyn_cast<MinMaxIntrinsic>(choice.first);
    if (!limited) return true;
    const Value* other = limited->getLHS() == term.value ? limited->getRHS() : limited->getLHS();
    const LaneValues::Lanes* others = accesses_.values().of(other);
    if (!others) return true;
    const unsigned width = other->getType()->getIntegerBitWidth();
    return !ICmpInst::compare(APInt(width, (*others)[thread]),
                              APInt(width, static_cast<uint64_t>(value), true),
                              limited->getPredicate());
  });
}

bool LaneConflicts::runs_with(const LaneAccess& access, size_t thread, const AddressTerm& term,
                              int64_t value) {
  if (!is_chosen_with(access, thread, term, value)) return false;
  LaneValues* values = assuming(term, value);
  if (!values) return true;
  return all_of(access.guards, [&](const auto& guard) {
    if (value < 0 && counts_as_unsigned(*guard.first, *term.value)) return false;
    const LaneValues::Lanes* lanes = values->of(guard.first);
    return !lanes || ((*lanes)[thread] != 0) == guard.second;
  });
}

LaneValues* LaneConflicts::assuming(const AddressTerm& term, int64_t value) {
  const auto [place, is_new] = assumed_.try_emplace({term.value, value});
  if (!is_new || !term.value->getType()->isIntegerTy() ||
      term.value->getType()->getIntegerBitWidth() > 64) {
    return place->second.get();
  }
  LaneValues::Lanes lanes(accesses_.values().threads(), 0);
  if (term.start) {
    const LaneValues::Lanes* start = accesses_.values().of(term.start);
    if (!start) return nullptr;
    lanes = *start;
  }
  const unsigned width = term.value->getType()->getIntegerBitWidth();
  for (uint64_t& lane : lanes)
    lane = (lane + static_cast<uint64_t>(value)) & maskTrailingOnes<uint64_t>(width);
  place->second = std::make_unique<LaneValues>(function_, block_);
  place->second->assume(term.value, std::move(lanes));
  return place->second.get();
}

}  // namespace sluice::hostcuda::jit
