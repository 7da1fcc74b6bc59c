// Copies of a thread function's blocks inside a loop over threads.
#pragma once

#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "hostcuda/jit/lowering/sync_points.hpp"
#include "hostcuda/jit/threads/body_frame.hpp"
#include "hostcuda/jit/warp/exchange.hpp"

namespace sluice::hostcuda::jit {

// ThreadLocals is where the thread function's own local arrays (.local memory) are kept: one
// after the other in one place where a thread runs to its end at once, else one place a thread.
class ThreadLocals {
 public:
  // Takes every alloca of the thread function that stands in `storage`'s order; `synchronises`
  // says that other threads run in between.
  ThreadLocals(BodyFrame& frame, llvm::ArrayRef<llvm::AllocaInst*> locals, bool synchronises);

  // places() writes where the locals of the thread that `loops` is at are into `map`.
  void map_places(llvm::IRBuilder<>& ir, const ThreadLoops& loops,
                  llvm::ValueToValueMapTy& map) const;

  // Bytes below the block's shared memory that the locals whose address escapes need.
  uint64_t bytes_below_shared() const { return bytes_below_shared_; }

 private:
  struct Place {
    llvm::AllocaInst* local = nullptr;
    llvm::Value* common = nullptr;  // one place for all threads
    uint64_t offset = 0;            // else an array of places
    uint64_t stride = 0;
    bool below_shared = false;
  };
  const BodyFrame& frame_;
  std::vector<Place> places_;
  uint64_t bytes_below_shared_ = 0;
};

// clone_blocks() copies `blocks` into the frame's function. `map` holds what stands for arguments
// and allocas and receives the copies. Phis forget predecessors outside `blocks`. The copies of
// instructions still refer to originals: see remap_blocks().
void clone_blocks(llvm::ArrayRef<llvm::BasicBlock*> blocks, const BodyFrame& frame,
                  llvm::ValueToValueMapTy& map);
// remap_blocks() makes the copies refer to each other, after the caller has changed their ends.
void remap_blocks(llvm::ArrayRef<llvm::BasicBlock*> blocks, const ThreadLoops& loops,
                  llvm::ValueToValueMapTy& map);

// emit_operands() stores what a thread brings to a synchronisation point; `call` is the copy of
// the point's call, which is removed with what follows it.
void emit_operands(llvm::CallInst& call, const BodyFrame& frame, const ExchangePlan& layout,
                   llvm::Value* thread);
// emit_result() replaces the copy of a point's result placeholder by the thread's result.
void emit_result(llvm::CallInst& placeholder, const PointCode& code, const BodyFrame& frame,
                 const ExchangePlan& layout, llvm::Value* thread);

// reserve_exchange() makes room for the arrays of an exchange; `with_states` for those that
// advance() needs too.
ExchangePlan reserve_exchange(BodyFrame& frame, const std::vector<SyncPoint>& points,
                              bool with_states);

}  // namespace sluice::hostcuda::jit
