// What differs between threads of a small function, by its names.
#pragma once

#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

#include "hostcuda/jit/regions/uniformity.hpp"

namespace sluice::hostcuda::jit {

using Names = std::set<std::string>;

// divergent_names() are values, and blocks whose branch differs, of a function with these blocks,
// as `find` has it. %t is a thread's number, %n a parameter.
template <class Find>
Names divergent_names(const std::string& blocks, Find&& find) {
  const std::string text =
      "declare void @llvm.nvvm.barrier0()\n"
      "define void @f(ptr %shared, ptr %origin, i32 %dynamic, i64 %workspace, i32 %nx, i32 %ny, "
      "i32 %nz, i32 %cx, i32 %cy, i32 %cz, i32 %t, i32 %ty, i32 %tz, i32 %n, ptr %p) {\n" +
      blocks + "}\n";
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_NE(module, nullptr) << problem.getMessage().str() << "\n" << text;
  if (!module) return {};
  llvm::Function& function = *module->getFunction("f");
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
