// The scheduler kernel and bodies as one module: what it asks for, and that ptxas takes it.
#include "megakernel/cuda/linker.hpp"

#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "megakernel/body_check.hpp"
#include "megakernel/statements_body.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace sluice::megakernel {
namespace {

TaskBody body_of(const char* version, const char* target, const char* prefix, uint32_t threads) {
  const std::string text = fmt::format(
      ".version {}\n.target {}\n.address_size 64\n"
      ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
      ".visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
      ".param .b64 pf;\n.param .b64 pa;\n.param .b32 pr;\n"
      "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\n"
      "st.param.b64 [pf], %rd1;\nst.param.b64 [pa], %rd1;\ncall (pr), vprintf, (pf, pa);\n"
      "mov.u32 %r1, %ctaid.x;\nst.global.u32 [%rd2], %r1;\nret;\n}}\n",
      version, target);
  const auto module = ptx::parse(text);
  EXPECT_TRUE(module) << module.error().line();
  auto body = rewrite_body(*module, "k", {threads, 1, 1}, prefix);
  EXPECT_TRUE(body) << body.error().line();
  return *body;
}

ptx::Module linked_module(std::vector<const TaskBody*> bodies) {
  const auto text = link_megakernel(bodies);
  EXPECT_TRUE(text) << text.error().line();
  auto module = ptx::parse(*text);
  EXPECT_TRUE(module) << module.error().line();
  return *module;
}

TEST(LinkedMegakernel, AsksForNoMoreThanTheProgramsItself) {
  const TaskBody old = body_of("6.0", "sm_50", "a_", 64);
  const TaskBody newer = body_of("7.8", "sm_90", "b_", 96);
  const TaskBody newest_target = body_of("8.0", "sm_90a", "c_", 32);
  EXPECT_TRUE(scheduler_ptx().find(".version 6.4\n") != std::string_view::npos);

  const ptx::Module of_old = linked_module({&old});
  EXPECT_EQ(of_old.version_major, 6U);
  EXPECT_EQ(of_old.version_minor, 4U);
  EXPECT_EQ(of_old.target.front(), "sm_75");
  const ptx::Module of_all = linked_module({&old, &newest_target, &newer});
  EXPECT_EQ(of_all.version_major, 8U);
  EXPECT_EQ(of_all.version_minor, 0U);
  EXPECT_EQ(of_all.target.front(), "sm_90a");
}

TEST(LinkedMegakernel, HasOneKernelForWorkersOfTheLargestBody) {
  const TaskBody small = body_of("7.0", "sm_75", "a_", 33);
  const TaskBody large = body_of("7.0", "sm_75", "b_", 200);
  const ptx::Module module = linked_module({&small, &large});
  ASSERT_EQ(module.kernels().size(), 1U);
  const ptx::Function& kernel = *module.kernels().front();
  EXPECT_EQ(kernel.name, megakernel_name);
  ASSERT_EQ(kernel.attributes.size(), 2U);
  EXPECT_EQ(kernel.attributes.front().name, "maxntid");
  EXPECT_EQ(kernel.attributes.front().arguments.front(), "224");
  EXPECT_EQ(kernel.attributes.back().name, "minnctapersm");
}

// A worker that is twice as wide or more runs several blocks of a task at once. Blocks that share
// memory or barriers meet between one and the next, in a function that calls the body for each.
TEST(LinkedMegakernel, RunsSmallBlocksSideBySideInWiderWorkers) {
  const auto meeting = [](const char* prefix, uint32_t threads) {
    auto body = testing::rewrite_statements("bar.sync 0;", {threads, 1, 1}, prefix);
    EXPECT_TRUE(body) << body.error().line();
    return std::move(*body);
  };
  const TaskBody small = meeting("a_", 64);
  const TaskBody as_small = meeting("b_", 96);
  const TaskBody large = meeting("c_", 192);
  EXPECT_EQ(linked_module({&small}).find_function("sluice_groups_a_k"), nullptr);
  EXPECT_EQ(linked_module({&small, &as_small}).find_function("sluice_groups_a_k"), nullptr);
  const ptx::Module wide = linked_module({&small, &as_small, &large});
  EXPECT_NE(wide.find_function("sluice_groups_a_k"), nullptr);
  EXPECT_NE(wide.find_function("sluice_groups_b_k"), nullptr);
  EXPECT_EQ(wide.find_function("sluice_groups_c_k"), nullptr);
}

TEST(LinkedMegakernel, HasWorkersOfTwoWarpsForBlocksOfOne) {
  const auto of_one_warp = [](const char* statements) {
    const auto body = testing::rewrite_statements(statements, {32, 1, 1});
    EXPECT_TRUE(body) << body.error().line();
    const TaskBody* const bodies[] = {&*body};
    return worker_threads(bodies);
  };
  EXPECT_EQ(of_one_warp("bar.sync 0;"), 64U);
  EXPECT_EQ(of_one_warp("ld.volatile.global.u32 %r3, [%r2];"), 32U);  // one at a time
  EXPECT_EQ(of_one_warp("barrier.red.or.pred %p1, 0, %p2;"), 32U);    // no barriers for two
}

TEST(LinkedMegakernel, MeetsBetweenBlocksThatAreNotIndependent) {
  const TaskBody wide = body_of("7.0", "sm_75", "a_", 256);
  const auto small = testing::rewrite_statements("bar.sync 1;", {64, 1, 1});
  ASSERT_TRUE(small) << small.error().line();
  const std::string linked = ptx::print(linked_module({&*small, &wide}));
  // Each group has two, and the second is the body's.
  for (const char* meets : {"@%sl_on barrier.sync 1, 64;", "@%sl_on barrier.sync 3, 64;",
                            "@%sl_at bar.sync 2, 64;", "@%sl_at bar.sync 4, 64;"})
    EXPECT_NE(linked.find(meets), std::string::npos) << meets << linked;
}

// Independent blocks follow each other within the body, one by one or in groups.
TEST(LinkedMegakernel, LeavesTheLoopOverBlocksToBodiesThatAreIndependent) {
  const TaskBody wide = body_of("7.0", "sm_75", "a_", 256);
  const auto small = testing::rewrite_statements("", {64, 1, 1});
  ASSERT_TRUE(small) << small.error().line();
  for (const auto& bodies : {std::vector{&*small}, {&*small, &wide}}) {
    const ptx::Module linked = linked_module(bodies);
    EXPECT_EQ(linked.find_function("sluice_groups_b_k"), nullptr);
    const std::string text = ptx::print(linked);
    EXPECT_NE(text.find("bra $sluice_block"), std::string::npos) << text;
    EXPECT_EQ(text.find("barrier.sync 1"), std::string::npos) << text;
  }
}

TEST(LinkedMegakernel, TakesNoMoreRegistersThanItIsTold) {
  const TaskBody body = body_of("7.0", "sm_75", "a_", 256);
  const TaskBody* const bodies[] = {&body};
  const auto text = link_megakernel(bodies, 40);
  ASSERT_TRUE(text) << text.error().line();
  EXPECT_NE(text->find(".maxnreg 40"), std::string::npos);
  EXPECT_EQ(text->find("minnctapersm"), std::string::npos);
}

class AssembledMegakernel : public ::testing::TestWithParam<unsigned> {};

// With one body the call is direct, with more it goes through a table of branches.
TEST_P(AssembledMegakernel, IsAssembledWithoutSpills) {
  const TaskBody first = body_of("6.4", "sm_75", "a_", 64);
  const TaskBody second = body_of("6.4", "sm_75", "b_", 64);
  const TaskBody wide = body_of("6.4", "sm_75", "c_", 256);
  for (const std::vector<const TaskBody*>& bodies :
       {std::vector{&first}, std::vector{&first, &second}, std::vector{&first, &wide}}) {
    const auto text = link_megakernel(bodies);
    ASSERT_TRUE(text) << text.error().line();
    const ScratchFolder scratch;
    const std::string file = scratch.file("linked.ptx");
    std::ofstream(file) << *text;
    const testing::Assembled assembled = testing::run_ptxas(file, GetParam());
    ASSERT_TRUE(assembled.accepted) << assembled.output;
    EXPECT_EQ(assembled.costs.at(megakernel_name).spills, 0);
  }
}

// A processor has few of them for all its workers.
TEST_P(AssembledMegakernel, TakesNoMoreBarriersThanItsGroupsNeed) {
  const auto barriers = [&](const char* statements, uint32_t threads) {
    const TaskBody wide = body_of("6.4", "sm_75", "a_", 256);
    const auto small = testing::rewrite_statements(statements, {threads, 1, 1});
    EXPECT_TRUE(small) << small.error().line();
    const TaskBody* const bodies[] = {&wide, &*small};
    const ScratchFolder scratch;
    const std::string file = scratch.file("linked.ptx");
    std::ofstream(file) << link_megakernel(bodies).value_or("nothing");
    const testing::Assembled assembled = testing::run_ptxas(file, GetParam());
    EXPECT_TRUE(assembled.accepted) << assembled.output;
    const size_t at = assembled.output.find(" barriers");
    const size_t before = at == std::string::npos ? at : assembled.output.rfind(' ', at - 1);
    return before == std::string::npos ? 0 : std::atoi(assembled.output.c_str() + before);
  };
  EXPECT_EQ(barriers("", 64), 1);  // the scheduler's
  EXPECT_EQ(barriers("bar.sync 0;", 64), 5);
  // Before sm_90, from where they limit workers, ptxas takes all for one that reduces.
  const int reducing = GetParam() >= 90 ? 5 : 16;
  EXPECT_EQ(barriers("bar.sync 0;\nbarrier.red.or.pred %p1, 1, %p2;", 64), reducing);
  EXPECT_EQ(barriers("bar.sync 0;\nbar.sync 1;", 32), 1);
}

INSTANTIATE_TEST_SUITE_P(Architectures, AssembledMegakernel,
                         ::testing::Values(75, 80, 90, 100, 120),
                         [](const auto& info) { return fmt::format("sm_{}", info.param); });

}  // namespace
}  // namespace sluice::megakernel
