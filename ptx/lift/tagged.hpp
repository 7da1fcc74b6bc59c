// Instructions that know the PTX line they come from, as what touches memory or synchronises must.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>

#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {

void tag_line(const InstructionLifter& lifter, llvm::Instruction* instruction);

// tag() notes the PTX line on an instruction and returns it.
template <class T>
T* tag(const InstructionLifter& lifter, T* instruction) {
  tag_line(lifter, instruction);
  return instruction;
}

llvm::CallInst* tagged_intrinsic(InstructionLifter& lifter, llvm::Intrinsic::ID id,
                                 llvm::ArrayRef<llvm::Value*> arguments);

// tagged_call() calls a function that stands for what NVVM in LLVM 19 has no intrinsic for.
llvm::CallInst* tagged_call(InstructionLifter& lifter, llvm::StringRef name, llvm::Type* result,
                            llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace sluice::ptx::lift_detail
