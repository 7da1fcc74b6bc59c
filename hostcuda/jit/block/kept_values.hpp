// What threads keep from region to region, while a structured body is emitted.
#pragma once

#include <vector>

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "hostcuda/jit/regions/live_values.hpp"
#include "hostcuda/jit/threads/thread_array.hpp"

namespace sluice::hostcuda::jit {

using BlockSet = llvm::SetVector<llvm::BasicBlock*>;

// RegionSlots is one region's view of the slots: a variable for each slot that it touches, which
// becomes a register of the thread, and the values of uniform slots as the region found them.
struct RegionSlots {
  std::vector<llvm::AllocaInst*> variables;  // by slot; null where it is not touched
  std::vector<llvm::Value*> uniform_values;  // by slot; null where divergent or not live
};

// KeptValues places uniform slots in variables of the block function, which become registers, and
// others in arrays with one element a thread.
class KeptValues {
 public:
  // Where warps run one after the other, `block_entries` are the regions that start where the whole
  // block has met: what none of them reads is kept for one warp at a time.
  KeptValues(BodyFrame& frame, const LiveValues& live, bool by_warps,
             llvm::ArrayRef<llvm::BasicBlock*> block_entries);

  // begin_warp() has each warp begin at `entry` with the uniform values that the block came with,
  // which warps before it may have changed: it reads them at `before`, in front of the loops over
  // warps, and writes them at `start`, where one begins. It returns what they were there, which
  // drop_warp() writes back where a warp ends: the block goes on with what those left that did not.
  using UniformValues = std::vector<llvm::Value*>;  // by slot; null where divergent
  UniformValues begin_warp(llvm::BasicBlock* entry, llvm::IRBuilder<>& before,
                           llvm::IRBuilder<>& start) const;
  void drop_warp(llvm::IRBuilder<>& ir, const UniformValues& values) const;

  // read_uniform() reads the uniform values of the region that starts at `entry`, in front of its
  // loops over threads: all threads begin with what the last region left, whatever this one writes.
  UniformValues read_uniform(llvm::IRBuilder<>& ir, llvm::BasicBlock* entry) const;

  // enter() makes the variables of a region of `blocks` with such values, and maps the slots to
  // them.
  RegionSlots enter(const BlockSet& blocks, const UniformValues& uniform_values,
                    llvm::ValueToValueMapTy& map);

  // load() gives a thread its values at the region's start.
  void load(llvm::IRBuilder<>& ir, llvm::BasicBlock* entry, const RegionSlots& slots,
            const ThreadLoops& loops) const;

  // forget() says, in front of a region's loops over threads, that uniform values which store()
  // will write are nothing until then: at least one thread does.
  void forget(llvm::IRBuilder<>& ir, const BlockSet& blocks, llvm::ArrayRef<llvm::BasicBlock*> next,
              const RegionSlots& slots, llvm::function_ref<bool(unsigned slot)> is_wanted) const;

  // store() saves at the region's end what it has written and one of `next` reads, of the slots
  // that are wanted.
  void store(llvm::IRBuilder<>& ir, const BlockSet& blocks, llvm::ArrayRef<llvm::BasicBlock*> next,
             const RegionSlots& slots, const ThreadLoops& loops,
             llvm::function_ref<bool(unsigned slot)> is_wanted) const;

 private:
  struct Place {
    llvm::AllocaInst* variable = nullptr;
    ThreadArray array;  // where there is no variable
  };
  const std::vector<unsigned>& live_in(llvm::BasicBlock* entry) const;
  bool is_written(unsigned slot, const BlockSet& blocks) const;
  std::vector<unsigned> stored(const BlockSet& blocks, llvm::ArrayRef<llvm::BasicBlock*> next,
                               const RegionSlots& slots,
                               llvm::function_ref<bool(unsigned slot)> is_wanted) const;

  BodyFrame& frame_;
  const LiveValues& live_;
  std::vector<Place> places_;
};

}  // namespace sluice::hostcuda::jit
