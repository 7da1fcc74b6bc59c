// Loops over the threads of a block.
#pragma once

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Value.h>

#include "base/dim3.hpp"

namespace sluice::hostcuda::jit {

// ThreadLoops is a nest z/y/x of loops, x innermost, dimensions of extent 1 left out. What runs
// for one thread starts in `body` (to be filled) and ends with a branch to `latch`; `done` is
// where all threads are through.
struct ThreadLoops {
  llvm::BasicBlock* body = nullptr;
  llvm::BasicBlock* latch = nullptr;
  llvm::BasicBlock* done = nullptr;
  llvm::Value* tid[3] = {};       // i32
  llvm::Value* block = nullptr;   // i32: which of the neighbouring blocks; null with one loop
  llvm::Value* linear = nullptr;  // i64: tid.x + ntid.x * (tid.y + ntid.y * tid.z)
  llvm::Value* lane = nullptr;    // i32, of a loop over lanes: tid.x & 31
  llvm::MDNode* access_group = nullptr;
};

// MergedBlocks are neighbouring blocks that run as one, their loop around the one over x: a row of
// threads then goes through memory in one sweep. As `one_row` they have a single loop over x, in
// which tid[0] counts on from block to block (row_threads.hpp).
struct MergedBlocks {
  llvm::Value* count = nullptr;  // i32, at least 1; null for one block
  bool one_row = false;
  uint32_t kept = 1;  // the most of them: `linear` numbers the threads of as many
};

// open_thread_loops() makes the nest after `before`, which gets its terminator. The loops say that
// the accesses in `access_group` of different threads are independent: between two barriers CUDA
// orders no thread's plain access before another's.
ThreadLoops open_thread_loops(llvm::BasicBlock* before, const Dim3& block,
                              const MergedBlocks& merged = {});

// WarpLoops is a nest z/y/warp of loops over the warps of a block of which each row is whole warps.
// What runs for one warp starts in `body` (to be filled) and ends with a branch to `latch`; `done`
// is where all warps are through.
struct WarpLoops {
  llvm::BasicBlock* body = nullptr;
  llvm::BasicBlock* latch = nullptr;
  llvm::BasicBlock* done = nullptr;
  llvm::Value* first[3] = {};     // i32: the tid of its first lane
  llvm::Value* linear = nullptr;  // i64, of its first lane
};
WarpLoops open_warp_loops(llvm::BasicBlock* before, const Dim3& block);

// open_lane_loop() makes the loop over one warp's 32 lanes. What a kernel does by lane is then a
// matter of the loop's counter, and side by side in memory. Once it is vectors it is unrolled, so
// that what lanes keep becomes registers.
ThreadLoops open_lane_loop(llvm::BasicBlock* before, const WarpLoops& warps);

// The option of a loop over lanes, which nobody cuts into parts.
inline constexpr const char* lane_loop_option = "sluice.lanes";

// does_nothing() is whether a block of a loop only computes.
bool does_nothing(const llvm::BasicBlock& block);

}  // namespace sluice::hostcuda::jit
