// Accesses of memory that only the block's code knows, told apart from the kernel's own.
#include "hostcuda/jit/threads/private_scopes.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

#include "hostcuda/jit/block_function.hpp"

namespace sluice::hostcuda::jit {
namespace {

// A loop in which all threads read `place` and write what they find to an array at `written`.
// Before it, both private memories are used so often that LLVM doesn't look whether their addresses
// get about.
std::string reading_loop(const std::string& written, const std::string& place) {
  std::string text =
      "entry:\n  %global = load ptr, ptr %origin\n  %cell = getelementptr i8, ptr %memory, i64 8\n";
  for (int i = 0; i < 120; ++i) {
    text += fmt::format(
        "  %k{0} = getelementptr i8, ptr %memory, i64 {1}\n  store i32 {0}, ptr %k{0}\n"
        "  %s{0} = getelementptr i8, ptr %shared, i64 {1}\n  store i32 {0}, ptr %s{0}\n",
        i, 64 * i);
  }
  return text +
         "  %found = load ptr, ptr %cell\n  br label %loop\nloop:\n"
         "  %i = phi i64 [0, %entry], [%next, %loop]\n  %in = getelementptr i8, ptr " +
         place +
         ", i64 64\n  %read = load i32, ptr %in\n"
         "  %at = getelementptr i32, ptr " +
         written +
         ", i64 %i\n  store i32 %read, ptr %at\n"
         "  %next = add i64 %i, 1\n  %more = icmp ult i64 %next, 256\n"
         "  br i1 %more, label %loop, label %out\nout:\n  ret void\n";
}

enum class Marked { none, memory, all };

// Whether the read leaves the loop.
bool leaves(Marked marked, const std::string& written, const std::string& place) {
  const BlockFunction parsed("", "ptr noalias %memory", reading_loop(written, place));
  llvm::Function* function = parsed.get();
  if (function == nullptr) return false;
  if (marked != Marked::none) {
    mark_scopes(*function, {.memory = function->getArg(function->arg_size() - 1),
                            .shared = marked == Marked::all ? function->getArg(0) : nullptr,
                            .origin = &function->getEntryBlock().front()});
  }
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true)
      .run(*function, functions);
  for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
    if (instruction.getName() == "read") return instruction.getParent()->getName() != "loop";
  }
  return false;
}

TEST(PrivateScopes, LetReadsLeaveLoopsThatWriteElsewhere) {
  EXPECT_FALSE(leaves(Marked::none, "%memory", "%global")) << "the marks are not needed any more";
  EXPECT_TRUE(leaves(Marked::memory, "%memory", "%global"));
  EXPECT_FALSE(leaves(Marked::none, "%shared", "%global"));
  EXPECT_TRUE(leaves(Marked::all, "%shared", "%global"));
  EXPECT_TRUE(leaves(Marked::all, "%global", "%shared"));
}

TEST(PrivateScopes, SayNothingOfOtherBases) {
  EXPECT_FALSE(leaves(Marked::all, "%memory", "%memory"));
  EXPECT_FALSE(leaves(Marked::all, "%global", "%global"));
  EXPECT_FALSE(leaves(Marked::all, "%memory", "%found"))
      << "an address that was kept may lead back";
  EXPECT_FALSE(leaves(Marked::memory, "%shared", "%global")) << "not known to be apart";
}

}  // namespace
}  // namespace sluice::hostcuda::jit
