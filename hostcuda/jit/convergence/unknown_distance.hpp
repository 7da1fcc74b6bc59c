// How far two accesses may be apart, as far as that is not known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hostcuda/jit/convergence/known_states.hpp"
#include "hostcuda/jit/convergence/lane_accesses.hpp"

namespace sluice::hostcuda::jit {

// UnknownDistance is what the terms of two accesses add to the distance from the first to the
// second that their offsets tell. Terms that both have alike add nothing. It refers to the
// accesses.
class UnknownDistance {
 public:
  // `changes` says whether what is the same for all lanes may have changed from the first access to
  // the second.
  UnknownDistance(const LaneAccess& first, const LaneAccess& second,
                  const std::function<bool(const AddressTerm&)>& changes);

  bool is_known() const { return parts_.empty(); }

  // The one term that counts, where it is the same number for both: then all that is added is
  // factor() times it. Else null.
  const AddressTerm* term() const {
    if (parts_.size() != 1 || !parts_.front().is_one) return nullptr;
    return parts_.front().first ? parts_.front().first : parts_.front().second;
  }
  int64_t factor(size_t a, size_t b) const { return factor(parts_.front(), a, b); }

  // may_meet() says whether thread a's first access and thread b's second may share a byte, where
  // their offsets lie `distance` apart.
  bool may_meet(size_t a, size_t b, int64_t distance, KnownStates& states);

 private:
  // Part is a term of either access or, where it is the same number, of both.
  struct Part {
    const AddressTerm* first = nullptr;
    const AddressTerm* second = nullptr;
    bool is_one = false;  // the same number for all lanes and at either access
    int64_t least = 0;    // of the numbers that it may be
    int64_t most = 0;
  };

  void add(const AddressTerm* first, const AddressTerm* second, bool is_one);
  static int64_t factor(const Part& part, size_t a, size_t b) {
    return (part.second ? part.second->factor[b] : 0) - (part.first ? part.first->factor[a] : 0);
  }
  void find_limits(KnownStates& states);

  const LaneAccess& first_;
  const LaneAccess& second_;
  std::vector<Part> parts_;
  uint64_t period_ = 0;  // all that is added is a multiple of it
  std::optional<bool> has_limits_;
};

}  // namespace sluice::hostcuda::jit
