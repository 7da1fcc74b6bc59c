// The numbers that a thread has at each place, where they follow from constants alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/convergence/lane_values.hpp"

namespace sluice::hostcuda::jit {

// KnownStates goes all ways through a thread function with the phis whose numbers are known:
// counters of loops that end by a constant, of loops in them that end by those, halves and doubles,
// what is swapped in each round, and what a loop has left behind. A phi that takes more than some
// tens of numbers at one place is not followed. A product that wraps to 0 is taken to be none.
class KnownStates {
 public:
  // State is what phis are, those that are known and still matter.
  using State = boost::container::flat_map<
      const llvm::PHINode*, uint64_t, std::less<>,
      boost::container::small_vector<std::pair<const llvm::PHINode*, uint64_t>, 8>>;

  KnownStates(const llvm::Function& function, const Dim3& block)
      : function_(function), block_(block) {}

  // at() holds every state in which a thread may get to a block; one that says nothing where
  // nothing is known.
  const std::set<State>& at(const llvm::BasicBlock& block);

  // of() is the states at a block in what matters to the values alone.
  std::set<State> of(llvm::ArrayRef<const llvm::Value*> values, const llvm::BasicBlock& block);

  // numbers() is what a value may be, signed; empty where it is not known in each state at a block.
  const std::set<int64_t>& numbers(const llvm::Value& value, const llvm::BasicBlock& block);

 private:
  using Uses = llvm::DenseSet<const llvm::BasicBlock*>;

  void follow();
  void arrive(const llvm::BasicBlock& block, State state);
  void forget(const llvm::PHINode& phi);
  std::optional<State> next_state(const llvm::BasicBlock& from, const llvm::BasicBlock& to,
                                  const State& state, LaneValues& values);
  bool matters(const llvm::PHINode& phi, const llvm::BasicBlock& block);
  LaneValues values_in(const State& state) const;

  const llvm::Function& function_;
  const Dim3 block_;
  bool is_followed_ = false;
  llvm::DenseMap<const llvm::BasicBlock*, std::set<State>> states_;
  std::vector<std::pair<const llvm::BasicBlock*, State>> pending_;
  llvm::DenseSet<const llvm::PHINode*> forgotten_;
  std::map<std::pair<const llvm::Value*, const llvm::BasicBlock*>, std::set<int64_t>> numbers_;
  llvm::DenseMap<const llvm::PHINode*, Uses> uses_;  // blocks where a phi still matters
};

}  // namespace sluice::hostcuda::jit
