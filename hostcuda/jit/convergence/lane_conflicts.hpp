// Which accesses of different lanes of a warp may touch the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "hostcuda/jit/convergence/known_states.hpp"
#include "hostcuda/jit/convergence/lane_accesses.hpp"
#include "hostcuda/jit/convergence/unknown_distance.hpp"

namespace sluice::hostcuda::jit {

// LaneConflicts compares a thread function's accesses.
class LaneConflicts {
 public:
  LaneConflicts(const llvm::Function& function, const Dim3& block, LaneAccesses& accesses)
      : function_(function), block_(block), accesses_(accesses), states_(function, block) {}

  // conflict() says whether a lane may access, with the second access, what another lane of its
  // warp has accessed with the first and where their order matters. Since then a lane may have
  // begun further rounds of the loops in `rounds`. In shared memory, and where lanes
  // exchange(), a conflict that can't be excluded is one, elsewhere only what is certain.
  bool conflict(unsigned first, unsigned second, uint64_t rounds);

 private:
  enum class Overlap { none, possible, certain };
  struct KnownAccess;

  // An index that is kept within bounds (`max(t - 1, first)`) is what it is kept from or a bound,
  // where only one of the two is known; one where ways join is what either way brings.
  llvm::SmallVector<const llvm::Value*, 4> choices(const llvm::Value& value);
  std::vector<LaneAccess> choices(const LaneAccess& access);
  Overlap overlap_by_choices(const LaneAccess& first, const LaneAccess& second, uint64_t rounds);
  Overlap overlap(const LaneAccess& first, const LaneAccess& second, uint64_t rounds);
  // What overlap() finds possible may be excluded for each of the states in which threads get to
  // the two.
  Overlap overlap_by_states(const LaneAccess& first, const LaneAccess& second, uint64_t rounds);
  std::vector<KnownAccess> in_states(const LaneAccess& access);
  bool changes(const llvm::Instruction& value, uint64_t rounds) const;
  bool go_together(const KnownStates::State& first, const KnownStates::State& second,
                   uint64_t rounds) const;
  bool is_reachable(const LaneAccess& first, size_t a, const LaneAccess& second, size_t b,
                    const UnknownDistance& rest, int64_t distance);
  bool may_be(const AddressTerm& term, int64_t value);
  bool is_chosen_with(const LaneAccess& access, size_t thread, const AddressTerm& term,
                      int64_t value);
  bool runs_with(const LaneAccess& access, size_t thread, const AddressTerm& term, int64_t value);
  LaneValues* assuming(const AddressTerm& term, int64_t value);

  const llvm::Function& function_;
  const Dim3 block_;
  LaneAccesses& accesses_;
  KnownStates states_;
  std::map<std::tuple<unsigned, unsigned, int64_t, uint64_t>, Overlap> answers_;
  std::map<std::pair<const llvm::Value*, int64_t>, std::unique_ptr<LaneValues>> assumed_;
};

}  // namespace sluice::hostcuda::jit
