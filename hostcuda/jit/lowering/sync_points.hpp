// Where threads of a block wait for each other: barriers and operations of a warp.
#pragma once

#include <optional>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include "hostcuda/jit/lowering/thread_function.hpp"
#include "hostcuda/jit/warp/exchange.hpp"

namespace sluice::hostcuda::jit {

// SyncPoint is one call that synchronises. It stands in a block of its own, after what computes
// its operands; the thread goes on in `after`, which has no other predecessor. Where the call has
// a result, `result` is a placeholder call at the start of `after`.
struct SyncPoint {
  PointCode code;
  llvm::CallInst* call = nullptr;
  llvm::BasicBlock* block = nullptr;
  llvm::BasicBlock* after = nullptr;
  llvm::CallInst* result = nullptr;
  // A barrier that may leave out some threads of the block, or counts threads that don't wait.
  bool is_numbered = false;
  // The end of a round of a lockstep loop: its result is found by the loop over threads itself.
  bool is_lockstep = false;
};

// is_sync_point() tells the intrinsics that synchronise threads.
bool is_sync_point(const llvm::CallInst& call);

// sync_operation() is what such a call does; nothing for others.
std::optional<SyncOperation> sync_operation(const llvm::CallInst& call);

// The lifter's names of what LLVM has no intrinsic for.
// is_arrival() tells the call of bar.arrive, which counts at a barrier and does not wait.
bool is_arrival(const llvm::CallInst& call);
inline constexpr const char* barrier_arrive_name = "sluice.barrier.arrive";

// The call by which insert_warp_meetings() has those lanes of a warp meet that come to it.
inline constexpr const char* meeting_name = "sluice.meeting";

// is_wait() tells the lifter's call before an instruction that waits for its warp and accesses
// memory then, is_yield() the one by which a thread that may wait lets others run.
bool is_wait(const llvm::CallInst& call);
bool is_yield(const llvm::CallInst& call);

// The calls by which make_lockstep_loops() has threads meet, without a result and with: whether
// any thread brings true.
inline constexpr const char* lockstep_name = "sluice.lockstep";
inline constexpr const char* lockstep_any_name = "sluice.lockstep.any";
bool is_lockstep(const llvm::CallInst& call);
// call_lockstep() makes one, with a result where there is a bool that a thread brings.
llvm::CallInst* call_lockstep(llvm::IRBuilder<>& ir, llvm::Value* active = nullptr);
// The mark of the branch that lets threads into such a loop's body which are not yet through.
inline constexpr const char* lockstep_head = "sluice.lockstep.head";

// split_at_sync_points() finds and isolates the synchronisation points of a thread function, in
// program_order() where lanes meet, which advance() relies on. Where one barrier is numbered all
// are.
std::vector<SyncPoint> split_at_sync_points(llvm::Function& function, const KernelContext& context);

// SyncOperands are a call's operands in the form that exchange() reads; null where there is none.
struct SyncOperands {
  PointCode code;
  llvm::Value* mask = nullptr;      // i32
  llvm::Value* value = nullptr;     // any integer or float of at most 64 bits
  llvm::Value* lane = nullptr;      // i32; of a barrier: its number
  llvm::Value* clamp = nullptr;     // i32; of a barrier: its count, 0 for all threads
  std::vector<llvm::Value*> slots;  // of a matrix operation
};
SyncOperands sync_operands(const llvm::CallInst& call, llvm::IRBuilder<>& ir);

}  // namespace sluice::hostcuda::jit
