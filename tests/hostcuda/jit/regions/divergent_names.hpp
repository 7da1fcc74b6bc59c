// What differs between threads of a small function, by its names.
#pragma once

#include <set>
#include <string>

#include <llvm/IR/InstIterator.h>

#include "hostcuda/jit/block_function.hpp"
#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {

using Names = std::set<std::string>;

// divergent_names() are values, and blocks whose branch differs, of a function with these blocks,
// as `find` has it. %t is a thread's number, %n a parameter.
template <class Find>
Names divergent_names(const std::string& blocks, Find&& find) {
  const BlockFunction parsed("declare void @llvm.nvvm.barrier0()\n", "ptr %p", blocks);
  if (parsed.get() == nullptr) return {};
  llvm::Function& function = *parsed.get();
  const Uniformity uniformity = find(function);
  Names names;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (instruction.hasName() && !uniformity.is_uniform(instruction)) {
      names.insert(instruction.getName().str());
    }
  }
  for (llvm::BasicBlock& block : function) {
    if (!uniformity.has_uniform_branch(block)) names.insert(block.getName().str());
  }
  return names;
}

}  // namespace sluice::hostcuda::jit
