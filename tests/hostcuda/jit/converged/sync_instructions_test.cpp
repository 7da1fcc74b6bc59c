// Every instruction with .sync waits for the lanes of its warp before it does anything.
#include <fmt/format.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

constexpr uint32_t lanes = 32;

// A kernel of one parameter, `memory` in %rd0, with 1024 bytes of shared memory at `pool`. %r0 is
// the lane, %r2 its 32 bytes of the pool, %r3 its word there, %r4 the word of lane 31 - %r0.
std::string kernel_of(const std::string& body) {
  return ".version 8.5\n.target sm_90\n.address_size 64\n"
         ".visible .entry kernel(.param .u64 memory) {\n"
         ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .f32 %f<99>;\n.reg .b64 %rd<99>;\n"
         ".shared .align 32 .b8 pool[1024];\n"
         "ld.param.u64 %rd0, [memory];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, pool;\n"
         "mad.lo.u32 %r2, %r0, 32, %r1;\nmad.lo.u32 %r3, %r0, 4, %r1;\n"
         "sub.u32 %r5, 31, %r0;\nmad.lo.u32 %r4, %r5, 4, %r1;\n"
         "mad.wide.u32 %rd1, %r0, 4, %rd0;\nsetp.ge.u32 %p1, %r0, 7;\n" +
         body + "ret;\n}\n";
}

std::vector<uint32_t> run_text(const std::string& body) {
  std::vector<uint32_t> memory(256, ~0U);
  Kernels kernels(compile_text(kernel_of(body)));
  kernels.run("kernel", {1}, {lanes}, 0, memory.data());
  return memory;
}

// Eight words a lane, word i of the pool holding `first` + i.
std::string fill_pool(uint32_t first) {
  std::string text = fmt::format("mad.lo.u32 %r10, %r0, 8, {};\n", first);
  for (uint32_t i = 0; i < 8; ++i)
    text += fmt::format("add.u32 %r11, %r10, {};\nst.shared.u32 [%r2+{}], %r11;\n", i, 4 * i);
  return text;
}

// Where an atomic operation goes is not known, and lanes then read what it may have changed.
TEST(WarpMeetings, PlainReadsSeeAtomicsAtPlacesFromATable) {
  const std::vector<uint32_t> memory = run_text(
      "st.shared.u32 [%r3], %r0;\nld.global.u32 %r10, [%rd1];\nand.b32 %r10, %r10, 31;\n"
      "mad.lo.u32 %r11, %r10, 4, %r1;\nred.shared.add.u32 [%r11], 100;\n"
      "ld.shared.u32 %r12, [%r4];\nst.global.u32 [%rd1], %r12;\n");
  for (uint32_t lane = 0; lane < lanes; ++lane)
    ASSERT_EQ(memory[lane], lane == 0 ? 3231 : 31 - lane) << lane;
}

class SyncInstruction : public testing::TestWithParam<const char*> {};

// What lanes stored before is there after it.
TEST_P(SyncInstruction, LetsLanesSeeEachOthersStores) {
  const std::vector<uint32_t> memory = run_text(
      "mov.u32 %r20, 0;\nmov.u32 %r21, 0;\nadd.u32 %r10, %r0, 500;\n"
      "st.shared.u32 [%r3], %r10;\n" +
      std::string(GetParam()) + "\nld.shared.u32 %r12, [%r4];\nst.global.u32 [%rd1], %r12;\n");
  for (uint32_t lane = 0; lane < lanes; ++lane)
    ASSERT_EQ(memory[lane], 500 + 31 - lane) << lane;
}

// What lanes read before is what was there before it.
TEST_P(SyncInstruction, LetsLanesReadBeforeOthersStore) {
  const std::vector<uint32_t> memory = run_text(
      "mov.u32 %r20, 0;\nmov.u32 %r21, 0;\nadd.u32 %r10, %r0, 500;\n"
      "st.shared.u32 [%r3], %r10;\nbar.sync 0;\nld.shared.u32 %r12, [%r4];\n" +
      std::string(GetParam()) + "\nst.shared.u32 [%r3], %r0;\nst.global.u32 [%rd1], %r12;\n");
  for (uint32_t lane = 0; lane < lanes; ++lane)
    ASSERT_EQ(memory[lane], 500 + 31 - lane) << lane;
}

INSTANTIATE_TEST_SUITE_P(
    All, SyncInstruction,
    testing::Values(
        "bar.warp.sync 0xffffffff;", "shfl.sync.idx.b32 %r9, %r0, 3, 31, 0xffffffff;",
        "shfl.sync.up.b32 %r9, %r0, 1, 0, 0xffffffff;",
        "shfl.sync.down.b32 %r9, %r0, 1, 31, 0xffffffff;",
        "shfl.sync.bfly.b32 %r9|%p2, %r0, 1, 31, 0xffffffff;",
        "vote.sync.all.pred %p2, %p1, 0xffffffff;", "vote.sync.any.pred %p2, %p1, 0xffffffff;",
        "vote.sync.uni.pred %p2, %p1, 0xffffffff;", "vote.sync.ballot.b32 %r9, %p1, 0xffffffff;",
        "match.any.sync.b32 %r9, %r0, 0xffffffff;", "match.all.sync.b32 %r9|%p2, %r0, 0xffffffff;",
        "redux.sync.add.s32 %r9, %r0, 0xffffffff;", "redux.sync.xor.b32 %r9, %r0, 0xffffffff;",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r0;",
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r20,%r21}, {%r0}, {%r0}, {%r20,%r21};"));

// Row i of the pool's first 32 rows of 16 bytes holds the words 4 i to 4 i + 3.
std::string store_rows() {
  std::string text = "mad.lo.u32 %r6, %r0, 16, %r1;\nmul.lo.u32 %r10, %r0, 4;\n";
  for (uint32_t i = 0; i < 4; ++i)
    text += fmt::format("add.u32 %r11, %r10, {};\nst.shared.u32 [%r6+{}], %r11;\n", i, 4 * i);
  return text;
}

// Lane i asks for the row that lane 31 - i has just stored.
TEST(SyncMatrix, LdmatrixLoadsRowsThatOtherLanesJustStored) {
  const std::vector<uint32_t> memory =
      run_text(store_rows() +
               "mad.lo.u32 %r7, %r5, 16, %r1;\n"
               "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r7];\n"
               "st.global.u32 [%rd1], %r20;\nst.global.u32 [%rd1+128], %r21;\n"
               "st.global.u32 [%rd1+256], %r22;\nst.global.u32 [%rd1+384], %r23;\n");
  for (uint32_t matrix = 0; matrix < 4; ++matrix) {
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const uint32_t row = 31 - (8 * matrix + lane / 4);
      ASSERT_EQ(memory[32 * matrix + lane], 4 * row + lane % 4) << matrix << " " << lane;
    }
  }
}

// Each lane first reads a row that stmatrix then overwrites, and then the row that another stored.
TEST(SyncMatrix, StmatrixStoresAfterOtherLanesRead) {
  const std::vector<uint32_t> memory = run_text(
      store_rows() +
      "bar.sync 0;\nmad.lo.u32 %r7, %r5, 16, %r1;\nld.shared.u32 %r12, [%r7];\n"
      "add.u32 %r20, %r0, 1000;\nmov.u32 %r21, %r20;\nmov.u32 %r22, %r20;\nmov.u32 %r23, %r20;\n"
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r6], {%r20, %r21, %r22, %r23};\n"
      "ld.shared.u32 %r13, [%r7];\n"
      "st.global.u32 [%rd1], %r12;\nst.global.u32 [%rd1+128], %r13;\n");
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    ASSERT_EQ(memory[lane], 4 * (31 - lane)) << lane;
    // The first word of row r holds what lane 4 (r mod 8) brought.
    ASSERT_EQ(memory[32 + lane], 1000 + (31 - lane) % 8 * 4) << lane;
  }
}

constexpr const char* accumulator = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";

TEST(SyncMatrix, WmmaLoadsWhatOtherLanesJustStored) {
  const std::vector<uint32_t> memory =
      run_text(fill_pool(2000) +
               fmt::format("mov.u32 %r8, 16;\n"
                           "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {0}, [%r1], %r8;\n"
                           "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd0], {0}, %r8;\n",
                           accumulator));
  for (uint32_t row = 0; row < 16; ++row) {
    for (uint32_t column = 0; column < 16; ++column)
      ASSERT_EQ(memory[16 * column + row], 2000 + 16 * row + column) << row << " " << column;
  }
}

// Lanes read the pool before wmma.store overwrites it, and see what it stored after.
TEST(SyncMatrix, WmmaStoresAfterOtherLanesRead) {
  const std::vector<uint32_t> memory =
      run_text(fill_pool(2000) +
               fmt::format("bar.sync 0;\nmov.u32 %r8, 16;\n"
                           "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {0}, [%r1], %r8;\n"
                           "ld.shared.u32 %r12, [%r3];\n"
                           "wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%r1], {0}, %r8;\n"
                           "ld.shared.u32 %r13, [%r3];\n"
                           "st.global.u32 [%rd1], %r12;\nst.global.u32 [%rd1+128], %r13;\n",
                           accumulator));
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    ASSERT_EQ(memory[lane], 2000 + lane) << lane;
    ASSERT_EQ(memory[32 + lane], 2000 + lane % 16 * 16 + lane / 16) << lane;
  }
}

}  // namespace
}  // namespace sluice::hostcuda
