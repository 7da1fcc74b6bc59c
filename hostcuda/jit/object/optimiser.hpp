// LLVM's passes and code generator for the host.
#pragma once

#include <memory>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include "base/result.hpp"

namespace sluice::hostcuda::jit {

// simplify() makes a thread function small and its integer ranges explicit, before it is cut
// into regions.
void simplify(llvm::Function& function, llvm::TargetMachine& target);

// optimise() runs LLVM's O3 pipeline over the finished block functions.
void optimise(llvm::Module& module, llvm::TargetMachine& target);

// optimise_quickly() does what costs little and saves most, and has the target do alike.
void optimise_quickly(llvm::Module& module, llvm::TargetMachine& target);

// compile() makes an object file. A module that LLVM's verifier refuses is an error of ours,
// returned rather than fatal.
Result<std::unique_ptr<llvm::MemoryBuffer>> compile(llvm::Module& module,
                                                    llvm::TargetMachine& target);

// verify() returns LLVM's complaint about a module as an error.
Status verify(const llvm::Module& module, const char* stage);

}  // namespace sluice::hostcuda::jit
