// Which instructions of a kernel use memory, and how. Internal to the analysis.
#pragma once

#include <string>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

#include "analysis/kernel/access_form.hpp"

namespace sluice::analysis {

// MemoryUse is one instruction that may touch memory. Its touch has no slot yet.
struct MemoryUse {
  llvm::Instruction* instruction = nullptr;
  llvm::Value* address = nullptr;
  Touch touch;
};

struct MemoryUses {
  std::vector<MemoryUse> uses;
  std::vector<llvm::Instruction*> fences;
  // Calls that synchronise or exchange values between threads, or read what is not known before
  // the kernel runs: which bytes are touched does not depend on when they happen.
  std::vector<llvm::CallBase*> exchanges;
  WideningReason opaque_reason;  // which instruction defies description; empty where none does
};

MemoryUses find_memory_uses(llvm::Function& kernel);

}  // namespace sluice::analysis
