// Bodies whose threads end early, linked and assembled: no lane that has ended waits in machine
// code for lanes that wait for it. A CPU device cannot show this, since its lanes never wait where
// an assembler lets them come together again.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/linker.hpp"
#include "megakernel/machine/machine_code.hpp"
#include "ptx/parser.hpp"
#include "ptx/target.hpp"

namespace sluice::megakernel {
namespace {

struct Case {
  const char* kernel;
  uint32_t threads;
};

constexpr Case cases[] = {
    {"end_beyond_data", 128},     {"end_beyond_data", 48},      {"end_turn_by_turn", 64},
    {"end_after_half", 96},       {"end_between_barriers", 80}, {"end_between_barriers", 128},
    {"end_before_groups", 128},   {"end_after_ballot", 192},    {"end_behind_call", 64},
    {"end_inside_barriers", 128}, {"end_by_label", 128},        {"end_by_label", 72}};

// Ends that are not the program's last statement: in a loop between barriers, and by branches to a
// label that stands before another branch to the end.
constexpr const char* more_kernels =
    ".visible .entry end_inside_barriers(.param .u64 out)\n{\n"
    ".reg .b32 %r<9>;\n.reg .b64 %rd<5>;\n.reg .pred %p<4>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.u64 %rd1, %rd1, %rd2;\nmov.u32 %r2, 0;\n"
    "again:\nbar.sync 0;\nld.global.u32 %r3, [%rd1];\nsetp.eq.u32 %p1, %r3, %r2;\n@%p1 exit;\n"
    "st.global.u32 [%rd1], %r2;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 9;\n"
    "@%p2 bra again;\nst.global.u32 [%rd1], %r1;\nret;\n}\n"
    ".visible .entry end_by_label(.param .u64 out)\n{\n"
    ".reg .b32 %r<9>;\n.reg .b64 %rd<5>;\n.reg .pred %p<4>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.u64 %rd1, %rd1, %rd2;\nld.global.u32 %r3, [%rd1];\nsetp.eq.u32 %p1, %r3, 0;\n"
    "@%p1 bra first;\nbar.sync 0;\nsetp.eq.u32 %p2, %r3, 1;\n@!%p2 bra second;\n"
    "bar.sync 0;\nst.global.u32 [%rd1], %r1;\nbra second;\nfirst:\nbra second;\nsecond:\nret;\n}\n";

// By architecture, and whether blocks run side by side where they may.
class LateDebts : public ::testing::TestWithParam<std::tuple<unsigned, bool>> {
 protected:
  static std::string source() {
    std::ifstream file(SLUICE_ENDING_LANES);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    return text + more_kernels;
  }

  // The place of the lanes' words, from the addresses that the rewriter wrote with it: the same for
  // all these kernels, since their parameters are of one size.
  static uint32_t words_of(const std::string& text) {
    constexpr std::string_view before = "[%sl_lane_own+";
    std::set<uint32_t> places;
    for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1))
      places.insert(static_cast<uint32_t>(std::stoul(text.substr(at + before.size()))));
    EXPECT_EQ(places.size(), 1U);
    return *places.begin();
  }

  // All cases in one megakernel, as far as the architecture takes them.
  static std::string link(unsigned architecture, bool in_groups) {
    const auto module = ptx::parse(source(), "ending_lanes");
    EXPECT_TRUE(module) << module.error().line();
    std::deque<TaskBody> bodies;
    std::vector<const TaskBody*> pointers;
    for (const Case& shown : cases) {
      auto body = rewrite_body(*module, shown.kernel, {shown.threads, 1, 1},
                               fmt::format("k{}_", bodies.size()));
      EXPECT_TRUE(body) << body.error().line();
      EXPECT_TRUE(body->meets_lanes || body->drops_out);
      body->beside.is_possible &= in_groups;
      if (ptx::target_age(body->target).architecture > architecture) continue;
      pointers.push_back(&bodies.emplace_back(std::move(*body)));
    }
    EXPECT_EQ(pointers.size() == std::size(cases), architecture >= 80);
    const auto linked = link_megakernel(pointers);
    EXPECT_TRUE(linked) << linked.error().line();
    return *linked;
  }
};

TEST_P(LateDebts, NoLaneThatHasEndedWaitsForThoseThatWaitForIt) {
  if (!testing::has_disassembler()) {
    GTEST_SKIP() << "nvdisasm is not in the toolkit (pip: nvidia-cuda-nvdisasm); machine code is "
                    "not looked at";
  }
  const auto [architecture, in_groups] = GetParam();
  const std::string linked = link(architecture, in_groups);
  const auto file = std::filesystem::path(::testing::TempDir()) /
                    fmt::format("late_debts_{}_{}.ptx", getpid(), architecture);
  std::ofstream(file) << linked;
  const auto code = testing::disassemble(file.string(), architecture);
  std::filesystem::remove(file);
  ASSERT_TRUE(code);
  // What is looked for is there: else nothing could ever be found.
  EXPECT_TRUE(std::any_of(code->instructions.begin(), code->instructions.end(),
                          [](const auto& one) { return one.is("BSSY"); }));
  const uint32_t words = words_of(linked);
  EXPECT_TRUE(
      std::any_of(code->instructions.begin(), code->instructions.end(), [&](const auto& one) {
        return one.is("STS") && one.operands.ends_with(fmt::format("+{:#x}], RZ", words));
      }));
  EXPECT_EQ(std::any_of(code->instructions.begin(), code->instructions.end(),
                        [](const auto& one) {
                          return one.function.find("sluice_groups_") != std::string::npos;
                        }),
            in_groups);
  EXPECT_THAT(testing::late_debts(*code, words), ::testing::IsEmpty());
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<unsigned, bool>>& info) {
  return fmt::format("sm_{}{}", std::get<0>(info.param),
                     std::get<1>(info.param) ? "_side_by_side" : "");
}
INSTANTIATE_TEST_SUITE_P(Architectures, LateDebts,
                         ::testing::Combine(::testing::Values(75U, 80U, 90U, 100U, 120U),
                                            ::testing::Bool()),
                         name_of);

}  // namespace
}  // namespace sluice::megakernel
