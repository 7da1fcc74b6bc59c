// Where threads of a block wait for each other: barriers and operations of a warp.
#pragma once

#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include "base/result.hpp"
#include "hostcuda/jit/exchange.hpp"
#include "hostcuda/jit/thread_function.hpp"

namespace sluice::hostcuda::jit {

// SyncPoint is one call that synchronises. It stands in a block of its own, after what computes
// its operands; the thread goes on in `after`, which has no other predecessor. Where the call has
// a result, `result` is a placeholder call at the start of `after`.
struct SyncPoint {
  SyncOperation operation = SyncOperation::barrier;
  llvm::IntrinsicInst* call = nullptr;
  llvm::BasicBlock* block = nullptr;
  llvm::BasicBlock* after = nullptr;
  llvm::CallInst* result = nullptr;
};

// is_sync_point() tells the intrinsics that synchronise threads.
bool is_sync_point(const llvm::IntrinsicInst& call);

// split_at_sync_points() finds and isolates the synchronisation points of a thread function, in
// the order of its blocks. Barriers for a part of the block are unimplemented.
Result<std::vector<SyncPoint>> split_at_sync_points(llvm::Function& function,
                                                    const KernelContext& context);

// SyncOperands are a call's operands in the form that exchange() reads; null where there is none.
struct SyncOperands {
  llvm::Value* mask = nullptr;   // i32
  llvm::Value* value = nullptr;  // any integer or float of at most 64 bits
  llvm::Value* lane = nullptr;   // i32
  llvm::Value* clamp = nullptr;  // i32
};
SyncOperands sync_operands(const llvm::IntrinsicInst& call, llvm::IRBuilder<>& ir);

}  // namespace sluice::hostcuda::jit
