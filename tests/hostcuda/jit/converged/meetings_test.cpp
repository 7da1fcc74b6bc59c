// Where lanes of a warp are made to meet, and where not: a kernel with a barrier wherever one is
// needed is compiled as if there were no warps.
#include "hostcuda/jit/converged/meetings.hpp"

#include <gtest/gtest.h>

namespace sluice::hostcuda {
namespace {

struct Case {
  const char* file;
  const char* kernel;
  Dim3 block;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const Case& of = info.param;
  return std::string(of.file) + "_" + of.kernel + "_" + std::to_string(of.block.x) + "_" +
         std::to_string(of.block.y);
}

class NoMeetings : public testing::TestWithParam<Case> {};

TEST_P(NoMeetings, WhereEveryExchangeHasABarrier) {
  const Case& given = GetParam();
  EXPECT_EQ(meetings_in(ptx_of(given.file), given.kernel, given.block), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, NoMeetings,
    testing::Values(
        Case{"synchronised", "reduce", {256}}, Case{"synchronised", "reduce_some", {256}},
        Case{"synchronised", "reduce_full", {256}},
        Case{"synchronised", "reduce_interleaved", {256}},
        Case{"synchronised", "reduce_strided", {256}}, Case{"synchronised", "scan_twofold", {256}},
        Case{"synchronised", "bitonic_some", {256}}, Case{"synchronised", "transpose", {32, 8}},
        Case{"synchronised", "transpose", {32, 32}}, Case{"synchronised", "transpose", {16, 16}},
        Case{"synchronised", "bitonic", {256}}, Case{"synchronised", "stencil_steps", {16, 16}},
        Case{"synchronised", "stencil_within", {16, 16}}, Case{"synchronised", "bodies", {256}},
        Case{"synchronised", "histogram", {256}}, Case{"synchronised", "diagonals", {16}},
        Case{"synchronised", "cholesky", {16}}, Case{"synchronised", "solve_sides", {32}},
        Case{"synchronised", "scatter", {256}}, Case{"synchronised", "saxpy", {256}},
        Case{"synchronised", "stencil_rows", {128}}, Case{"synchronised", "column_in_place", {128}},
        Case{"synchronised", "part_in_place", {128}}, Case{"synchronised", "paths", {256}},
        Case{"synchronised", "look_up", {256}}, Case{"gemm_tiled", "gemm_tiled", {16, 16}},
        Case{"gemm_tiled", "reverse_dynamic", {128}}, Case{"jit_warps", "block_sum", {256}},
        Case{"jit_warps", "warp_barrier", {64}}),
    name_of);

class Meetings : public testing::TestWithParam<Case> {};

TEST_P(Meetings, WhereLanesExchange) {
  const Case& given = GetParam();
  EXPECT_GT(meetings_in(ptx_of(given.file), given.kernel, given.block), 0U);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Meetings,
                         testing::Values(Case{"converged", "tree_volatile", {256}},
                                         Case{"converged", "tree_plain", {256}},
                                         Case{"converged", "table", {256}},
                                         Case{"converged", "shift_in_place", {128}},
                                         Case{"converged", "substitute", {32}},
                                         Case{"converged", "sort_in_buffer", {64}},
                                         Case{"converged", "scan_in_buffer", {32}}),
                         name_of);

}  // namespace
}  // namespace sluice::hostcuda
