// A small function with the parameters of a block's code, from LLVM's text.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

namespace sluice::hostcuda::jit {

// BlockFunction is @f of these blocks: %t is a thread's number, %n and `last` are the kernel's own.
// `declarations` stand before it.
class BlockFunction {
 public:
  BlockFunction(const std::string& declarations, const std::string& last,
                const std::string& blocks) {
    const std::string text =
        declarations +
        "define void @f(ptr %shared, ptr %origin, i32 %dynamic, i64 %workspace, i32 %nx, i32 %ny, "
        "i32 %nz, i32 %cx, i32 %cy, i32 %cz, i32 %t, i32 %ty, i32 %tz, i32 %n, " +
        last + ") {\n" + blocks + "}\n";
    llvm::SMDiagnostic problem;
    module_ = llvm::parseAssemblyString(text, problem, context_);
    EXPECT_NE(module_, nullptr) << problem.getMessage().str() << "\n" << text;
  }

  // get() is null after a test failure.
  llvm::Function* get() const { return module_ == nullptr ? nullptr : module_->getFunction("f"); }

 private:
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

}  // namespace sluice::hostcuda::jit
