// Loops over threads without their guards run the threads that the guards let through.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/run_pass.hpp"
#include "hostcuda/jit/stretches/thread_stretches.hpp"

namespace sluice::hostcuda {
namespace {

// A kernel whose threads write 1 where the guard does not send them to END. %r3 is a thread's place
// in its row, %r8 the place plus `base`, %r9 `limit`, %r10 the place plus `other`.
std::string kernel_of(const std::string& guard) {
  return ".version 8.5\n.target sm_90\n.address_size 64\n"
         ".visible .entry kernel(.param .u64 memory, .param .u32 base, .param .u32 limit,\n"
         ".param .u32 other) {\n"
         ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
         "ld.param.u64 %rd0, [memory];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
         "mov.u32 %r6, %ntid.x;\nmad.lo.u32 %r3, %r2, %r6, %r1;\nld.param.u32 %r7, [base];\n"
         "add.u32 %r8, %r3, %r7;\nld.param.u32 %r9, [limit];\nld.param.u32 %r11, [other];\n"
         "add.u32 %r10, %r3, %r11;\nmov.u32 %r12, %ctaid.y;\n" +
         guard +
         "mul.wide.u32 %rd1, %r3, 4;\nadd.u64 %rd2, %rd0, %rd1;\nst.global.u32 [%rd2], 1;\n"
         "END:\nret;\n}\n";
}

struct Values {
  uint32_t base = 0;
  uint32_t limit = 0;
  uint32_t other = 0;
};

constexpr uint32_t corners[] = {0,          1,          100,         220,
                                0x7fffff80, 0x7fffffff, 0x80000000,  0x80000001,
                                0xffffff90, 0xffffffff, 0x80000064U, 0x7fffffffU - 100};

// expect_lets_through() runs the guard with values around all corners of both orders of numbers.
void expect_lets_through(const std::string& guard,
                         const std::function<bool(uint32_t place, const Values&)>& lets_through) {
  Kernels kernels(compile_text(kernel_of(guard)));
  for (const uint32_t block : {32U, 24U}) {
    constexpr uint32_t grid = 7;
    for (const uint32_t base : corners) {
      for (const uint32_t limit : corners) {
        const Values values{base, limit, base / 3};
        std::vector<uint32_t> memory(block * grid, 7);
        kernels.run("kernel", {grid}, {block}, 0, memory.data(), base, limit, values.other);
        for (uint32_t place = 0; place < memory.size(); ++place) {
          ASSERT_EQ(memory[place], lets_through(place, values) ? 1U : 7U)
              << guard << "place " << place << " of blocks of " << block << ", base " << base
              << ", limit " << limit;
        }
      }
    }
  }
}

int32_t as_signed(uint32_t value) {
  return static_cast<int32_t>(value);
}

struct Order {
  const char* name;
  bool (*holds)(uint32_t, uint32_t);
};
const Order orders[] = {
    {"lt.u32", [](uint32_t a, uint32_t b) { return a < b; }},
    {"le.u32", [](uint32_t a, uint32_t b) { return a <= b; }},
    {"gt.u32", [](uint32_t a, uint32_t b) { return a > b; }},
    {"ge.u32", [](uint32_t a, uint32_t b) { return a >= b; }},
    {"lt.s32", [](uint32_t a, uint32_t b) { return as_signed(a) < as_signed(b); }},
    {"le.s32", [](uint32_t a, uint32_t b) { return as_signed(a) <= as_signed(b); }},
    {"gt.s32", [](uint32_t a, uint32_t b) { return as_signed(a) > as_signed(b); }},
    {"ge.s32", [](uint32_t a, uint32_t b) { return as_signed(a) >= as_signed(b); }},
    {"eq.u32", [](uint32_t a, uint32_t b) { return a == b; }},
    {"ne.u32", [](uint32_t a, uint32_t b) { return a != b; }},
};

TEST(JitBounds, AGuardOfEachOrder) {
  for (const Order& order : orders) {
    expect_lets_through(fmt::format("setp.{} %p1, %r8, %r9;\n@!%p1 bra END;\n", order.name),
                        [&](uint32_t place, const Values& values) {
                          return order.holds(place + values.base, values.limit);
                        });
  }
}

TEST(JitBounds, AGuardWithItsLimitBefore) {
  for (const Order& order : orders) {
    expect_lets_through(fmt::format("setp.{} %p1, %r9, %r8;\n@%p1 bra END;\n", order.name),
                        [&](uint32_t place, const Values& values) {
                          return !order.holds(values.limit, place + values.base);
                        });
  }
}

TEST(JitBounds, SeveralGuardsOfSeveralSums) {
  expect_lets_through(
      "setp.lt.s32 %p1, %r8, 1;\nsetp.ge.s32 %p2, %r8, %r9;\nor.pred %p3, %p1, %p2;\n"
      "setp.gt.u32 %p4, %r10, 0x7ffffff0;\nor.pred %p5, %p3, %p4;\n@%p5 bra END;\n",
      [](uint32_t place, const Values& values) {
        const int32_t sum = as_signed(place + values.base);
        return sum >= 1 && sum < as_signed(values.limit) && place + values.other <= 0x7ffffff0;
      });
}

TEST(JitBounds, AGuardThatIsTheSameForAllThreads) {
  expect_lets_through(
      "setp.lt.u32 %p1, %r8, 200;\nsetp.gt.u32 %p2, %r9, 1000;\nand.pred %p3, %p1, %p2;\n"
      "@!%p3 bra END;\n",
      [](uint32_t place, const Values& values) {
        return place + values.base < 200 && values.limit > 1000;
      });
}

TEST(JitBounds, AGuardThatSkipsAllThreads) {
  expect_lets_through(
      "setp.ge.u32 %p1, %r8, 200;\nand.b32 %r13, %r9, 1;\nsetp.eq.u32 %p2, %r13, 0;\n"
      "or.pred %p3, %p1, %p2;\n@%p3 bra END;\n",
      [](uint32_t place, const Values& values) {
        return place + values.base < 200 && values.limit % 2 == 1;
      });
}

TEST(JitBounds, AGuardThatOnlyPartlyBounds) {
  expect_lets_through(
      "setp.lt.s32 %p1, %r8, %r9;\nand.b32 %r13, %r3, 5;\nsetp.eq.u32 %p2, %r13, 4;\n"
      "and.pred %p3, %p1, %p2;\n@!%p3 bra END;\n",
      [](uint32_t place, const Values& values) {
        return as_signed(place + values.base) < as_signed(values.limit) && (place & 5U) == 4;
      });
}

// A kernel whose threads let through by `guard` write what %r8 is with its sign, and without.
std::string extending_kernel(const std::string& guard) {
  return ".version 8.5\n.target sm_90\n.address_size 64\n"
         ".visible .entry kernel(.param .u64 memory, .param .u32 base, .param .u32 limit) {\n"
         ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
         "ld.param.u64 %rd0, [memory];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
         "mov.u32 %r6, %ntid.x;\nmad.lo.u32 %r3, %r2, %r6, %r1;\nld.param.u32 %r7, [base];\n"
         "add.u32 %r8, %r3, %r7;\nld.param.u32 %r9, [limit];\n" +
         guard +
         "mul.wide.u32 %rd1, %r3, 16;\nadd.u64 %rd2, %rd0, %rd1;\ncvt.s64.s32 %rd3, %r8;\n"
         "cvt.u64.u32 %rd4, %r8;\nst.global.u64 [%rd2], %rd3;\nst.global.u64 [%rd2+8], %rd4;\n"
         "END:\nret;\n}\n";
}

TEST(JitBounds, ExtendedSumsUnderAGuard) {
  Kernels kernels(compile_text(extending_kernel("setp.ge.u32 %p1, %r3, %r9;\n@%p1 bra END;\n")));
  constexpr uint32_t block = 32;
  constexpr uint32_t grid = 7;
  for (const uint32_t base : corners) {
    for (const uint32_t limit : {0U, 1U, 100U, 250U}) {
      std::vector<uint64_t> memory(size_t{2} * block * grid, 7);
      kernels.run("kernel", {grid}, {block}, 0, memory.data(), base, limit);
      for (uint32_t place = 0; place < block * grid; ++place) {
        const uint32_t sum = place + base;
        const bool runs = place < limit;
        const auto with_sign = static_cast<uint64_t>(static_cast<int64_t>(as_signed(sum)));
        ASSERT_EQ(memory[2 * place], runs ? with_sign : 7U) << "base " << base << " at " << place;
        ASSERT_EQ(memory[2 * place + 1], runs ? sum : 7U) << "base " << base << " at " << place;
      }
    }
  }
}

// has_bounds() runs the pass over a loop with such a header and says whether it took the guard.
bool has_bounds(const std::string& header, const std::string& latch = "") {
  const std::string text = fmt::format(R"(
define void @f(ptr %memory, i32 %count, i32 %base, i32 %limit) {{
entry:
  br label %round
round:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %x = add i32 %base, %i
  {}
  br i1 %guard, label %body, label %latch
body:
  %at = getelementptr i32, ptr %memory, i32 %i
  store i32 1, ptr %at, !llvm.access.group !1
  br label %latch
latch:
  {}
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %round, label %done, !llvm.loop !0
done:
  ret void
}}
!0 = distinct !{{!0, !2}}
!1 = distinct !{{}}
!2 = !{{!"llvm.loop.parallel_accesses", !1}}
)",
                                       header, latch);
  bool changed = false;
  run_pass<jit::ThreadStretchesPass>(
      text, nullptr, [&](const llvm::Function&, bool by_the_pass) { changed = by_the_pass; });
  return changed;
}

TEST(JitBounds, AreTakenFromComparisonsOfTheIndex) {
  EXPECT_TRUE(has_bounds("%guard = icmp slt i32 %x, %limit"));
  EXPECT_TRUE(has_bounds("%guard = icmp ugt i32 %limit, %i"));
  EXPECT_TRUE(
      has_bounds("%a = icmp sgt i32 %x, 0\n%b = icmp slt i32 %x, %limit\n"
                 "%guard = select i1 %a, i1 %b, i1 false"));
}

TEST(JitBounds, AreNotTakenFromOtherGuards) {
  EXPECT_FALSE(has_bounds("%guard = icmp ne i32 %x, %limit"));
  EXPECT_FALSE(has_bounds("%y = mul i32 %x, 3\n%guard = icmp slt i32 %y, %limit"));
  EXPECT_FALSE(
      has_bounds("%a = icmp sgt i32 %x, 9\n%b = icmp slt i32 %x, %limit\n"
                 "%guard = or i1 %a, %b"));
}

TEST(JitBounds, AreNotTakenWhereARoundDoesMore) {
  const std::string store = "store i32 %i, ptr %memory";
  EXPECT_FALSE(has_bounds(store + "\n%guard = icmp slt i32 %x, %limit"));
  EXPECT_FALSE(has_bounds("%guard = icmp slt i32 %x, %limit", store));
  EXPECT_FALSE(has_bounds("%guard = icmp slt i32 %x, %limit",
                          "%value = phi i32 [ 1, %round ], [ 2, %body ]"));
}

}  // namespace
}  // namespace sluice::hostcuda
