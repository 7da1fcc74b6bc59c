// Single instructions come out in the form that ptxas takes.
#include "ptx/printer.hpp"

#include <gtest/gtest.h>

#include "ptx/parser.hpp"

namespace sluice::ptx::test {
namespace {

// The printed form of the first instruction of a kernel with this body.
std::string reprint(const std::string& statement) {
  auto module = parse(".version 8.0 .target sm_90 .global .u32 a[4]; .entry k {" + statement + "}");
  if (!module) return module.error().line();
  const auto& statements = module->find_function("k")->body.statements;
  return print(std::get<Instruction>(statements.at(0)));
}

TEST(Printer, KeepsModifiersAndGuards) {
  EXPECT_EQ(reprint("@!%p1 ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1,%f2},[%rd1+-8] ;"),
            "@!%p1 ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1, %f2}, [%rd1+-8];");
  EXPECT_EQ(reprint("@ p bra $L1;"), "@p bra $L1;");
  EXPECT_EQ(reprint("ret;"), "ret;");
}

TEST(Printer, WritesLiteralsByTheirBits) {
  EXPECT_EQ(reprint("mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF;"), "mov.u64 %rd1, 18446744073709551615U;");
  EXPECT_EQ(reprint("mov.u64 %rd1, -9223372036854775808;"), "mov.u64 %rd1, 9223372036854775808U;");
  EXPECT_EQ(reprint("mov.b32 %r1, -0x10;"), "mov.b32 %r1, -16;");
  EXPECT_EQ(reprint("mov.f32 %f1, 0f3f8ccccd;"), "mov.f32 %f1, 0f3F8CCCCD;");
  EXPECT_EQ(reprint("mov.f64 %fd1, -2.5;"), "mov.f64 %fd1, 0dC004000000000000;");
  EXPECT_EQ(reprint("mov.f64 %fd1, 1.0 / 4.0;"), "mov.f64 %fd1, 0d3FD0000000000000;");
}

TEST(Printer, WritesEveryOperandForm) {
  EXPECT_EQ(reprint("setp.lt.and.s32 %p1 | _ , %r1, %tid.x, ! %p2;"),
            "setp.lt.and.s32 %p1|_, %r1, %tid.x, !%p2;");
  EXPECT_EQ(reprint("call.uni (%r1), f, (%r2, 3), proto;"), "call.uni (%r1), f, (%r2, 3), proto;");
  EXPECT_EQ(reprint("tex.2d.v4.f32.f32 {a,b,c,d}, [t, {x, y}];"),
            "tex.2d.v4.f32.f32 {a, b, c, d}, [t, {x, y}];");
  EXPECT_EQ(reprint("ld.local.u32 r, [16];"), "ld.local.u32 r, [16];");
  EXPECT_EQ(reprint("mov.u64 r, a+4;"), "mov.u64 r, a+4;");
  EXPECT_EQ(reprint("mov.u64 r, a[2];"), "mov.u64 r, a+8;");
  EXPECT_EQ(reprint("ld.global.u32 r, a[2];"), "ld.global.u32 r, [a+8];");
}

}  // namespace
}  // namespace sluice::ptx::test
