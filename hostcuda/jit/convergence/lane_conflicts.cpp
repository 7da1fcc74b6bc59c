#include "hostcuda/jit/convergence/lane_conflicts.hpp"

#include <algorithm>
#include <numeric>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/KnownBits.h>

#include "hostcuda/jit/convergence/loop_variable.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr int64_t most_solutions = 16;
constexpr size_t most_variables = 2;
constexpr size_t most_choices = 16;  // of an access: four indices within bounds

// Whether the ranges of `first` bytes at 0 and of `second` bytes at `distance`, or a multiple of
// `period` from there, share one.
bool meets(int64_t distance, uint64_t period, uint64_t first, uint64_t second) {
  const auto before = static_cast<int64_t>(first);
  const auto after = static_cast<int64_t>(second);
  if (period == 0) return distance < before && distance > -after;
  const auto step = static_cast<int64_t>(period);
  const int64_t rest = (distance % step + step) % step;
  return rest < before || step - rest < after;
}

const Value* pointer_of(const Instruction& access) {
  if (auto* update = dyn_cast<AtomicRMWInst>(&access)) return update->getPointerOperand();
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&access)) return exchange->getPointerOperand();
  return getLoadStorePointerOperand(&access);
}

int64_t divide_down(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return quotient - (value % by != 0 && (value < 0) != (by < 0));
}

uint64_t common_divisor(uint64_t divisor, ArrayRef<int64_t> factors, uint64_t step) {
  for (int64_t factor : factors)
    divisor = std::gcd(divisor, static_cast<uint64_t>(std::abs(factor)) * step);
  return divisor;
}

const AddressTerm* term_of(const LaneAddress& address, const Value* value) {
  for (const AddressTerm& term : address.terms) {
    if (term.value == value) return &term;
  }
  return nullptr;
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

// Unknown is the part of two accesses' distance that is not known: multiples of `period`, and
// `term`, which is the same for both.
struct LaneConflicts::Unknown {
  uint64_t period = 0;
  const AddressTerm* term = nullptr;  // its factors are those of either access
  const std::vector<int64_t>* first = nullptr;
  const std::vector<int64_t>* second = nullptr;
  int64_t factor(size_t a, size_t b) const {
    return (second ? (*second)[b] : 0) - (first ? (*first)[a] : 0);
  }
};

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

LaneConflicts::Unknown LaneConflicts::unknown(const LaneAccess& first, const LaneAccess& second,
                                              uint64_t rounds) const {
  Unknown result;
  SmallVector<Unknown, 4> open;
  const auto take = [&](const AddressTerm* in_first, const AddressTerm* in_second) {
    const AddressTerm& term = in_first ? *in_first : *in_second;
    auto* instruction = dyn_cast<Instruction>(term.value);
    const bool changes =
        instruction && (accesses_.loops_around(*instruction->getParent()) & rounds) != 0;
    if (!term.uniform || changes) {
      if (in_first) result.period = common_divisor(result.period, in_first->factor, term.step);
      if (in_second) result.period = common_divisor(result.period, in_second->factor, term.step);
      return;
    }
    if (in_first && in_second && in_first->factor == in_second->factor &&
        is_equal_in_warps(in_first->factor)) {
      return;
    }
    open.push_back({0, &term, in_first ? &in_first->factor : nullptr,
                    in_second ? &in_second->factor : nullptr});
  };
  for (const AddressTerm& term : first.address.terms)
    take(&term, term_of(second.address, term.value));
  for (const AddressTerm& term : second.address.terms) {
    if (!term_of(first.address, term.value)) take(nullptr, &term);
  }
  if (open.size() == 1 && result.period == 0) return open.front();
  for (const Unknown& other : open) {
    if (other.first) {
      result.period = common_divisor(result.period, *other.first, other.term->step);
    }
    if (other.second) {
      result.period = common_divisor(result.period, *other.second, other.term->step);
    }
  }
  return result;
}

std::vector<LaneAccess> LaneConflicts::choices(const LaneAccess& access) {
  std::vector<LaneAccess> all{access};
  for (size_t i = 0; i < all.size() && all.size() < most_choices;) {
    const auto clamped = find_if(all[i].address.terms, [&](const AddressTerm& term) {
      const auto* limited = dyn_cast<MinMaxIntrinsic>(term.value);
      return limited && !term.uniform &&
             (accesses_.values().of(limited->getLHS()) || accesses_.values().of(limited->getRHS()));
    });
    if (clamped == all[i].address.terms.end()) {
      ++i;
      continue;
    }
    const auto* limited = cast<MinMaxIntrinsic>(clamped->value);
    LaneAccess other = all[i];
    all[i].chosen[limited] = limited->getLHS();
    other.chosen[limited] = limited->getRHS();
    all[i] = accesses_.assuming(all[i], accesses_.values());
    all.push_back(accesses_.assuming(other, accesses_.values()));
  }
  return all;
}

LaneConflicts::Overlap LaneConflicts::overlap_by_choices(const LaneAccess& first,
                                                         const LaneAccess& second,
                                                         uint64_t rounds) {
  const Overlap found = overlap_by_rounds(first, second, rounds);
  if (found != Overlap::possible) return found;
  const std::vector<LaneAccess> of_first = choices(first);
  const std::vector<LaneAccess> of_second = choices(second);
  if (of_first.size() == 1 && of_second.size() == 1) return found;
  const bool any = any_of(of_first, [&](const LaneAccess& one) {
    return any_of(of_second, [&](const LaneAccess& other) {
      return overlap_by_rounds(one, other, rounds) != Overlap::none;
    });
  });
  return any ? Overlap::possible : Overlap::none;
}

LaneConflicts::Overlap LaneConflicts::overlap_by_rounds(const LaneAccess& first,
                                                        const LaneAccess& second, uint64_t rounds) {
  const Overlap found = overlap(first, second, rounds);
  if (found != Overlap::possible) return found;
  std::vector<const PHINode*> variables;
  for (const LaneAccess* access : {&first, &second}) {
    for (const PHINode* phi : loop_values_.variables_of(pointer_of(*access->instruction))) {
      const bool changes = (accesses_.loops_around(*phi->getParent()) & rounds) != 0;
      if (changes || !accesses_.uniformity().is_uniform(*phi)) continue;
      if (!is_contained(variables, phi)) variables.push_back(phi);
    }
  }
  if (variables.empty() || variables.size() > most_variables) return found;
  std::vector<std::pair<const Value*, uint64_t>> assumed;
  return overlap_with(first, second, rounds, variables, assumed);
}

LaneConflicts::Overlap LaneConflicts::overlap_with(
    const LaneAccess& first, const LaneAccess& second, uint64_t rounds,
    ArrayRef<const PHINode*> variables, std::vector<std::pair<const Value*, uint64_t>>& assumed) {
  for (uint64_t value : loop_values_.of(*variables.front())) {
    assumed.push_back({variables.front(), value});
    LaneValues values(function_, block_);
    for (const auto& [variable, known] : assumed)
      values.assume(variable, LaneValues::Lanes(values.threads(), known));
    Overlap found =
        overlap(accesses_.assuming(first, values), accesses_.assuming(second, values), rounds);
    if (found != Overlap::none && variables.size() > 1) {
      found = overlap_with(first, second, rounds, variables.drop_front(), assumed);
    }
    assumed.pop_back();
    if (found != Overlap::none) return Overlap::possible;
  }
  return Overlap::none;
}

LaneConflicts::Overlap LaneConflicts::overlap(const LaneAccess& first, const LaneAccess& second,
                                              uint64_t rounds) {
  const Unknown rest = unknown(first, second, rounds);
  const bool is_known = rest.period == 0 && !rest.term;
  const auto apart = [&](const LaneAccess::Span& a, const LaneAccess::Span& b) {
    return a.is_empty || b.is_empty || a.last + static_cast<int64_t>(first.bytes) <= b.first ||
           b.last + static_cast<int64_t>(second.bytes) <= a.first;
  };
  for (size_t warp = 0; warp < accesses_.values().threads(); warp += warp_size) {
    const size_t number = warp / warp_size;
    if (is_known && apart(first.spans[number], second.spans[number])) continue;
    const size_t end = std::min(warp + warp_size, accesses_.values().threads());
    for (size_t a = warp; a < end; ++a) {
      if (!first.runs[a]) continue;
      for (size_t b = warp; b < end; ++b) {
        if (a == b || !second.runs[b]) continue;
        const int64_t distance = second.address.offset[b] - first.address.offset[a];
        if (is_known || rest.period != 0) {
          if (!meets(distance, rest.period, first.bytes, second.bytes)) continue;
          return is_known ? Overlap::certain : Overlap::possible;
        }
        if (is_reachable(first, a, second, b, rest, distance)) return Overlap::possible;
      }
    }
  }
  return Overlap::none;
}

// Whether there is a value of the one unknown term with which the accesses of two threads meet and
// both get there.
bool LaneConflicts::is_reachable(const LaneAccess& first, size_t a, const LaneAccess& second,
                                 size_t b, const Unknown& rest, int64_t distance) {
  int64_t factor = rest.factor(a, b);
  if (factor == 0) return meets(distance, 0, first.bytes, second.bytes);
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
    if (value % static_cast<int64_t>(rest.term->step) != 0) continue;
    if (!may_be(*rest.term, value)) continue;
    if (runs_with(first, a, *rest.term, value) && runs_with(second, b, *rest.term, value)) {
      return true;
    }
  }
  return false;
}

// Whether a value that is not known may be this one.
bool LaneConflicts::may_be(const AddressTerm& term, int64_t value) {
  if (term.is_start_left_out || !term.value->getType()->isIntegerTy()) return true;
  // A distance between neighbours that each thread multiplies by its own index is not zero.
  if (value == 0 && !all_equal(term.factor)) return false;
  if (auto* phi = dyn_cast<PHINode>(term.value)) {
    const std::vector<uint64_t>& values = loop_values_.of(*phi);
    if (!values.empty()) return is_contained(values, static_cast<uint64_t>(value));
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
    const auto* limited = cast<MinMaxIntrinsic>(choice.first);
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
  if (term.is_start_left_out) {
    auto& phi = *cast<PHINode>(term.value);
    const LaneValues::Lanes* start =
        accesses_.values().of(loop_variable(phi, accesses_.loops())->start);
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
