// What loops leave behind, in small functions of LLVM's.
#include "analysis/rewrite/exit_values.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "llvm_analyses.hpp"

namespace sluice::analysis {
namespace {

// end_of() is the last block of a function of %n, which is 0 to 99, and %m, afterwards.
std::string end_of(const std::string& blocks) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(
      "define i32 @f(i32 range(i32 0, 100) %n, i32 %m) {\n" + blocks + "}\n", problem, context);
  EXPECT_NE(module, nullptr) << problem.getMessage().str();
  if (!module) return {};
  sluice::testing::LlvmAnalyses analyses;
  llvm::FunctionAnalysisManager& functions = analyses.functions;
  llvm::Function& function = *module->getFunction("f");
  make_exits_legible(function, {functions.getResult<llvm::ScalarEvolutionAnalysis>(function),
                                functions.getResult<llvm::LoopAnalysis>(function),
                                functions.getResult<llvm::DominatorTreeAnalysis>(function),
                                functions.getResult<llvm::LazyValueAnalysis>(function)});
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const llvm::Instruction& instruction : function.back())
    stream << instruction << "\n";
  return text;
}

// A loop that is entered where %n is not under `least`, and its exit is either %x or `else_value`.
std::string unrolled_by_four(const std::string& least, const std::string& else_value,
                             const std::string& step_of_count = "-4") {
  return "entry:\n"
         "  %few = icmp ult i32 %n, " +
         least +
         "\n"
         "  br i1 %few, label %end, label %before\n"
         "before:\n"
         "  %rest = and i32 %n, 3\n"
         "  %most = sub nsw i32 %n, %rest\n"
         "  br label %loop\n"
         "loop:\n"
         "  %at = phi i32 [ 0, %before ], [ %at.next, %loop ]\n"
         "  %left = phi i32 [ %most, %before ], [ %left.next, %loop ]\n"
         "  %at.next = add i32 %at, 4\n"
         "  %left.next = add i32 %left, " +
         step_of_count +
         "\n"
         "  %done = icmp eq i32 %left.next, 0\n"
         "  br i1 %done, label %end, label %loop\n"
         "end:\n"
         "  %x = phi i32 [ " +
         else_value +
         ", %entry ], [ %at.next, %loop ]\n"
         "  ret i32 %x\n";
}

TEST(ExitValues, AreWhatTheCountBeganWithForBothWays) {
  EXPECT_EQ(end_of(unrolled_by_four("4", "0")),
            "  %0 = and i32 %n, 3\n"
            "  %1 = sub i32 %n, %0\n"
            "  ret i32 %1\n");
}

TEST(ExitValues, AreToldApartWhereTheConstantIsAnother) {
  const std::string kept = "  %x = phi i32 [ 4, %entry ], [ %most, %loop ]\n  ret i32 %x\n";
  EXPECT_EQ(end_of(unrolled_by_four("4", "4")), kept);
}

TEST(ExitValues, AreToldApartWhereTheConstantIsRightForSomeNumbersOnly) {
  const std::string kept = "  %x = phi i32 [ 0, %entry ], [ %most, %loop ]\n  ret i32 %x\n";
  EXPECT_EQ(end_of(unrolled_by_four("5", "0")), kept);
}

// With twice the steps the count is through after half the rounds, and `at` has half the way.
TEST(ExitValues, StayWhereStepsDoNotDivide) {
  const std::string kept = "  %x = phi i32 [ 0, %entry ], [ %at.next, %loop ]\n  ret i32 %x\n";
  EXPECT_EQ(end_of(unrolled_by_four("4", "0", "-8")), kept);
}

TEST(ExitValues, StayWhereTheLoopEndsByWhatDoesNotMoveInSteps) {
  const std::string kept = "  %x = phi i32 [ %at.next, %loop ]\n  ret i32 %x\n";
  EXPECT_EQ(end_of("entry:\n"
                   "  br label %loop\n"
                   "loop:\n"
                   "  %at = phi i32 [ 0, %entry ], [ %at.next, %loop ]\n"
                   "  %left = phi i32 [ %n, %entry ], [ %left.next, %loop ]\n"
                   "  %at.next = add i32 %at, 1\n"
                   "  %left.next = lshr i32 %left, 1\n"
                   "  %done = icmp eq i32 %left.next, 0\n"
                   "  br i1 %done, label %end, label %loop\n"
                   "end:\n"
                   "  %x = phi i32 [ %at.next, %loop ]\n"
                   "  ret i32 %x\n"),
            kept);
}

// A loop that ends where its count is not under a bound may have gone past it.
TEST(ExitValues, StayWhereTheLoopEndsByAnOrder) {
  const std::string kept = "  %x = phi i32 [ %at.next, %loop ]\n  ret i32 %x\n";
  EXPECT_EQ(end_of("entry:\n"
                   "  br label %loop\n"
                   "loop:\n"
                   "  %at = phi i32 [ 0, %entry ], [ %at.next, %loop ]\n"
                   "  %at.next = add i32 %at, 4\n"
                   "  %goes = icmp ult i32 %at.next, %n\n"
                   "  br i1 %goes, label %loop, label %end\n"
                   "end:\n"
                   "  %x = phi i32 [ %at.next, %loop ]\n"
                   "  ret i32 %x\n"),
            kept);
}

}  // namespace
}  // namespace sluice::analysis
