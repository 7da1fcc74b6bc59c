// Printing a parsed module gives text that parses to an equal tree and that ptxas accepts.
#include <cstdlib>

#include <gtest/gtest.h>
#include <unistd.h>

#include "corpus.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace sluice::ptx::test {
namespace {

class RoundTrip : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto parsed = parse(read_text(corpus_path(GetParam())), GetParam());
    ASSERT_TRUE(parsed) << parsed.error().line();
    module_ = std::move(*parsed);
  }
  Module module_;
};

TEST_P(RoundTrip, PrintedTextParsesToTheSameTree) {
  std::string text = print(module_);
  auto again = parse(text, "printed");
  ASSERT_TRUE(again) << again.error().line();
  EXPECT_TRUE(*again == module_);
  EXPECT_EQ(print(*again), text);
}

TEST_P(RoundTrip, PrintedTextIsAcceptedByPtxas) {
  std::string stem = testing::TempDir() + "sluice_ptx_" + std::to_string(getpid()) + GetParam();
  std::ofstream(stem + ".ptx") << print(module_);
  // ptxas assembles text for an older target than it knows machines of, for any newer machine.
  std::string target = module_.target.at(0) == "sm_60" ? "sm_75" : module_.target.at(0);
  std::string command =
      std::string(SLUICE_PTXAS) + " -arch=" + target + " -o " + stem + ".cubin " + stem + ".ptx";
  EXPECT_EQ(std::system(command.c_str()), 0) << print(module_);
  std::filesystem::remove(stem + ".ptx");
  std::filesystem::remove(stem + ".cubin");
}

TEST_P(RoundTrip, TreesDifferWhenOneInstructionDoes) {
  Module changed = module_;
  for (ModuleItem& item : changed.items) {
    auto* function = std::get_if<Function>(&item);
    if (function && function->is_definition) function->body.statements.pop_back();
  }
  EXPECT_FALSE(changed == module_);
}

INSTANTIATE_TEST_SUITE_P(Corpus, RoundTrip, testing::ValuesIn(corpus()),
                         [](const auto& info) { return info.param; });

TEST(Corpus, HoldsEveryKindOfText) {
  EXPECT_GE(corpus().size(), 20u);
  for (const char* name : {"struct_argument_debug", "device_calls_lineinfo", "old_style"}) {
    EXPECT_TRUE(std::filesystem::exists(corpus_path(name))) << name;
  }
}

}  // namespace
}  // namespace sluice::ptx::test
