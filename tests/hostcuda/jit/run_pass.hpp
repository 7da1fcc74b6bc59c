// Running one of the kernel compiler's passes over a function in LLVM's text.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Target/TargetMachine.h>

namespace sluice::hostcuda {

// run_pass() runs Pass over the text's function f, compiled for `target` where that is not null,
// and calls use(function, whether the pass changed it). The test fails where the text is none or
// the function is invalid then.
template <class Pass, class Use>
void run_pass(const std::string& text, llvm::TargetMachine* target, Use&& use) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  ASSERT_NE(module, nullptr) << problem.getMessage().str() << "\n" << text;
  llvm::FunctionAnalysisManager analyses;
  llvm::PassBuilder(target).registerFunctionAnalyses(analyses);
  llvm::Function& function = *module->getFunction("f");
  const bool changed = !Pass::run(function, analyses).areAllPreserved();
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  use(function, changed);
}

}  // namespace sluice::hostcuda
