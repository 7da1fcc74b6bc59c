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
  llvm::Value* linear = nullptr;  // i64: tid.x + ntid.x * (tid.y + ntid.y * tid.z)
  llvm::MDNode* access_group = nullptr;
};

// open_thread_loops() makes the nest after `before`, which gets its terminator. The loops say that
// the accesses in `access_group` of different threads are independent: between two barriers CUDA
// orders no thread's plain access before another's.
ThreadLoops open_thread_loops(llvm::BasicBlock* before, const Dim3& block);

}  // namespace sluice::hostcuda::jit
