// Every kernel that nvcc makes of the corpus lifts, or is refused for a reason that stands here.
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>

#include "ptx/corpus.hpp"
#include "ptx/lift.hpp"
#include "ptx/lift/lift_on_host.hpp"
#include "ptx/parser.hpp"

namespace sluice::ptx::test {
namespace {

// The refused kernels and what their error must hold.
const std::map<std::string, std::string>& refused() {
  static const std::map<std::string, std::string> kernels = {
      {"modern_architecture", "directive '.reqnctapercluster' is not supported"},
      {"walk", "its third source, selector and second operation do not fit"},
  };
  return kernels;
}

class LiftCorpus : public ::testing::TestWithParam<std::string> {};

TEST_P(LiftCorpus, LiftsVerifiesAndOptimises) {
  auto source = parse(read_text(corpus_path(GetParam())), GetParam());
  ASSERT_TRUE(source) << source.error().line();
  for (const Function* kernel : source->kernels()) {
    llvm::LLVMContext context;
    auto lifted = lift(context, *source, kernel->name);
    auto expected = refused().find(kernel->name);
    if (expected != refused().end()) {
      ASSERT_FALSE(lifted) << kernel->name;
      EXPECT_NE(lifted.error().line().find(expected->second), std::string::npos)
          << lifted.error().line();
      continue;
    }
    ASSERT_TRUE(lifted) << lifted.error().line();
    EXPECT_FALSE(llvm::verifyModule(**lifted)) << kernel->name;
    optimise(**lifted);
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, LiftCorpus, ::testing::ValuesIn(corpus()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sluice::ptx::test
