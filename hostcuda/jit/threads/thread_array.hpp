// Arrays with an element for each thread.
#pragma once

#include <cstdint>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/threads/body_frame.hpp"

namespace sluice::hostcuda::jit {

// ThreadArray has its elements in the block's private memory, padded to whole warps: of_block().
// Where the warps of a block run one after the other, of_warp() has 32 elements in a variable of
// the block function, for the lanes of the warp that is at hand: it becomes vector registers.
class ThreadArray {
 public:
  ThreadArray() = default;
  static ThreadArray of_block(BodyFrame& frame, llvm::Type* element);
  static ThreadArray of_warp(BodyFrame& frame, llvm::Type* element);
  static ThreadArray make(BodyFrame& frame, llvm::Type* element, bool by_warps) {
    return by_warps ? of_warp(frame, element) : of_block(frame, element);
  }

  llvm::Type* type() const { return type_; }

  // element() is the place of the thread that `loops` is at.
  llvm::Value* element(llvm::IRBuilder<>& ir, const ThreadLoops& loops) const;
  // lanes() is where the elements of the warp of that number in the block (i64) begin.
  llvm::Value* lanes(llvm::IRBuilder<>& ir, llvm::Value* warp) const;

 private:
  const BodyFrame* frame_ = nullptr;
  llvm::Type* type_ = nullptr;
  llvm::AllocaInst* variable_ = nullptr;  // null: of a block
  uint64_t offset_ = 0;
  uint64_t bytes_ = 0;  // of an element
};

}  // namespace sluice::hostcuda::jit
