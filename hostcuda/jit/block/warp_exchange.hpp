// What the lanes of a warp tell each other where all threads of the block come to one point
// together: as vectors of 32 lanes in line, instead of a call of exchange().
#pragma once

#include <cstdint>
#include <optional>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/lowering/sync_points.hpp"
#include "hostcuda/jit/threads/thread_array.hpp"

namespace sluice::hostcuda::jit {

// WarpExchange emits, for the points that it takes, three parts: bring() at the end of a thread's
// part before the point, meet() after the loops over threads, give() where the thread goes on. What
// comes out is what exchange() gives.
class WarpExchange {
 public:
  // `alive` is the place of the block's bytes of threads that have not exited, by which meet()
  // leaves out lanes; 0 where no thread exits before others. Past the last thread they are 0 up to
  // a whole warp.
  WarpExchange(BodyFrame& frame, llvm::ArrayRef<SyncPoint> points, uint64_t alive, bool by_warps);

  // takes() tells the points that need no call of exchange(): barriers of a warp, shuffles, and,
  // where one mask is written for all lanes, votes and reductions.
  static bool takes(const SyncPoint& point);

  void bring(llvm::CallInst& call, const ThreadLoops& loops);
  // meet() is for the warp of that number in the block (i64); null: for each, one after the other.
  void meet(llvm::IRBuilder<>& ir, const SyncPoint& point, llvm::Value* warp);
  // give() replaces the copy of the point's placeholder by the thread's result.
  void give(llvm::CallInst& placeholder, const SyncPoint& point, const ThreadLoops& loops);

 private:
  struct Shuffle;

  llvm::Value* participants(llvm::IRBuilder<>& ir, llvm::Value* warp) const;
  llvm::Value* said(llvm::IRBuilder<>& ir, SyncOperation operation, llvm::Value* warp) const;
  llvm::Value* vector_of(llvm::IRBuilder<>& ir, const ThreadArray& array, llvm::Value* warp) const;
  llvm::Value* operand(llvm::IRBuilder<>& ir, llvm::Value* written, const ThreadArray& array,
                       llvm::Value* warp) const;
  void ask(llvm::IRBuilder<>& ir, Shuffle& shuffle, const SyncPoint& point,
           llvm::Value* warp) const;
  llvm::Value* of_asked(llvm::IRBuilder<>& ir, const ThreadArray& array, const Shuffle& shuffle,
                        llvm::Value* warp) const;
  llvm::Value* is_there(llvm::IRBuilder<>& ir, const Shuffle& shuffle, llvm::Value* warp) const;
  void shuffle(llvm::IRBuilder<>& ir, const SyncPoint& point, llvm::Value* warp) const;
  llvm::Value* answer(llvm::IRBuilder<>& ir, llvm::Value* warp) const;

  const BodyFrame& frame_;
  const uint64_t threads_;
  const uint64_t alive_;
  ThreadArray values_;                  // i32
  ThreadArray masks_;                   // i32: as written, where they are no constants
  ThreadArray asked_;                   // i32: a shuffle's lane operand
  ThreadArray clamps_;                  // i32: its c operand
  ThreadArray votes_;                   // i8
  ThreadArray given_;                   // i32: what a shuffle gives
  ThreadArray insides_;                 // i8: whether the lane that it asks is inside its segment
  llvm::AllocaInst* answer_ = nullptr;  // i32: what a vote or reduction gives a warp
  uint64_t answers_ = 0;                // likewise of all warps; one of the two
};

}  // namespace sluice::hostcuda::jit
