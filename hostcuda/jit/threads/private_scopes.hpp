// What LLVM is told of accesses that can't meet.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Value.h>

namespace sluice::hostcuda::jit {

// PrivatePlaces are the bases of a block function's addresses: those of the kernel's global memory
// are made from `origin`, those of its shared memory from `shared`, which is null where an address
// of another base may lead there as well.
struct PrivatePlaces {
  llvm::Value* memory = nullptr;  // what threads keep between regions
  llvm::Value* shared = nullptr;
  llvm::Value* origin = nullptr;
};

// mark_scopes() marks loads and stores by the base of their addresses (LLVM's alias.scope and
// noalias): of different bases no two meet. The attribute noalias of `memory` says the same, but
// LLVM gives up where a pointer has over a hundred uses, as that one has in all but short kernels.
// Then nothing that all threads read alike leaves a loop in which they store what they keep.
void mark_scopes(llvm::Function& body, const PrivatePlaces& places);

}  // namespace sluice::hostcuda::jit
