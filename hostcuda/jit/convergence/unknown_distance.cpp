#include "hostcuda/jit/convergence/unknown_distance.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {
namespace {

int64_t divide_up(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return quotient + (value % by != 0 && (value < 0) == (by < 0) ? 1 : 0);
}

const AddressTerm* term_of(const LaneAddress& address, const llvm::Value* value) {
  for (const AddressTerm& term : address.terms) {
    if (term.value == value) return &term;
  }
  return nullptr;
}

// So that no sum of products gets too large.
constexpr int64_t most_number = int64_t{1} << 24U;
constexpr int64_t most_factor = int64_t{1} << 32U;

bool has_small_factors(const AddressTerm* term) {
  return !term || std::all_of(term->factor.begin(), term->factor.end(),
                              [](int64_t factor) { return std::abs(factor) < most_factor; });
}

// The least and the greatest number of what is known where an access runs.
using Limits = std::optional<std::pair<int64_t, int64_t>>;

Limits limits_of(const llvm::Value& value, const LaneAccess& access, KnownStates& states) {
  const auto& numbers = states.numbers(value, *access.instruction->getParent());
  if (numbers.empty() || *numbers.begin() < -most_number || *numbers.rbegin() > most_number) {
    return std::nullopt;
  }
  return std::pair(*numbers.begin(), *numbers.rbegin());
}

Limits limits_of(const AddressTerm& term, const LaneAccess& access, KnownStates& states) {
  const Limits limits = limits_of(*term.value, access, states);
  if (!limits || !term.start) return limits;
  const Limits start = limits_of(*term.start, access, states);
  if (!start) return std::nullopt;
  return std::pair(limits->first - start->second, limits->second - start->first);
}

}  // namespace

UnknownDistance::UnknownDistance(const LaneAccess& first, const LaneAccess& second,
                                 const std::function<bool(const AddressTerm&)>& changes)
    : first_(first), second_(second) {
  for (const AddressTerm& term : first.address.terms) {
    const AddressTerm* other = term_of(second.address, term.value);
    const bool is_one = term.uniform && !changes(term);
    if (other && !is_one) {
      add(&term, nullptr, false);
      add(nullptr, other, false);
    } else if (!other || other->factor != term.factor || !is_equal_in_warps(term.factor)) {
      add(&term, other, is_one);
    }
  }
  for (const AddressTerm& term : second.address.terms) {
    if (!term_of(first.address, term.value)) add(nullptr, &term, term.uniform && !changes(term));
  }
}

void UnknownDistance::add(const AddressTerm* first, const AddressTerm* second, bool is_one) {
  parts_.push_back({first, second, is_one});
  for (const AddressTerm* term : {first, second}) {
    if (!term) continue;
    for (int64_t factor : term->factor)
      period_ = std::gcd(period_, static_cast<uint64_t>(std::abs(factor)) * term->step);
  }
}

bool UnknownDistance::may_meet(size_t a, size_t b, int64_t distance, KnownStates& states) {
  const int64_t least = 1 - static_cast<int64_t>(second_.bytes) - distance;
  const int64_t most = static_cast<int64_t>(first_.bytes) - 1 - distance;
  if (period_ == 0) return least <= 0 && most >= 0;
  const auto period = static_cast<int64_t>(period_);
  if (divide_up(least, period) * period > most) return false;
  if (!has_limits_) find_limits(states);
  if (!*has_limits_) return true;
  int64_t least_added = 0;
  int64_t most_added = 0;
  for (const Part& part : parts_) {
    const int64_t by = factor(part, a, b);
    least_added += by * (by < 0 ? part.most : part.least);
    most_added += by * (by < 0 ? part.least : part.most);
  }
  return divide_up(std::max(least, least_added), period) * period <= std::min(most, most_added);
}

void UnknownDistance::find_limits(KnownStates& states) {
  has_limits_ = std::all_of(parts_.begin(), parts_.end(), [&](Part& part) {
    if (!has_small_factors(part.first) || !has_small_factors(part.second)) return false;
    const Limits limits = part.first ? limits_of(*part.first, first_, states)
                                     : limits_of(*part.second, second_, states);
    if (limits) std::tie(part.least, part.most) = *limits;
    return limits.has_value();
  });
}

}  // namespace sluice::hostcuda::jit
