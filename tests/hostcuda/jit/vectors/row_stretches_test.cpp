// Threads that divide their number by a width: row by row, and the same where there are no rows.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

constexpr uint32_t threads = 256;
constexpr uint32_t blocks = 3;

// Thread n of the grid, from first on, writes (first + n) / width and the rest.
std::string kernel(const std::string& type, const std::string& width) {
  return fmt::format(
      ".version 7.5\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u32 first, .param .u32 width, .param .u32 count) "
      "{{\n.reg .pred %p; .reg .b32 %r<12>; .reg .b64 %a<4>;\n"
      "ld.param.u64 %a1, [out];\nld.param.u32 %r1, [first];\nld.param.u32 %r2, [width];\n"
      "ld.param.u32 %r11, [count];\nmov.u32 %r3, %tid.x;\nmov.u32 %r4, %ctaid.x;\n"
      "mad.lo.u32 %r5, %r4, {0}, %r3;\nsetp.ge.u32 %p, %r5, %r11;\n@%p bra END;\n"
      "add.u32 %r6, %r5, %r1;\ndiv.{1} %r7, %r6, {2};\nrem.{1} %r8, %r6, {2};\n"
      "mul.wide.u32 %a2, %r5, 8;\nadd.u64 %a2, %a1, %a2;\n"
      "st.global.u32 [%a2], %r7;\nst.global.u32 [%a2+4], %r8;\nEND:\nret;\n}}\n",
      threads, type, width);
}

void expect_rows(bool is_signed, bool is_constant, uint32_t first, uint32_t width, uint32_t count) {
  std::unique_ptr<CompiledModule> module = compile_text(
      kernel(is_signed ? "s32" : "u32", is_constant ? std::to_string(int32_t(width)) : "%r2"));
  ASSERT_NE(module, nullptr);
  std::vector<uint32_t> out(2 * blocks * threads, 7);
  Kernels(std::move(module)).run("k", {blocks}, {threads}, 0, out.data(), first, width, count);
  for (uint32_t n = 0; n < blocks * threads; ++n) {
    const uint32_t number = first + n;
    uint32_t quotient =
        is_signed ? uint32_t(int64_t(int32_t(number)) / int32_t(width)) : number / width;
    uint32_t rest = number - quotient * width;
    if (n >= count) quotient = rest = 7;
    ASSERT_EQ(out[2 * n], quotient) << number << " / " << width << ", " << is_signed;
    ASSERT_EQ(out[2 * n + 1], rest) << number << " % " << width << ", " << is_signed;
  }
}

TEST(RowStretches, CountThroughRowsOfEachWidth) {
  for (const uint32_t width :
       {1U, 2U, 3U, 63U, 64U, 65U, 100U, 255U, 256U, 257U, 1000U, 1U << 30U}) {
    for (const uint32_t first : {0U, 1U, 63U, 99U, 12345U}) {
      expect_rows(true, false, first, width, blocks * threads);
      expect_rows(false, false, first, width, 700);
    }
  }
}

TEST(RowStretches, KnowConstantWidths) {
  for (const uint32_t width : {64U, 100U, 512U})
    expect_rows(true, true, 17, width, blocks * threads);
}

// Below zero quotients are those of magnitudes, and the greatest number is followed by the least.
TEST(RowStretches, CountThroughZeroAndBeyondTheGreatestNumber) {
  for (const uint32_t first :
       {uint32_t(-1000), uint32_t(-300), uint32_t(-100), 0x7FFFFF00U, 0xFFFFFF00U}) {
    for (const uint32_t width : {64U, 100U, 300U}) {
      expect_rows(true, false, first, width, blocks * threads);
      expect_rows(false, false, first, width, blocks * threads);
    }
    expect_rows(true, false, first, uint32_t(-100), blocks * threads);
    expect_rows(true, true, first, uint32_t(-100), blocks * threads);
    expect_rows(false, false, first, 0xC0000000U, blocks * threads);
  }
}

}  // namespace
}  // namespace sluice::hostcuda
