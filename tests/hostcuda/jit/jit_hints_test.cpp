// Instructions that change no result, and those of a warp that nvcc's code has no intrinsic for.
#include <string>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

std::string kernel_of(const std::string& body) {
  return ".version 8.5\n.target sm_90\n.address_size 64\n"
         ".visible .entry kernel(.param .u64 memory) {\n"
         ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
         ".shared .align 16 .b8 pool[64];\n"
         "ld.param.u64 %rd0, [memory];\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %rd1, %r0, 4, %rd0;\n" +
         body + "ret;\n}\n";
}

std::vector<uint32_t> run_text(const std::string& body, unsigned threads) {
  std::vector<uint32_t> memory(256);
  for (uint32_t i = 0; i < memory.size(); ++i)
    memory[i] = i + 1;
  Kernels kernels(compile_text(kernel_of(body)));
  kernels.run("kernel", {1}, {threads}, 0, memory.data());
  return memory;
}

TEST(JitHints, LeaveMemoryAsItIs) {
  const std::vector<uint32_t> memory = run_text(
      "prefetch.global.L2 [%rd1];\nprefetchu.L1 [%rd1];\n"
      "applypriority.global.L2::evict_normal [%rd0], 128;\ndiscard.global.L2 [%rd0], 128;\n"
      "createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;\n"
      "ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;\nldu.global.u32 %r2, [%rd1+4];\n"
      "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\npmevent 7;\nnanosleep.u32 10;\n"
      "membar.gl;\nfence.acq_rel.gpu;\nfence.sc.sys;\n"
      "add.u32 %r3, %r1, %r2;\nst.global.u32 [%rd1+512], %r3;\n",
      32);
  for (uint32_t i = 0; i < 32; ++i) {
    ASSERT_EQ(memory[i], i + 1);
    ASSERT_EQ(memory[128 + i], 2 * i + 3);
  }
}

TEST(JitHints, TheLowestLaneOfTheMaskIsElected) {
  const std::vector<uint32_t> memory = run_text(
      "mov.u32 %r2, 0xFFFFFF00;\nelect.sync %r1|%p1, %r2;\nselp.u32 %r3, 1000, 0, %p1;\n"
      "add.u32 %r3, %r3, %r1;\nst.global.u32 [%rd1], %r3;\n",
      32);
  for (uint32_t i = 0; i < 32; ++i)
    ASSERT_EQ(memory[i], i == 8 ? 1008U : 8U);
}

TEST(JitHints, LanesReduceAndTellWhoIsThere) {
  const std::vector<uint32_t> memory = run_text(
      "setp.lt.u32 %p1, %r0, 20;\n@!%p1 bra DONE;\n"
      "activemask.b32 %r1;\nst.global.u32 [%rd1], %r1;\n"
      "sub.u32 %r2, %r0, 5;\nredux.sync.min.s32 %r3, %r2, 0xFFFFF;\n"
      "st.global.u32 [%rd1+128], %r3;\nredux.sync.max.u32 %r3, %r2, 0xFFFFF;\n"
      "st.global.u32 [%rd1+256], %r3;\nredux.sync.add.u32 %r3, %r0, 0xFFFFF;\n"
      "st.global.u32 [%rd1+384], %r3;\nDONE:\n",
      32);
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_EQ(memory[i], 0xFFFFFU);
    ASSERT_EQ(memory[32 + i], static_cast<uint32_t>(-5));
    ASSERT_EQ(memory[64 + i], 0xFFFFFFFFU);
    ASSERT_EQ(memory[96 + i], 190U);
  }
}

// The forms of targets below sm_70: whoever is there takes part.
TEST(JitHints, LanesExchangeWithoutNamingTheirMask) {
  const std::vector<uint32_t> memory = run_text(
      "shfl.bfly.b32 %r1|%p1, %r0, 1, 31;\nselp.u32 %r2, 100, 0, %p1;\nadd.u32 %r1, %r1, %r2;\n"
      "st.global.u32 [%rd1], %r1;\nshfl.down.b32 %r1, %r0, 4, 31;\n"
      "st.global.u32 [%rd1+128], %r1;\nsetp.lt.u32 %p2, %r0, 5;\n"
      "vote.ballot.b32 %r3, %p2;\nst.global.u32 [%rd1+256], %r3;\nvote.any.pred %p3, !%p2;\n"
      "selp.u32 %r4, 1, 0, %p3;\nst.global.u32 [%rd1+384], %r4;\n",
      32);
  for (uint32_t i = 0; i < 32; ++i) {
    ASSERT_EQ(memory[i], (i ^ 1) + 100);
    ASSERT_EQ(memory[32 + i], i < 28 ? i + 4 : i);
    ASSERT_EQ(memory[64 + i], 31U);
    ASSERT_EQ(memory[96 + i], 1U);
  }
}

TEST(JitHints, VariablesOfAFunctionOutliveIt) {
  const std::vector<uint32_t> memory = run_text(
      ".global .u32 calls = 40;\n.const .u32 table[2] = {7, 9};\n"
      "atom.global.add.u32 %r1, [calls], 1;\nld.const.u32 %r2, [table+4];\n"
      "add.u32 %r1, %r1, %r2;\nst.global.u32 [%rd1], %r1;\n",
      1);
  EXPECT_EQ(memory[0], 49U);
}

TEST(JitHints, GenericAddressesTellTheirSpace) {
  const std::vector<uint32_t> memory = run_text(
      "mov.u64 %rd3, pool;\ncvta.shared.u64 %rd4, %rd3;\n"
      "isspacep.shared %p1, %rd4;\nisspacep.global %p2, %rd4;\n"
      "isspacep.shared %p3, %rd0;\nisspacep.global %p4, %rd0;\n"
      "selp.u32 %r1, 1, 0, %p1;\nselp.u32 %r2, 2, 0, %p2;\nselp.u32 %r3, 4, 0, %p3;\n"
      "selp.u32 %r4, 8, 0, %p4;\nor.b32 %r1, %r1, %r2;\nor.b32 %r1, %r1, %r3;\n"
      "or.b32 %r1, %r1, %r4;\nst.global.u32 [%rd1], %r1;\n",
      1);
  EXPECT_EQ(memory[0], 9U);
}

TEST(JitHints, VariablesOfAThreadAreLocalAndConstantsCountAsGlobal) {
  const std::vector<uint32_t> memory = run_text(
      ".local .align 4 .u32 own[4];\n.const .u32 table[2] = {7, 9};\n"
      "mov.u64 %rd3, own;\ncvta.local.u64 %rd4, %rd3;\nadd.u64 %rd4, %rd4, 4;\n"
      "mov.u64 %rd5, table;\ncvta.const.u64 %rd5, %rd5;\n"
      "isspacep.local %p1, %rd4;\nisspacep.global %p2, %rd4;\n"
      "isspacep.local %p3, %rd0;\nisspacep.global %p4, %rd5;\n"
      "selp.u32 %r1, 1, 0, %p1;\nselp.u32 %r2, 2, 0, %p2;\nselp.u32 %r3, 4, 0, %p3;\n"
      "selp.u32 %r4, 8, 0, %p4;\nisspacep.const %p1, %rd0;\nselp.u32 %r5, 16, 0, %p1;\n"
      "or.b32 %r1, %r1, %r2;\nor.b32 %r1, %r1, %r3;\nor.b32 %r1, %r1, %r5;\n"
      "or.b32 %r1, %r1, %r4;\nst.global.u32 [%rd1], %r1;\n",
      1);
  EXPECT_EQ(memory[0], 9U);
}

// CUB reduces two 16-bit integers at a time by these.
TEST(JitHints, PairsOfShortIntegersAreComputedApart) {
  const std::vector<uint32_t> memory = run_text(
      "mov.u32 %r1, 0xFFFE0005;\nmov.u32 %r2, 0x00018003;\n"
      "max.s16x2 %r3, %r1, %r2;\nst.global.u32 [%rd0], %r3;\n"
      "min.s16x2 %r3, %r1, %r2;\nst.global.u32 [%rd0+4], %r3;\n"
      "max.u16x2 %r3, %r1, %r2;\nst.global.u32 [%rd0+8], %r3;\n"
      "min.u16x2 %r3, %r1, %r2;\nst.global.u32 [%rd0+12], %r3;\n"
      "add.u16x2 %r3, %r1, %r2;\nst.global.u32 [%rd0+16], %r3;\n",
      1);
  EXPECT_EQ(std::vector<uint32_t>(memory.begin(), memory.begin() + 5),
            (std::vector<uint32_t>{0x00010005, 0xFFFE8003, 0xFFFE8003, 0x00010005, 0xFFFF8008}));
}

TEST(JitHints, DynamicSharedMemoryTellsItsSize) {
  std::vector<uint32_t> memory(1);
  Kernels kernels(
      compile_text(kernel_of("mov.u32 %r1, %dynamic_smem_size;\nst.global.u32 [%rd1], %r1;\n")));
  kernels.run("kernel", {1}, {1}, 96, memory.data());
  EXPECT_EQ(memory[0], 96U);
}

// Variables in global and constant memory may be declared where they are used. The first outlives
// its launch.
TEST(JitHints, VariablesOfAFunctionAreTheModules) {
  Kernels kernels(compile_text(kernel_of(
      ".global .u32 launches = 5;\n.const .u32 table[3] = {7, 9, 11};\n"
      "ld.global.u32 %r1, [launches];\nadd.u32 %r1, %r1, 1;\n"
      "st.global.u32 [launches], %r1;\nld.const.u32 %r2, [table+8];\n"
      "mul.lo.u32 %r2, %r2, 100;\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%rd1], %r1;\n")));
  std::vector<uint32_t> memory(1);
  for (const uint32_t launches : {6U, 7U}) {
    kernels.run("kernel", {1}, {1}, 0, memory.data());
    EXPECT_EQ(memory[0], 1100 + launches);
  }
}

// Before sm_70 lanes exchange without a mask.
TEST(JitHints, LanesOfOldTargetsExchangeWithoutSync) {
  const std::string text =
      ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry kernel(.param .u64 memory)\n"
      "{\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd0, [memory];\n"
      "mov.u32 %r0, %tid.x;\nmad.wide.u32 %rd1, %r0, 4, %rd0;\nsetp.lt.u32 %p0, %r0, 5;\n"
      "vote.ballot.b32 %r1, %p0;\nvote.any.pred %p1, %p0;\nselp.u32 %r2, 1000, 0, %p1;\n"
      "vote.all.pred %p2, %p0;\nselp.u32 %r3, 2000, 0, %p2;\nshfl.bfly.b32 %r4, %r0, 3, 31;\n"
      "mul.lo.u32 %r4, %r4, 10000;\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\n"
      "add.u32 %r1, %r1, %r4;\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
  std::vector<uint32_t> memory(32);
  Kernels kernels(compile_text(text));
  kernels.run("kernel", {1}, {32}, 0, memory.data());
  for (uint32_t i = 0; i < memory.size(); ++i)
    ASSERT_EQ(memory[i], 0x1f + 1000 + 10'000 * (i ^ 3)) << i;
}

TEST(JitClusters, OfOneBlockAreBlocks) {
  // Each thread reads what its neighbour stored into its cluster's shared memory.
  const std::string text =
      ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 memory)\n"
      ".explicitcluster .reqnctapercluster 1, 1, 1\n{\n.reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n"
      ".shared .align 16 .b8 pool[256];\nld.param.u64 %rd0, [memory];\nmov.u32 %r0, %tid.x;\n"
      "mov.u32 %r1, %clusterid.x;\nmad.lo.u32 %r2, %r1, 64, %r0;\nmad.wide.u32 %rd1, %r2, 4, "
      "%rd0;\n"
      "mov.u32 %r3, pool;\nmapa.shared::cluster.u32 %r4, %r3, 0;\nmad.lo.u32 %r5, %r0, 4, %r4;\n"
      "st.shared.u32 [%r5], %r2;\nbarrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;\nxor.b32 %r6, %r0, 33;\nmad.lo.u32 %r7, %r6, 4, %r4;\n"
      "ld.shared.u32 %r8, [%r7];\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
      "getctarank.shared::cluster.u32 %r9, %r4;\nmov.u32 %r10, %cluster_ctaid.y;\n"
      "mov.u32 %r11, %cluster_nctarank;\nmov.u32 %r12, %nclusterid.x;\nadd.u32 %r8, %r8, %r9;\n"
      "add.u32 %r8, %r8, %r10;\nmul.lo.u32 %r11, %r11, %r12;\nmul.lo.u32 %r11, %r11, 1000;\n"
      "add.u32 %r8, %r8, %r11;\nst.global.u32 [%rd1], %r8;\nret;\n}\n";
  std::vector<uint32_t> memory(192);
  Kernels kernels(compile_text(text));
  kernels.run("kernel", {3}, {64}, 0, memory.data());
  for (uint32_t i = 0; i < memory.size(); ++i)
    ASSERT_EQ(memory[i], 3000 + (i ^ 33)) << i;
}

}  // namespace
}  // namespace sluice::hostcuda
