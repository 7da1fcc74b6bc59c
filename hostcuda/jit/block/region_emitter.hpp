// One region of a kernel as loops over threads.
#pragma once

#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/BasicBlock.h>

#include "hostcuda/jit/block/block_body.hpp"
#include "hostcuda/jit/block/kept_values.hpp"
#include "hostcuda/jit/block/lockstep_round.hpp"
#include "hostcuda/jit/block/warp_exchange.hpp"

namespace sluice::hostcuda::jit {

// RegionEnd is how threads leave a region.
struct RegionEnd {
  llvm::BasicBlock* done = nullptr;       // behind the loops, without a terminator
  llvm::BasicBlock* cut = nullptr;        // null: all have ended
  bool ends = false;                      // some may have ended
  llvm::AllocaInst* condition = nullptr;  // of a cut that is a uniform branch
};

// RegionEmitter emits regions of a structured plan, one after the other: a thread loads what it
// kept, runs a copy of the region's blocks, and keeps what later regions read.
class RegionEmitter {
 public:
  // With `by_warps` regions run for one warp at a time: `block_entries` are those that start where
  // the whole block has met.
  RegionEmitter(BodyFrame& frame, const KernelRegions& regions, ExchangePlan& layout, bool by_warps,
                llvm::ArrayRef<llvm::BasicBlock*> block_entries);

  // emit() emits the region of `entry` behind `start`, of the whole block or of one warp.
  RegionEnd emit(llvm::BasicBlock* entry, llvm::BasicBlock* start, const WarpLoops* warp);

  // point_of() is the synchronisation point that a cut is; null for a branch.
  const SyncPoint* point_of(llvm::BasicBlock* cut) const;

  const KeptValues& kept() const { return kept_; }
  WarpExchange& exchange() { return exchange_; }
  uint64_t bytes_below_shared() const { return locals_.bytes_below_shared(); }
  // The place of the block's bytes of threads that have not exited, and the variable with their
  // number; 0 and null where no thread exits before others.
  uint64_t alive() const { return alive_; }
  llvm::AllocaInst* alive_count() const { return alive_count_; }

 private:
  // Votes are what the threads of a lockstep loop say at the end of a round.
  struct Votes {
    llvm::AllocaInst* any = nullptr;     // i32, not 0 where one goes round again
    llvm::AllocaInst* all = nullptr;     // i32, 0 where one does not
    llvm::AllocaInst* differ = nullptr;  // i1: only then each has kept what it said
    bool go_together = false;            // or else each keeps it always
  };
  // Pass is one copy of a region in loops over threads.
  struct Pass {
    llvm::BasicBlock* entry = nullptr;
    const BlockSet& blocks;
    llvm::BasicBlock* start = nullptr;
    const WarpLoops* warp = nullptr;
    llvm::Value* any_before = nullptr;
    const KeptValues::UniformValues& uniform_values;
    const LockstepRound* round = nullptr;  // of which `inside` is not kept
    bool says_again = false;               // nothing else is kept, and nothing done
    bool all_inside = false;
    // Whether the pass keeps a slot that it has written.
    bool operator()(unsigned slot) const { return !round || (slot == round->inside) == says_again; }
  };
  RegionEnd emit_pass(const Pass& pass);
  RegionEnd emit_round(const Pass& whole, const LockstepRound& round);
  RegionEnd emit_together(const Pass& pass, const LockstepRound& round, llvm::BasicBlock* done);

  const Votes* votes_of(llvm::BasicBlock* cut);
  llvm::Value* read_any(llvm::BasicBlock* entry, llvm::BasicBlock* start);
  bool is_cut(llvm::BasicBlock* block) const;
  BlockSet blocks_of(llvm::BasicBlock* entry) const;
  void skip_the_ended(llvm::IRBuilder<>& ir, llvm::BasicBlock& entry, const ThreadLoops& loops);
  std::vector<llvm::BasicBlock*> entries_after(llvm::BasicBlock* cut) const;
  llvm::AllocaInst* end_at_cut(llvm::BasicBlock* cut, const Pass& pass, llvm::BasicBlock* copy,
                               const RegionSlots& slots, const ThreadLoops& loops);
  void vote(llvm::BasicBlock* cut, llvm::CallInst& call);
  void end_thread(const Pass& pass, llvm::BasicBlock* copy, const ThreadLoops& loops);
  void replace_results(llvm::BasicBlock& block, llvm::Value* any_before,
                       llvm::ValueToValueMapTy& map, const ThreadLoops& loops);

  BodyFrame& frame_;
  const KernelRegions& regions_;
  ExchangePlan& layout_;
  ThreadLocals locals_;
  KeptValues kept_;
  llvm::DenseMap<llvm::BasicBlock*, size_t> point_at_;
  llvm::DenseSet<llvm::BasicBlock*> branches_;
  llvm::DenseMap<llvm::BasicBlock*, Votes> votes_;
  const uint64_t alive_;  // i8 a thread: has not exited
  WarpExchange exchange_;
  llvm::AllocaInst* alive_count_ = nullptr;
};

}  // namespace sluice::hostcuda::jit
