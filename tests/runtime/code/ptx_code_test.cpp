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

// may_signal() is that of a kernel that has this instruction in its body.
bool may_signal(const std::string& instruction) {
  const std::string named = ".visible .entry atom_fence(.param .u64 atom_fence_param_0)\n{\n";
  const std::string behind = ".visible .entry last()\n{\n\tst.volatile.global.u32 [%rd1], 1;\n}\n";
  PtxCode code{{step, header + named + "\t" + instruction + ";\n\tret;\n}\n" + behind}};
  EXPECT_FALSE(code.may_signal("step"));
  EXPECT_TRUE(code.may_signal("last"));
  EXPECT_TRUE(code.may_signal("missing"));
  return code.may_signal("atom_fence");
}

TEST(PtxCodeTest, WhatReachesTheHostAtOnceMaySignalIt) {
  for (const char* strong :
       {"st.volatile.global.u32 [%rd1], 1", "ld.volatile.u32 %r1, [%rd1]", "membar.sys",
        "@%p1 red.global.add.u32 [%rd1], 1", "atom.global.cas.b32 %r1, [%rd1], 0, 1",
        "fence.acq_rel.sys", "st.relaxed.sys.global.u32 [%rd1], 1", "membar.gl",
        "call.uni anything, ()"}) {
    EXPECT_TRUE(may_signal(strong)) << strong;
  }
  for (const char* weak : {"st.global.u32 [%rd1], 1", "ld.volatile.shared.u32 %r1, [%rd1]",
                           "membar.cta", "atom.shared.add.u32 %r1, [%rd1], 1",
                           "redux.sync.add.s32 %r1, %r2, -1", "bar.sync 0", "mov.pred %p1, %p2"}) {
    EXPECT_FALSE(may_signal(weak)) << weak;
  }
}

TEST(PtxCodeTest, ManagedVariablesAreSeen) {
  EXPECT_FALSE(PtxCode({step, other}).has_managed_variables());
  EXPECT_TRUE(PtxCode({step, other + ".global .attribute(.managed) .align 4 .u32 flag;\n"})
                  .has_managed_variables());
}

}  // namespace
}  // namespace sluice::runtime
