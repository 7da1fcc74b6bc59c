// 32-bit quotients and remainders of vectors of threads are those of integers.
#include "hostcuda/jit/vectors/vector_divisions.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/run_pass.hpp"

namespace sluice::hostcuda {
namespace {

// Signed quotients and remainders, then unsigned ones, each `count` words behind the one before.
const char* const divisions =
    ".version 8.5\n.target sm_90\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 left, .param .u64 right, .param .u64 out,\n"
    " .param .u32 count) {\n.reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
    "ld.param.u64 %rd0, [left];\nld.param.u64 %rd1, [right];\nld.param.u64 %rd2, [out];\n"
    "ld.param.u32 %r9, [count];\nmov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\n"
    "mov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r0, %r1, %r2;\nsetp.ge.u32 %p0, %r3, %r9;\n"
    "@%p0 ret;\nmul.wide.u32 %rd3, %r3, 4;\nmul.wide.u32 %rd4, %r9, 4;\n"
    "add.u64 %rd5, %rd0, %rd3;\nadd.u64 %rd6, %rd1, %rd3;\nadd.u64 %rd7, %rd2, %rd3;\n"
    "ld.global.u32 %r4, [%rd5];\nld.global.u32 %r5, [%rd6];\n"
    "div.s32 %r6, %r4, %r5;\nst.global.u32 [%rd7], %r6;\nadd.u64 %rd7, %rd7, %rd4;\n"
    "rem.s32 %r6, %r4, %r5;\nst.global.u32 [%rd7], %r6;\nadd.u64 %rd7, %rd7, %rd4;\n"
    "div.u32 %r6, %r4, %r5;\nst.global.u32 [%rd7], %r6;\nadd.u64 %rd7, %rd7, %rd4;\n"
    "rem.u32 %r6, %r4, %r5;\nst.global.u32 [%rd7], %r6;\nret;\n}\n";

uint32_t quotient(uint32_t left, uint32_t right, bool is_signed) {
  if (right == 0) return ~0U;
  if (!is_signed) return left / right;
  const auto wide = static_cast<int64_t>(static_cast<int32_t>(left));
  return static_cast<uint32_t>(wide / static_cast<int32_t>(right));
}

uint32_t remainder(uint32_t left, uint32_t right, bool is_signed) {
  return right == 0 ? left : left - quotient(left, right, is_signed) * right;
}

struct Pairs {
  std::vector<uint32_t> left, right;
  void add(uint32_t a, uint32_t b) {
    left.push_back(a);
    right.push_back(b);
  }
};

// Edges with each other, products and what lies beside them, and any.
Pairs make_pairs() {
  Pairs pairs;
  std::vector<uint32_t> edges = {0, 1, 2, 3, 7, 46340, 46341, 65535, 65536, 1U << 24U};
  for (const uint32_t edge : {1U << 31U, std::numeric_limits<uint32_t>::max()}) {
    for (uint32_t step = 0; step < 4; ++step)
      edges.insert(edges.end(), {edge - step, edge + step});
  }
  for (const uint32_t a : edges) {
    for (const uint32_t b : edges)
      pairs.add(a, b);
  }
  std::mt19937 engine(1);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t divisor = engine() >> (engine() % 32U);
    const uint32_t product = divisor * (engine() >> (engine() % 32U));
    for (const uint32_t step : {~0U, 0U, 1U})
      pairs.add(product + step, divisor);
    pairs.add(engine(), divisor);
  }
  return pairs;
}

TEST(VectorDivisions, AreThoseOfIntegers) {
  const Pairs pairs = make_pairs();
  const auto count = static_cast<uint32_t>(pairs.left.size());
  std::vector<uint32_t> out(size_t{4} * count);
  Kernels kernels(compile_text(divisions));
  kernels.run("kernel", {(count + 127) / 128}, {128}, 0, pairs.left.data(), pairs.right.data(),
              out.data(), count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t left = pairs.left[i];
    const uint32_t right = pairs.right[i];
    for (const bool is_signed : {true, false}) {
      const size_t at = i + (is_signed ? 0 : size_t{2} * count);
      ASSERT_EQ(out[at], quotient(left, right, is_signed)) << left << " / " << right;
      ASSERT_EQ(out[at + count], remainder(left, right, is_signed)) << left << " % " << right;
    }
  }
}

// A function with a loop over `count` numbers that does `operation` with each and %d.
std::string loop_with(const std::string& operation) {
  return "define void @f(ptr %p, i32 %d, i64 %count) {\nentry:\n  br label %loop\n"
         "loop:\n  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
         "  %place = getelementptr i32, ptr %p, i64 %i\n"
         "  %value = load i32, ptr %place, !llvm.access.group !1\n  %result = " +
         operation +
         "\n  store i32 %result, ptr %place, !llvm.access.group !1\n"
         "  %next = add i64 %i, 1\n  %again = icmp ult i64 %next, %count\n"
         "  br i1 %again, label %loop, label %done, !llvm.loop !0\ndone:\n  ret void\n}\n"
         "!0 = distinct !{!0, !2}\n!1 = distinct !{}\n!2 = !{!\"llvm.loop.parallel_accesses\", "
         "!1}\n";
}

TEST(VectorDivisions, AreMadeOfDivisionsByAnythingButConstants) {
  for (const auto& [operation, is_changed] :
       {std::pair{"sdiv i32 %value, %d", true}, std::pair{"urem i32 %d, %value", true},
        std::pair{"udiv i32 %value, 10", false}, std::pair{"mul i32 %value, %d", false}}) {
    run_pass<jit::VectorDivisionsPass>(
        loop_with(operation), nullptr,
        [&, is_changed = is_changed](const llvm::Function&, bool changed) {
          EXPECT_EQ(changed, is_changed);
        });
  }
}

}  // namespace
}  // namespace sluice::hostcuda
