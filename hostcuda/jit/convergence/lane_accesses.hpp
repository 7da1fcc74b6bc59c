// The accesses of a thread function to memory that lanes of a warp share.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include "hostcuda/jit/convergence/lane_addresses.hpp"

namespace sluice::hostcuda::jit {

// LaneAccess is one load, store or atomic operation on memory that lanes share.
struct LaneAccess {
  // The least and the greatest offset of a warp's lanes.
  struct Span {
    bool is_empty = true;
    int64_t first = 0;
    int64_t last = 0;
  };

  llvm::Instruction* instruction = nullptr;
  Chosen chosen;  // what the address is found under
  LaneAddress address;
  uint64_t bytes = 0;
  bool reads = false;
  bool writes = false;
  bool is_atomic = false;
  bool is_volatile = false;
  // Branches that a thread has taken, and how, where it gets here; which threads may, as far as
  // their indices tell.
  std::vector<std::pair<const llvm::Value*, bool>> guards;
  std::vector<bool> runs;
  std::vector<Span> spans;  // of each warp
  unsigned pattern = 0;     // equal where only a constant is added to the address
  unsigned family = 0;      // 0: shared memory; elsewhere equal where what is not known is the same
  // Outside shared memory: pointers that the address is one of, with something added; and whether
  // what is added doubles or halves in a loop (doubling_reach.hpp).
  std::vector<const llvm::Value*> bases;
  bool doubles = false;
};

// exchange() says whether two accesses outside shared memory are of one buffer where lanes have
// other partners in each round: there a conflict that can't be excluded is one.
bool exchange(const LaneAccess& first, const LaneAccess& second);

// LaneAccesses finds them, but for those outside shared memory whose address no rule of
// warp_meetings.hpp compares.
class LaneAccesses {
 public:
  LaneAccesses(llvm::Function& function, const Dim3& block, const llvm::DominatorTree& dominators,
               const llvm::LoopInfo& loops);

  const std::vector<LaneAccess>& all() const { return accesses_; }
  const llvm::LoopInfo& loops() const { return loops_; }
  const Uniformity& uniformity() const { return warp_uniformity_; }
  LaneValues& values() { return values_; }

  // Loops as bits, the last of which many loops may share: one loop, and those around a block.
  uint64_t number_of_loop(const llvm::Loop& loop) const {
    return uint64_t{1} << loop_numbers_.lookup(&loop);
  }
  uint64_t loops_around(const llvm::BasicBlock& block) const;

  // assuming() is an access under the assumptions of `values`.
  LaneAccess assuming(const LaneAccess& access, LaneValues& values) const;

  // rivals() are, for each access, those that it may conflict with by their kind.
  std::vector<std::vector<unsigned>> rivals() const;

  // splits_block() says whether threads of the block may leave `block` by different edges,
  // diverges() whether lanes of one warp may.
  bool splits_block(const llvm::BasicBlock& block) const {
    return !uniformity_.has_uniform_branch(block);
  }
  bool diverges(const llvm::BasicBlock& block);

 private:
  void find_exchanged(LaneAddresses& addresses);
  void find(llvm::Instruction& instruction, LaneAddresses& addresses);
  void find_guards(LaneAccess& access) const;
  static void find_threads(LaneAccess& access, LaneValues& values);
  unsigned pattern_of(const LaneAccess& access);
  unsigned family_of(const LaneAccess& access);

  llvm::Function& function_;
  const llvm::DominatorTree& dominators_;
  const llvm::LoopInfo& loops_;
  const Uniformity uniformity_;  // of the block
  LaneValues values_;
  const Uniformity warp_uniformity_;
  std::vector<LaneAccess> accesses_;
  std::map<std::vector<int64_t>, unsigned> patterns_;
  std::map<std::vector<int64_t>, unsigned> families_;
  llvm::SmallPtrSet<const llvm::Instruction*, 8> doubling_;  // accesses
  llvm::SmallPtrSet<const llvm::Value*, 4> exchanged_;       // their bases
  llvm::DenseMap<const llvm::Loop*, unsigned> loop_numbers_;
};

}  // namespace sluice::hostcuda::jit
