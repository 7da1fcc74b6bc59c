#include "runtime/code/ptx_code.hpp"

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

const std::string header = ".version 8.0\n.target sm_75\n.address_size 64\n";
const std::string step =
    header + ".extern .func elsewhere;\n.visible .entry step()\n{\n\tret;\n}\n";
const std::string other = header + ".visible .entry other()\n{\n\tret;\n}\n";

TEST(PtxCodeTest, GivesItsModuleForTheKernelsThatItDefines) {
  PtxCode code{{step, other}};
  const Result<const ptx::Module*> module = code.module_with("step");
  ASSERT_TRUE(module) << module.error().line();
  EXPECT_NE((*module)->find_function("step"), nullptr);
  EXPECT_EQ(*code.module_with("other"), *module);
}

TEST(PtxCodeTest, RefusesWhatItOnlyMentionsAndWhatItLacks) {
  PtxCode code{{step}};
  for (const char* name : {"elsewhere", "ste", "missing"})
    EXPECT_EQ(code.module_with(name).error().what, "its PTX holds no kernel of that name");
}

TEST(PtxCodeTest, TextThatIsNoPtxIsAnErrorForTheKernelsThatItMentions) {
  PtxCode code{{"step is not defined like this"}};
  for (int again = 0; again < 2; ++again)
    EXPECT_NE(code.module_with("step").error().what, "its PTX holds no kernel of that name");
  EXPECT_EQ(code.module_with("other").error().what, "its PTX holds no kernel of that name");
}

TEST(PtxCodeTest, TheDigestTellsUnitsApart) {
  EXPECT_EQ(PtxCode({step, other}).digest(), PtxCode({step, other}).digest());
  EXPECT_NE(PtxCode({step, other}).digest(), PtxCode({other, step}).digest());
  EXPECT_NE(PtxCode({step}).digest(), PtxCode({step, other}).digest());
  EXPECT_NE(PtxCode({step + other}).digest(), PtxCode({step, other}).digest());
}

}  // namespace
}  // namespace sluice::runtime
