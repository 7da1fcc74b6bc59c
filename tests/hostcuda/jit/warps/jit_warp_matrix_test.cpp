// ldmatrix, stmatrix, movmatrix, cp.async and barriers in memory.
#include <fmt/format.h>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/warps/warp_registers.hpp"

namespace sluice::hostcuda {
namespace {

// A kernel of one parameter, `memory` in %rd0, with 1024 bytes of shared memory at `pool`.
std::string kernel_of(const std::string& body) {
  return ".version 8.5\n.target sm_90\n.address_size 64\n"
         ".visible .entry kernel(.param .u64 memory) {\n"
         ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
         ".shared .align 16 .b8 pool[1024];\n"
         "ld.param.u64 %rd0, [memory];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, pool;\n" +
         body + "ret;\n}\n";
}

void run_text(const std::string& body, unsigned threads, void* memory) {
  Kernels kernels(compile_text(kernel_of(body)));
  kernels.run("kernel", {1}, {threads}, 0, memory);
}

// Fills the pool with 32-bit words of memory, 8 for each of 32 threads.
constexpr const char* fill_pool =
    "mad.wide.u32 %rd1, %r0, 32, %rd0;\nmad.lo.u32 %r2, %r0, 32, %r1;\n"
    "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd1];\n"
    "ld.global.v4.u32 {%r14, %r15, %r16, %r17}, [%rd1+16];\n"
    "st.shared.v4.u32 [%r2], {%r10, %r11, %r12, %r13};\n"
    "st.shared.v4.u32 [%r2+16], {%r14, %r15, %r16, %r17};\n"
    "bar.warp.sync 0xffffffff;\n";

class Rows : public testing::TestWithParam<std::tuple<unsigned, bool>> {
 protected:
  const unsigned matrices_ = std::get<0>(GetParam());
  const bool turned_ = std::get<1>(GetParam());

  std::string shape() const {
    return fmt::format("m8n8.x{}{}.shared.b16", matrices_, turned_ ? ".trans" : "");
  }
  // One register for each matrix, from %r20 on.
  std::string registers() const {
    std::string list;
    for (unsigned i = 0; i < matrices_; ++i)
      list += fmt::format("{}%r{}", i == 0 ? "" : ", ", 20 + i);
    return list;
  }
  // Lane `lane` holds element i of two of matrix `matrix`; in_rows(matrix, row, column) is the
  // element's value in the rows, in_lanes(matrix, place) in the registers.
  template <class InRows, class InLanes>
  void expect_equal(InRows&& in_rows, InLanes&& in_lanes) const {
    for (unsigned matrix = 0; matrix < matrices_; ++matrix) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < 2; ++i) {
          unsigned row = lane / 4;
          unsigned column = 2 * (lane % 4) + i;
          if (turned_) std::swap(row, column);
          ASSERT_EQ(in_rows(matrix, row, column), in_lanes(matrix, 2 * lane + i))
              << "matrix " << matrix << " lane " << lane << " element " << i;
        }
      }
    }
  }
};

// Lane i brings the address of row i, here rows 32 bytes apart, the lanes that are not asked an
// address that is none.
TEST_P(Rows, LdmatrixSpreadsRowsOverTheLanes) {
  std::vector<uint16_t> memory(512 + 256);
  for (size_t i = 0; i < 512; ++i)
    memory[i] = static_cast<uint16_t>(7 * i + 1);
  std::string stores;
  for (unsigned i = 0; i < matrices_; ++i)
    stores += fmt::format("st.global.u32 [%rd2+{}], %r{};\n", 1024 + 128 * i, 20 + i);
  run_text(std::string(fill_pool) +
               fmt::format("setp.lt.u32 %p1, %r0, {};\nselp.u32 %r3, %r2, 0xfffffff0, %p1;\n"
                           "ldmatrix.sync.aligned.{} {{{}}}, [%r3];\n"
                           "mad.wide.u32 %rd2, %r0, 4, %rd0;\n{}",
                           8 * matrices_, shape(), registers(), stores),
           32, memory.data());
  expect_equal([&](unsigned matrix, unsigned row,
                   unsigned column) { return memory[(8 * matrix + row) * 16 + column]; },
               [&](unsigned matrix, unsigned place) { return memory[512 + 64 * matrix + place]; });
}

TEST_P(Rows, StmatrixIsTheWayBack) {
  std::vector<uint16_t> memory(512 + 512);
  for (size_t i = 0; i < 512; ++i)
    memory[i] = static_cast<uint16_t>(5 * i + 3);
  std::string loads;
  for (unsigned i = 0; i < matrices_; ++i)
    loads += fmt::format("ld.global.u32 %r{}, [%rd2+{}];\n", 20 + i, 128 * i);
  run_text(fmt::format("mad.wide.u32 %rd2, %r0, 4, %rd0;\nmad.lo.u32 %r2, %r0, 16, %r1;\n{}"
                       "setp.lt.u32 %p1, %r0, {};\nselp.u32 %r3, %r2, 0xfffffff0, %p1;\n"
                       "stmatrix.sync.aligned.{} [%r3], {{{}}};\n"
                       "bar.warp.sync 0xffffffff;\n@!%p1 bra DONE;\n"
                       "ld.shared.v4.u32 {{%r10, %r11, %r12, %r13}}, [%r2];\n"
                       "mad.wide.u32 %rd1, %r0, 16, %rd0;\n"
                       "st.global.v4.u32 [%rd1+1024], {{%r10, %r11, %r12, %r13}};\nDONE:\n",
                       loads, 8 * matrices_, shape(), registers()),
           32, memory.data());
  expect_equal([&](unsigned matrix, unsigned row,
                   unsigned column) { return memory[512 + (8 * matrix + row) * 8 + column]; },
               [&](unsigned matrix, unsigned place) { return memory[64 * matrix + place]; });
}

INSTANTIATE_TEST_SUITE_P(Numbers, Rows,
                         testing::Combine(testing::Values(1U, 2U, 4U), testing::Bool()));

TEST(JitMatrix, MovmatrixTransposes) {
  const ElementType half("b16");
  WarpRegisters in(half, 2);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 2; ++i)
      in.set(lane, i, 100 * (lane / 4) + 2 * (lane % 4) + i);
  }
  for (const WarpPlace& place : warp_places()) {
    const WarpRegisters out = run_warp_instruction("movmatrix.sync.aligned.m8n8.trans.b16", place,
                                                   WarpRegisters(half, 2), {&in});
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 2; ++i)
        ASSERT_EQ(out.get(lane, i), 100 * (2 * (lane % 4) + i) + lane / 4) << place.name;
    }
  }
}

// What the source lacks is zero, and bytes of the source beyond its size are left alone.
TEST(JitAsync, CopiesTheSizesThatAreAsked) {
  for (unsigned bytes : {4U, 8U, 16U}) {
    for (unsigned available : {0U, 1U, bytes - 1, bytes, bytes + 3}) {
      std::vector<uint8_t> memory(48, 0xEE);
      for (unsigned i = 0; i < bytes; ++i)
        memory[i] = static_cast<uint8_t>(i + 1);
      for (bool is_constant : {false, true}) {
        const std::string size = is_constant ? std::to_string(available) : "%r3";
        run_text(fmt::format("mov.u32 %r3, {};\nadd.u32 %r3, %r3, %r0;\n"
                             "st.shared.u32 [%r1+16], 77;\n"
                             "cp.async.ca.shared.global [%r1], [%rd0], {}, {};\n"
                             "cp.async.commit_group;\ncp.async.wait_group 0;\n"
                             "ld.shared.v4.u32 {{%r10, %r11, %r12, %r13}}, [%r1];\n"
                             "st.global.v4.u32 [%rd0+16], {{%r10, %r11, %r12, %r13}};\n"
                             "ld.shared.u32 %r14, [%r1+16];\nst.global.u32 [%rd0+32], %r14;\n",
                             available, bytes, size),
                 1, memory.data());
        for (unsigned i = 0; i < bytes; ++i)
          ASSERT_EQ(memory[16 + i], i < available ? i + 1 : 0) << bytes << " of " << available;
        ASSERT_EQ(memory[32], 77);
      }
    }
  }
}

TEST(JitAsync, APredicateSaysThatTheSourceIsIgnored) {
  std::vector<uint32_t> memory = {11, 12, 13, 14, 0, 0, 0, 0};
  run_text(
      "st.shared.u32 [%r1], 5;\nsetp.eq.u32 %p1, %r0, 0;\n"
      "cp.async.cg.shared.global [%r1], [%rd0], 16, %p1;\ncp.async.wait_all;\n"
      "ld.shared.u32 %r2, [%r1];\nst.global.u32 [%rd0+16], %r2;\n"
      "cp.async.cg.shared.global.L2::128B [%r1], [%rd0], 16, !%p1;\n"
      "ld.shared.u32 %r2, [%r1];\nst.global.u32 [%rd0+20], %r2;\n",
      1, memory.data());
  EXPECT_EQ(memory[4], 0U);
  EXPECT_EQ(memory[5], 11U);
}

// The last warp waits, in a loop, for all others, phase after phase.
TEST(JitMemoryBarrier, ThreadsWaitForPhases) {
  constexpr unsigned threads = 96;
  std::vector<uint32_t> memory(threads);
  run_text(
      "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra READY;\n"
      "mbarrier.init.shared::cta.b64 [pool+512], 64;\nst.shared.u32 [pool], 0;\nREADY:\n"
      "bar.sync 0;\nmov.u32 %r5, 0;\nAGAIN:\n"
      "setp.ge.u32 %p2, %r0, 64;\n@%p2 bra WAIT;\n"
      "atom.shared.add.u32 %r6, [pool], 1;\n"
      "mbarrier.arrive.shared::cta.b64 %rd5, [pool+512];\n"
      "LOOP:\nmbarrier.test_wait.shared::cta.b64 %p3, [pool+512], %rd5;\n@!%p3 bra LOOP;\n"
      "bra.uni MET;\n"
      "WAIT:\nand.b32 %r7, %r5, 1;\n"
      "SPIN:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [pool+512], %r7;\n"
      "@!%p3 bra SPIN;\n"
      "MET:\nld.volatile.shared.u32 %r8, [pool];\nbar.sync 1;\n"
      "mad.lo.u32 %r9, %r5, 1000, %r8;\nadd.u32 %r5, %r5, 1;\n"
      "setp.lt.u32 %p4, %r5, 3;\n@%p4 bra AGAIN;\n"
      "mad.wide.u32 %rd1, %r0, 4, %rd0;\nst.global.u32 [%rd1], %r9;\n",
      threads, memory.data());
  for (uint32_t seen : memory)
    ASSERT_EQ(seen, 2000U + 3 * 64);
}

TEST(JitMemoryBarrier, StatesTellWhatIsMissing) {
  std::vector<uint32_t> memory(8);
  run_text(
      "mbarrier.init.shared.b64 [pool], 5;\n"
      "mbarrier.arrive.noComplete.release.cta.shared.b64 %rd1, [pool], 2;\n"
      "mbarrier.pending_count.b64 %r2, %rd1;\nst.global.u32 [%rd0], %r2;\n"
      "mbarrier.arrive_drop.shared.b64 %rd2, [pool];\n"
      "mbarrier.pending_count.b64 %r2, %rd2;\nst.global.u32 [%rd0+4], %r2;\n"
      "mbarrier.test_wait.shared.b64 %p1, [pool], %rd2;\n"
      "selp.u32 %r2, 1, 0, %p1;\nst.global.u32 [%rd0+8], %r2;\n"
      "cp.async.mbarrier.arrive.shared.b64 [pool];\n"
      "cp.async.mbarrier.arrive.noinc.shared.b64 [pool];\n"
      "mbarrier.arrive.shared.b64 _, [pool];\n"
      "mbarrier.test_wait.shared.b64 %p1, [pool], %rd2;\n"
      "selp.u32 %r2, 1, 0, %p1;\nst.global.u32 [%rd0+12], %r2;\n"
      "mbarrier.arrive.shared.b64 %rd3, [pool];\n"
      "mbarrier.pending_count.b64 %r2, %rd3;\nst.global.u32 [%rd0+16], %r2;\n"
      "mbarrier.inval.shared.b64 [pool];\n",
      1, memory.data());
  // The thread that dropped out is not expected in the second phase.
  EXPECT_EQ(memory, (std::vector<uint32_t>{5, 3, 0, 1, 4, 0, 0, 0}));
}

}  // namespace
}  // namespace sluice::hostcuda
