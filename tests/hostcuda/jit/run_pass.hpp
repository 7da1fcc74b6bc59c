// Running one of the kernel compiler's passes over a function in LLVM's text.
#pragma once

#include <memory>
#include <string>

#include <fmt/format.h>
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

// thread_loop() is a function f of these parameters with a loop over threads, whose number is %i:
// a round is these lines, which begin in the block %head and go on to %latch. What its accesses are
// marked with is !0.
inline std::string thread_loop(const std::string& parameters, const std::string& round,
                               unsigned rounds) {
  return fmt::format(
      "define void @f({}) {{\n"
      "entry:\n  br label %head\n"
      "head:\n  %i = phi i64 [0, %entry], [%next, %latch]\n{}"
      "latch:\n  %next = add nuw nsw i64 %i, 1\n  %done = icmp eq i64 %next, {}\n"
      "  br i1 %done, label %end, label %head, !llvm.loop !1\n"
      "end:\n  ret void\n}}\n"
      "!0 = distinct !{{}}\n!1 = distinct !{{!1, !{{!\"llvm.loop.parallel_accesses\", !0}}}}\n",
      parameters, round, rounds);
}

}  // namespace sluice::hostcuda
