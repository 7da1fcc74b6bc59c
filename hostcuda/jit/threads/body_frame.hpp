// The function of one block, before its regions are put in.
#pragma once

#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "hostcuda/jit/lowering/thread_function.hpp"
#include "hostcuda/jit/threads/thread_loops.hpp"

namespace sluice::hostcuda::jit {

// PrivateMemory hands out places in the block's private memory: what its threads keep between
// regions. Each array starts on a cache line, and such that the same thread's elements of many
// arrays lie in different sets of the cache: at a distance of whole kilobytes they would share a
// few.
class PrivateMemory {
 public:
  uint64_t reserve(uint64_t bytes) {
    constexpr uint64_t line = 64;
    const uint64_t offset = bytes_;
    const uint64_t lines = (bytes + line - 1) / line;
    bytes_ += (lines + (lines < 8 ? 0 : 2)) * line;
    return offset;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

// BodyFrame is the function
//   void body(ptr launch, ptr memory, ptr shared, ptr origin_cell, i32 ctaid[3], i32 count)
// that runs one block, or `count` blocks that are neighbours in x where the body merges rows. Its
// entry block reads the launch.
struct BodyFrame {
  // What threads keep between regions has room for `kept_blocks` neighbouring blocks, each with
  // shared memory of its own.
  BodyFrame(const ThreadFunction& thread, const KernelContext& context, uint32_t kept_blocks);

  // map_arguments() makes the thread function's arguments stand for this block's values and for
  // the thread that `loops` is at.
  void map_arguments(llvm::ValueToValueMapTy& map, const ThreadLoops& loops) const;

  // element() is the address of a thread's element of a private array.
  llvm::Value* element(llvm::IRBuilder<>& ir, uint64_t offset, uint64_t element_bytes,
                       llvm::Value* thread) const;

  // origin() is the base of generic addresses.
  llvm::Value* origin() const { return arguments_[ThreadFunction::origin]; }
  llvm::Value* block_count() const { return function->getArg(7); }
  // kept_threads() is how many threads' values are kept.
  uint64_t kept_threads() const { return context.block.count() * kept_blocks; }
  // shared_stride() is how far the shared memories of neighbouring blocks lie apart, in bytes.
  uint64_t shared_stride() const { return (thread.static_shared_bytes + 63) / 64 * 64; }
  llvm::LLVMContext& llvm_context() const { return function->getContext(); }

  const KernelContext& context;
  const ThreadFunction& thread;
  const uint32_t kept_blocks;
  llvm::Function* function = nullptr;
  llvm::BasicBlock* entry = nullptr;  // ends without a terminator
  llvm::Value* memory = nullptr;
  PrivateMemory layout;

 private:
  std::vector<llvm::Value*> arguments_;  // by argument of the thread function; null for tid
};

// The mark of variables with an element for each lane of a warp.
inline constexpr const char* lane_variable = "sluice.lane.variable";

// The mark of calls that stand for plain accesses.
inline constexpr const char* plain_accesses = "sluice.plain.accesses";

// mark_independent() puts the plain accesses among `instructions` of one block into the loops'
// access group. Accesses of locals that all threads share one after the other must stay out.
void mark_independent(llvm::BasicBlock& block, const ThreadLoops& loops);

}  // namespace sluice::hostcuda::jit
