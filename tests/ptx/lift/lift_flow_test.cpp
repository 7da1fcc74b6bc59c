// Guards, predicates, branches, loops, calls and memory of lifted kernels, run on the host.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

// body() is a kernel whose %m is the address of its memory.
std::string body(const std::string& instructions, const std::string& functions = "") {
  return unit(functions +
              ".visible .entry k(.param .u64 memory)\n{\n"
              ".reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<10>;\n"
              ".reg .f32 %f<10>;\n.reg .b64 %m;\nld.param.u64 %m, [memory];\n" +
              instructions + "\n}\n");
}

std::vector<uint64_t> run(const std::string& ptx, std::vector<uint64_t> memory) {
  HostKernel(ptx, "k").run(memory);
  return memory;
}

TEST(LiftFlow, GuardedArithmeticKeepsTheOldValue) {
  const Operation taken("mov.u32 %r9, 7;\n@%p0 add.s32 %r9, %r0, %r1;", "%r9");
  EXPECT_EQ(taken(5, 6), 11U);
  EXPECT_EQ(taken(0, 6), 7U);
  const Operation negated("mov.u32 %r9, 7;\n@!%p0 mov.u32 %r9, %r1;", "%r9");
  EXPECT_EQ(negated(5, 6), 7U);
  EXPECT_EQ(negated(0, 6), 6U);
  const Operation unwritten("@%p0 mov.u32 %r9, %r1;", "%r9");
  EXPECT_EQ(unwritten(0, 6), 0U);
}

TEST(LiftFlow, GuardedMemoryIsNotTouched) {
  // Where the guard is false the address is null: touching it would end the test.
  const std::string text = body(
      "ld.global.u64 %rd1, [%m];\nsetp.ne.u64 %p1, %rd1, 0;\n"
      "@%p1 ld.global.u32 %r1, [%m+8];\n@!%p1 ld.global.u32 %r1, [%m+16];\n"
      "mov.u64 %rd2, 0;\nselp.b64 %rd2, %m, 0, %p1;\n"
      "@%p1 st.global.u32 [%rd2+24], %r1;\nst.global.u32 [%m+32], %r1;\nret;");
  EXPECT_EQ(run(text, {1, 10, 20, 0, 0}), (std::vector<uint64_t>{1, 10, 20, 10, 10}));
  EXPECT_EQ(run(text, {0, 10, 20, 0, 0}), (std::vector<uint64_t>{0, 10, 20, 0, 20}));
}

TEST(LiftFlow, VectorRegistersMoveAndGiveTheirElements) {
  const std::string text = body(
      ".reg .v2 .u64 v, w;\n.reg .v4 .u16 %n<3>;\nld.global.v2.u64 v, [%m];\n"
      "mov.v2.u64 {%rd1, %rd2}, v;\nmov.v2.u64 w, {v.y, v.x};\nadd.u64 w.x, w.r, 100;\n"
      "st.global.v2.u64 [%m+16], w;\nmov.b64 %n2, %rd1;\nmov.b64 %rd3, %n2;\n"
      "add.u64 %rd3, %rd3, %rd2;\nst.global.u64 [%m+32], %rd3;\n"
      "mov.v2.u64 v, {v.y, v.x};\nst.global.v2.u64 [%m+40], v;\nret;");
  EXPECT_EQ(
      run(text, {1ULL << 40, 20, 0, 0, 0, 0, 0}),
      (std::vector<uint64_t>{1ULL << 40, 20, 120, 1ULL << 40, (1ULL << 40) + 20, 20, 1ULL << 40}));
}

TEST(LiftFlow, FunctionsGiveSeveralResults) {
  const std::string functions =
      ".func (.reg .u64 quotient, .reg .u32 rest) divided(.reg .u64 a, .reg .u64 b)\n{\n"
      ".reg .u64 r;\ndiv.u64 quotient, a, b;\nrem.u64 r, a, b;\ncvt.u32.u64 rest, r;\nret;\n}\n"
      ".func (.param .u64 low, .param .f32 half) halves(.param .u64 a)\n{\n"
      ".reg .u64 x;\n.reg .f32 f;\nld.param.u64 x, [a];\nadd.u64 x, x, 1;\n"
      "st.param.u64 [low], x;\nmov.f32 f, 0.5;\nst.param.f32 [half], f;\nret;\n}\n";
  const std::string text = body(
      "ld.global.u64 %rd1, [%m];\ncall (%rd2, %r1), divided, (%rd1, 10);\n"
      "st.global.u64 [%m+8], %rd2;\ncvt.u64.u32 %rd3, %r1;\nst.global.u64 [%m+16], %rd3;\n"
      "{\n.param .u64 in;\n.param .u64 first;\n.param .f32 second;\nst.param.u64 [in], %rd1;\n"
      "call (first, second), halves, (in);\nld.param.u64 %rd4, [first];\n"
      "ld.param.f32 %f1, [second];\n}\nst.global.u64 [%m+24], %rd4;\n"
      "st.global.f32 [%m+32], %f1;\nret;",
      functions);
  EXPECT_EQ(run(text, {47, 0, 0, 0, 0}), (std::vector<uint64_t>{47, 4, 7, 48, bits(0.5f)}));
}

TEST(LiftFlow, PredicatesCombineInPairs) {
  const Operation both(
      "setp.lt.and.s32 %p8|%p7, %r0, %r1, !%p2;\nselp.b32 %r8, 2, 0, %p7;\n"
      "selp.b32 %r9, 1, 0, %p8;\nor.b32 %r9, %r9, %r8;",
      "%r9");
  EXPECT_EQ(both(1, 2, 0), 1U);
  EXPECT_EQ(both(2, 1, 0), 2U);
  EXPECT_EQ(both(1, 2, 1), 0U);
  const Operation exclusive("setp.hs.xor.u32 %p9, %r0, %r1, %p2;", "%p9");
  EXPECT_EQ(exclusive(2, 1, 0), 1U);
  EXPECT_EQ(exclusive(2, 1, 1), 0U);
  const Operation in_place("setp.eq.s32 %p1|%p2, %r0, %r1;\nselp.b32 %r9, 5, 6, %p2;", "%r9");
  EXPECT_EQ(in_place(3, 3), 6U);
  const Operation set("set.gt.u32.s32 %r9, %r0, %r1;", "%r9");
  EXPECT_EQ(set(2, 1), 0xFFFFFFFFU);
  const Operation set_float("set.lt.f32.s32 %f9, %r0, %r1;", "%f9");
  EXPECT_EQ(set_float(1, 2), bits(1.0F));
  const Operation logic("xor.pred %p8, %p0, %p1;\nnot.pred %p9, %p8;", "%p9");
  EXPECT_EQ(logic(1, 0), 0U);
  EXPECT_EQ(logic(1, 1), 1U);
}

TEST(LiftFlow, LoopsCount) {
  const std::string text = body(
      "ld.global.u32 %r1, [%m];\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n"
      "LOOP:\nadd.u32 %r3, %r3, %r2;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, %r1;\n"
      "@%p2 bra.uni LOOP;\nDONE:\nst.global.u32 [%m+8], %r3;\nret;");
  EXPECT_EQ(run(text, {10, 0})[1], 45U);
  EXPECT_EQ(run(text, {0, 99})[1], 0U);
}

TEST(LiftFlow, IndirectBranchesTakeTheirTarget) {
  const std::string text = body(
      "ld.global.u32 %r1, [%m];\nTABLE: .branchtargets A, B, C;\nbrx.idx %r1, TABLE;\n"
      "A: mov.u32 %r2, 100;\nbra.uni END;\nB: mov.u32 %r2, 200;\nbra.uni END;\n"
      "C: mov.u32 %r2, 300;\nEND: st.global.u32 [%m+8], %r2;\nret;");
  for (uint64_t index : {0, 1, 2})
    EXPECT_EQ(run(text, {index, 0})[1], 100 * (index + 1));
}

TEST(LiftFlow, GuardedExitsEndTheThread) {
  const std::string text = body(
      "ld.global.u64 %rd1, [%m];\nsetp.eq.u64 %p1, %rd1, 0;\n@%p1 exit;\n"
      "st.global.u32 [%m+8], 1;\nsetp.eq.u64 %p1, %rd1, 1;\n@%p1 ret;\n"
      "st.global.u32 [%m+16], 1;");
  EXPECT_EQ(run(text, {0, 0, 0}), (std::vector<uint64_t>{0, 0, 0}));
  EXPECT_EQ(run(text, {1, 0, 0}), (std::vector<uint64_t>{1, 1, 0}));
  EXPECT_EQ(run(text, {2, 0, 0}), (std::vector<uint64_t>{2, 1, 1}));
}

TEST(LiftFlow, BlocksHideNames) {
  const std::string text = body(
      "mov.u32 %r1, 1;\n{\n.reg .b32 %r<3>;\n.reg .pred p;\nmov.u32 %r1, 2;\n"
      "setp.eq.u32 p, %r1, 2;\n@p bra IN;\nmov.u32 %r1, 3;\nIN:\nst.global.u32 [%m], %r1;\n}\n"
      "{\nbra.uni IN;\nst.global.u32 [%m], 77;\nIN:\n}\nst.global.u32 [%m+8], %r1;\nret;");
  EXPECT_EQ(run(text, {0, 0}), (std::vector<uint64_t>{2, 1}));
}

TEST(LiftFlow, VectorsAndNarrowAccesses) {
  const std::string text = body(
      "ld.global.v4.u32 {%r1, %r2, _, %r4}, [%m];\n"
      "st.global.v2.u32 [%m+16], {%r4, %r1};\n"
      "ld.global.s8 %r5, [%m+1];\nld.global.u8 %h1, [%m+1];\nst.global.u32 [%m+24], %r5;\n"
      "st.global.u8 [%m+28], %h1;\nld.global.v2.u64 {%m, %rd1}, [%m];\nret;");
  EXPECT_EQ(run(text, {0x111111110000FE22, 0x4444444433333333, 0, 0}),
            (std::vector<uint64_t>{0x111111110000FE22, 0x4444444433333333, 0x0000FE2244444444,
                                   0x000000FEFFFFFFFE}));
}

TEST(LiftFlow, LocalMemoryThroughGenericAddresses) {
  const std::string text = body(
      ".local .align 8 .b8 depot[16];\n.reg .b64 %SP, %SPL;\n"
      "mov.u64 %SPL, depot;\ncvta.local.u64 %SP, %SPL;\nld.global.u32 %r1, [%m];\n"
      "st.local.u32 [%SPL+4], %r1;\nst.u32 [%SP], 5;\nld.u32 %r2, [%SP+4];\n"
      "ld.local.u32 %r3, [depot];\nadd.u32 %r2, %r2, %r3;\nst.global.u32 [%m+8], %r2;\nret;");
  EXPECT_EQ(run(text, {37, 0})[1], 42U);
}

TEST(LiftFlow, FunctionsTakeAndReturnScalarsAndStructures) {
  const std::string functions =
      ".func (.param .b32 result) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
      "ld.param.u32 %r1, [x];\nshl.b32 %r2, %r1, 1;\nst.param.b32 [result+0], %r2;\nret;\n}\n"
      ".func (.param .align 8 .b8 result[16]) swap(.param .align 8 .b8 pair[16])\n{\n"
      ".reg .b64 %rd<3>;\nld.param.u64 %rd1, [pair];\nld.param.u64 %rd2, [pair+8];\n"
      "st.param.b64 [result], %rd2;\nst.param.b64 [result+8], %rd1;\nret;\n}\n"
      ".func old(.reg .b32 x, .reg .b64 where)\n{\nst.global.u32 [where], x;\nret;\n}\n";
  const std::string text = body(
      "ld.global.u32 %r1, [%m];\n"
      "{\n.param .b32 param0;\nst.param.b32 [param0+0], %r1;\n.param .b32 retval0;\n"
      "call.uni (retval0), twice, (param0);\nld.param.b32 %r2, [retval0+0];\n}\n"
      "st.global.u32 [%m], %r2;\n"
      "ld.global.v2.u64 {%rd1, %rd2}, [%m+16];\n"
      "{\n.param .align 8 .b8 param0[16];\nst.param.b64 [param0], %rd1;\n"
      "st.param.b64 [param0+8], %rd2;\n.param .align 8 .b8 retval0[16];\n"
      "call (retval0), swap, (param0);\nld.param.b64 %rd3, [retval0];\n"
      "ld.param.b64 %rd4, [retval0+8];\n}\n"
      "st.global.v2.u64 [%m+16], {%rd3, %rd4};\nadd.u64 %rd5, %m, 8;\n"
      "call old, (%r2, %rd5);\nret;",
      functions);
  EXPECT_EQ(run(text, {21, 0, 1, 2}), (std::vector<uint64_t>{42, 42, 2, 1}));
}

TEST(LiftFlow, AtomicsReturnTheOldValue) {
  const std::string text = body(
      "atom.global.add.u32 %r1, [%m], 5;\natom.global.inc.u32 %r2, [%m+8], 2;\n"
      "atom.global.dec.u32 %r3, [%m+16], 9;\natom.global.cas.b32 %r4, [%m+24], 7, 8;\n"
      "red.global.max.s32 [%m+32], -3;\natom.add.f32 %f1, [%m+40], 0f3F800000;\n"
      "atom.global.exch.b64 %rd1, [%m+48], 99;\natom.acq_rel.gpu.global.and.b32 %r5, [%m+56], 6;\n"
      "st.global.v4.u32 [%m+64], {%r1, %r2, %r3, %r4};\nst.global.f32 [%m+80], %f1;\n"
      "st.global.u64 [%m+88], %rd1;\nret;");
  const uint64_t minus_five = 0xFFFFFFFB;
  const std::vector<uint64_t> after =
      run(text, {10, 2, 0, 7, minus_five, bits(1.5F), 11, 12, 0, 0, 0, 0});
  EXPECT_EQ(after, (std::vector<uint64_t>{15, 0, 9, 8, 0xFFFFFFFD, bits(2.5F), 99, 4,
                                          0x200000000 | 10, 0x700000000, bits(1.5F), 11}));
}

TEST(LiftFlow, SpecialRegistersAndOrderedAccesses) {
  const std::string text = body(
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
      "mad.lo.s32 %r4, %r2, %r3, %r1;\nst.release.gpu.global.u32 [%m], %r4;\n"
      "ld.acquire.sys.global.u32 %r5, [%m];\nst.volatile.global.u32 [%m+8], %r5;\n"
      "cvt.u64.u32 %rd1, %tid.x;\nst.global.cg.u64 [%m+16], %rd1;\nret;");
  const uint64_t thread = host_block_x * host_block_size_x + host_thread_x;
  EXPECT_EQ(run(text, {0, 0, 0}), (std::vector<uint64_t>{thread, thread, host_thread_x}));
}

TEST(LiftStack, GivesMemoryUntilItIsRestored) {
  // Two allocations that differ, the second at a multiple of 64; restoring gives the first again.
  const std::string text = body(
      "stacksave.u64 %rd1;\nalloca.u64 %rd2, 12;\nalloca.u64 %rd3, 8, 64;\n"
      "st.local.u32 [%rd2+8], 5;\nst.local.u32 [%rd3], 6;\nld.local.u32 %r1, [%rd2+8];\n"
      "ld.local.u32 %r2, [%rd3];\nand.b64 %rd4, %rd3, 63;\nstackrestore.u64 %rd1;\n"
      "alloca.u64 %rd5, 4;\nsub.u64 %rd6, %rd5, %rd2;\nst.global.u32 [%m], %r1;\n"
      "st.global.u32 [%m+4], %r2;\nst.global.u64 [%m+8], %rd4;\nst.global.u64 [%m+16], %rd6;\n"
      "cvta.local.u64 %rd5, %rd5;\nst.u32 [%rd5], 9;\nld.u32 %r3, [%rd5];\n"
      "st.global.u32 [%m+24], %r3;\nret;");
  EXPECT_EQ(run(text, {1, 1, 1, 0}), (std::vector<uint64_t>{6ULL << 32 | 5, 0, 0, 9}));
}

TEST(LiftStack, IsTakenUnderAGuardAlone) {
  const std::string text = body(
      "ld.global.u64 %rd1, [%m];\nsetp.ne.u64 %p1, %rd1, 0;\nmov.u64 %rd3, 77;\n"
      "stacksave.u64 %rd2;\n@%p1 alloca.u64 %rd3, 16;\nstacksave.u64 %rd4;\n"
      "sub.u64 %rd5, %rd4, %rd2;\nst.global.u64 [%m+8], %rd5;\n"
      "setp.eq.u64 %p2, %rd3, 77;\nselp.u64 %rd5, 1, 0, %p2;\nst.global.u64 [%m+16], %rd5;\nret;");
  EXPECT_EQ(run(text, {1, 0, 0}), (std::vector<uint64_t>{1, 16, 0}));
  EXPECT_EQ(run(text, {0, 9, 9}), (std::vector<uint64_t>{0, 0, 1}));
}

TEST(LiftStack, ComesBackWhenAFunctionReturns) {
  // 100 calls of a function that takes 8 KiB: more than there is, were it kept.
  const std::string function =
      ".func (.param .u32 result) f(.param .u32 n)\n{\n.reg .u32 %r<4>;\n.reg .u64 %rd<4>;\n"
      "ld.param.u32 %r1, [n];\ncvt.u64.u32 %rd2, %r1;\nalloca.u64 %rd1, 8192;\n"
      "st.local.u32 [%rd1+8188], %r1;\nld.local.u32 %r2, [%rd1+8188];\n"
      "st.param.u32 [result], %r2;\nret;\n}\n";
  const std::string text = body(
      "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nAGAIN:\n{ .param .u32 n; .param .u32 result;\n"
      "st.param.u32 [n], %r1;\ncall (result), f, (n);\nld.param.u32 %r3, [result];\n}\n"
      "add.u32 %r2, %r2, %r3;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 100;\n"
      "@%p1 bra AGAIN;\nst.global.u32 [%m], %r2;\nret;",
      function);
  EXPECT_EQ(run(text, {0}), (std::vector<uint64_t>{4950}));
}

}  // namespace
}  // namespace sluice::ptx::test
