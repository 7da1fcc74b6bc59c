// Divisions by what a loop does not change become multiplications, and give the same bits.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/run_pass.hpp"
#include "hostcuda/jit/vectors/vector_divisions.hpp"

namespace sluice::hostcuda {
namespace {

// Each thread divides its number by the argument: quotient and rest, signed and unsigned.
constexpr const char* dividing_kernel =
    ".version 8.5\n.target sm_90\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 from, .param .u64 to, .param .u32 by) {\n"
    ".reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
    "ld.param.u64 %rd0, [from];\nld.param.u64 %rd1, [to];\nld.param.u32 %r0, [by];\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
    "mad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.s32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd0, %rd2;\n"
    "ld.global.u32 %r5, [%rd3];\nmul.wide.s32 %rd4, %r4, 16;\nadd.s64 %rd5, %rd1, %rd4;\n"
    "div.s32 %r6, %r5, %r0;\nrem.s32 %r7, %r5, %r0;\ndiv.u32 %r8, %r5, %r0;\n"
    "rem.u32 %r9, %r5, %r0;\nst.global.u32 [%rd5], %r6;\nst.global.u32 [%rd5+4], %r7;\n"
    "st.global.u32 [%rd5+8], %r8;\nst.global.u32 [%rd5+12], %r9;\nret;\n}\n";

constexpr uint32_t most = std::numeric_limits<uint32_t>::max();

// Numbers near which a rounded quotient might be the wrong one.
std::vector<uint32_t> edges() {
  std::vector<uint32_t> found = {0, 1, 2, 3, 5, 7, 10, 1023, 1025, 46341, 65535, 65537, 1000003};
  for (const uint32_t power : {1U << 23U, 1U << 24U, 1U << 30U, 1U << 31U, most - 1, most})
    for (const uint32_t near : {power - 1, power, power + 1})
      found.push_back(near);
  return found;
}

// The numbers, and those around multiples of the divisor.
std::vector<uint32_t> dividends(uint32_t divisor) {
  std::vector<uint32_t> numbers = edges();
  const uint64_t last = most / std::max(1U, divisor);
  for (const uint64_t multiple : {uint64_t{1}, uint64_t{3}, uint64_t{1000}, last}) {
    const auto number = static_cast<uint32_t>(multiple * divisor);
    for (const uint32_t near : {number - 1, number, number + 1, 0U - number, 1U - number})
      numbers.push_back(near);
  }
  numbers.resize((numbers.size() + 15) / 16 * 16);
  return numbers;
}

// Sums in 64 bits; by zero the quotient has all bits and the rest is the dividend.
std::vector<uint32_t> expected(uint32_t number, uint32_t by) {
  if (by == 0) return {most, number, most, number};
  const int64_t x = static_cast<int32_t>(number);
  const int64_t d = static_cast<int32_t>(by);
  return {static_cast<uint32_t>(x / d), static_cast<uint32_t>(x % d), number / by, number % by};
}

TEST(UniformDivisions, GiveTheSameBits) {
  Kernels kernels(compile_text(dividing_kernel));
  for (const uint32_t by : edges()) {
    const std::vector<uint32_t> numbers = dividends(by);
    std::vector<uint32_t> got(4 * numbers.size());
    kernels.run("kernel", {static_cast<uint32_t>(numbers.size() / 16)}, {16}, 0, numbers.data(),
                got.data(), by);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const std::vector<uint32_t> here(got.begin() + 4 * i, got.begin() + 4 * i + 4);
      EXPECT_EQ(here, expected(numbers[i], by)) << numbers[i] << " by " << by;
    }
  }
}

// divisions_in() is how many divisions of integers and of doubles the pass leaves in a function
// with two loops in each other, of which the inner one divides by such a number.
struct Divisions {
  unsigned integers = 0;
  unsigned doubles_before = 0;  // in the entry, before both loops
};

Divisions divisions_in(const std::string& divisor) {
  const std::string text = fmt::format(R"(
define void @f(ptr %memory, i32 %width, i32 %rounds) {{
entry:
  br label %outer
outer:
  %row = phi i32 [ 1, %entry ], [ %row_next, %outer_end ]
  br label %inner
inner:
  %t = phi i32 [ 0, %outer ], [ %t_next, %inner ]
  %column = urem i32 %t, {0}
  %line = sdiv i32 %t, {0}
  %sum = add i32 %column, %line
  %place = getelementptr i32, ptr %memory, i32 %t
  store i32 %sum, ptr %place
  %t_next = add nuw nsw i32 %t, 1
  %more = icmp ne i32 %t_next, %rounds
  br i1 %more, label %inner, label %outer_end
outer_end:
  %row_next = add nuw nsw i32 %row, 1
  %again = icmp ne i32 %row_next, %rounds
  br i1 %again, label %outer, label %done
done:
  ret void
}}
)",
                                       divisor);
  Divisions found;
  run_pass<jit::VectorDivisionsPass>(text, nullptr, [&](const llvm::Function& function, bool) {
    for (const llvm::BasicBlock& block : function) {
      for (const llvm::Instruction& each : block) {
        if (each.isIntDivRem()) ++found.integers;
        if (each.getOpcode() == llvm::Instruction::FDiv && &block == &function.getEntryBlock())
          ++found.doubles_before;
      }
    }
  });
  return found;
}

TEST(UniformDivisions, AreMultiplicationsByWhatWasDividedOnce) {
  const Divisions found = divisions_in("%width");
  EXPECT_EQ(found.integers, 0U);
  EXPECT_EQ(found.doubles_before, 2U) << "one for signed numbers and one for others";
}

TEST(UniformDivisions, LeaveWhatEachRoundDividesByAnotherNumberAndConstants) {
  EXPECT_EQ(divisions_in("%t").integers, 2U);
  EXPECT_EQ(divisions_in("1000").integers, 2U);
}

}  // namespace
}  // namespace sluice::hostcuda
