// The body of a recursive function on its way into a kernel: what it keeps in memory, and where in
// its frame.
#pragma once

#include <cstdint>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "base/result.hpp"
#include "hostcuda/jit/library/frames.hpp"
#include "hostcuda/jit/lowering/recursion.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

struct RecursiveBody {
  llvm::Function* function = nullptr;
  llvm::BasicBlock* entry = nullptr;
  llvm::AllocaInst* result = nullptr;  // in the kernel
  std::vector<llvm::AllocaInst*> parameters;
  std::vector<llvm::BasicBlock*> blocks;
  std::vector<llvm::AllocaInst*> variables;
  llvm::DenseMap<llvm::AllocaInst*, uint64_t> offsets;  // of the variables in a frame
  uint64_t bytes = sizeof(FrameHeader);                 // of a frame
  uint64_t alignment = 16;
};

// name_parameters() makes the parameters variables, which the caller writes.
void name_parameters(RecursiveBody& body);

// demote() keeps in memory what is used in another block than where it is computed.
void demote(llvm::Function& function);

// lay_out() lists the body's blocks and gives each of its variables a place in the frame. A
// variable of no fixed size is unsupported.
Status lay_out(RecursiveBody& body, const KernelContext& context);

}  // namespace sluice::hostcuda::jit
