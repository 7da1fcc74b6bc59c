// Arithmetic that makes zeros of subnormal numbers (.ftz), by the processor and by selects.
#include "hostcuda/jit/object/flushed_operands.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "hostcuda/jit/block_function.hpp"
#include "hostcuda/jit/run_kernel.hpp"
#include "ptx/lift/flush.hpp"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sluice::hostcuda {
namespace {

constexpr uint32_t least = 0x00800000;  // the least normal number
constexpr uint32_t sign = 0x80000000;
constexpr uint32_t one = 0x3F800000;

// A number times two to that power.
constexpr uint32_t times(uint32_t power, uint32_t bits) {
  return bits + (power << 23U);
}

// A kernel of 16 threads: thread t loads values[t] as %v and stores the bits in %r there.
std::string kernel(const std::string& body) {
  return ".version 7.5\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 values) {\n"
         ".reg .pred %p<9>; .reg .b32 %r, %t, %n; .reg .b64 %at, %o; .reg .f32 %v, %f<9>;\n"
         ".reg .f64 %d<9>;\n"
         "ld.param.u64 %at, [values];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\n"
         "add.u64 %at, %at, %o;\nld.global.f32 %v, [%at];\n" +
         body + "st.global.b32 [%at], %r;\nret;\n}\n";
}

// What the body makes of a value, the same in all threads.
uint32_t made_of(uint32_t value, const std::string& body) {
  std::unique_ptr<CompiledModule> module = compile_text(kernel(body));
  if (!module) return ~value;
  std::vector<uint32_t> values(16, value);
  Kernels(std::move(module)).run("k", {1}, {16}, 0, values.data());
  for (const uint32_t each : values)
    EXPECT_EQ(each, values[0]);
  return values[0];
}

const std::string result = "mov.b32 %r, %f1;\n";

TEST(FlushedOperands, AreZerosInArithmetic) {
  const std::string twice = "mul.ftz.f32 %f1, %v, 0f40000000;\n" + result;
  EXPECT_EQ(made_of(least / 2, twice), 0u);
  EXPECT_EQ(made_of(least / 2 | sign, twice), sign);
  EXPECT_EQ(made_of(least, twice), times(1, least));
  EXPECT_EQ(made_of(least / 2, "add.ftz.f32 %f1, %v, %v;\n" + result), 0u);
  EXPECT_EQ(made_of(least / 2, "fma.rn.ftz.f32 %f1, %v, 0f7F000000, 0f3F800000;\n" + result), one);
  EXPECT_EQ(made_of(least / 2, "sqrt.approx.ftz.f32 %f1, %v;\n" + result), 0u);
  EXPECT_EQ(made_of(least / 2, "mul.f32 %f1, %v, 0f40000000;\n" + result), least);
}

// Times one is a number as it is, and LLVM knows.
TEST(FlushedOperands, AreZerosWhereverTheyGo) {
  EXPECT_EQ(made_of(least / 2, "mul.ftz.f32 %f1, %v, 0f3F800000;\n" + result), 0u);
  EXPECT_EQ(made_of(least / 2 | sign, "abs.ftz.f32 %f1, %v;\n" + result), 0u);
  EXPECT_EQ(made_of(least / 2, "neg.ftz.f32 %f2, %v;\nadd.ftz.f32 %f1, %f2, %f2;\n" + result),
            sign);
  EXPECT_EQ(made_of(least / 2,
                    "max.ftz.f32 %f2, %v, 0fFF800000;\n"
                    "mul.ftz.f32 %f1, %f2, 0f7F000000;\n" +
                        result),
            0u);
}

TEST(FlushedOperands, AreEqualToZero) {
  const std::string is_zero =
      "setp.eq.ftz.f32 %p1, %v, 0f00000000;\nselp.u32 %r, 1, 0, %p1;\n"
      "mul.ftz.f32 %f1, %v, 0f40000000;\nst.global.f32 [%at], %f1;\n";
  EXPECT_EQ(made_of(least / 2, is_zero), 1u);
  EXPECT_EQ(made_of(least, is_zero), 0u);
}

// A sum that a loop carries is flushed in each round, and behind the loop for who looks at its
// bits.
TEST(FlushedOperands, AreFlushedBehindALoop) {
  const std::string halved =
      "mov.f32 %f1, %v;\nmov.u32 %n, 0;\nL:\n"
      "mul.ftz.f32 %f1, %f1, 0f3F000000;\n"
      "add.u32 %n, %n, 1;\nsetp.lt.u32 %p1, %n, 3;\n@%p1 bra L;\n";
  EXPECT_EQ(made_of(times(3, least), halved + result), least);
  EXPECT_EQ(made_of(times(2, least), halved + result), 0u);
  EXPECT_EQ(made_of(times(2, least) | sign, halved + result), sign);
  EXPECT_EQ(made_of(times(2, least), halved + "mul.ftz.f32 %f1, %f1, 0f7F000000;\n" + result), 0u);
  EXPECT_EQ(made_of(times(2, least), halved + "setp.gt.u32 %p2, %n, 9;\n"
                                              "selp.f32 %f2, %v, %f1, %p2;\nmov.b32 %r, %f2;\n"),
            0u);
}

// What asks for subnormal numbers beside gets them.
TEST(FlushedOperands, LeaveOthersAlone) {
  const std::string flushed = "mul.ftz.f32 %f2, %v, 0f3F800000;\n";
  EXPECT_EQ(made_of(least / 2, flushed + "add.f32 %f1, %v, %f2;\n" + result), least / 2);
  EXPECT_EQ(made_of(least / 2, flushed +
                                   "cvt.f64.f32 %d1, %v;\nmul.f64 %d1, %d1, 0d4000000000000000;\n"
                                   "cvt.rn.f32.f64 %f1, %d1;\n" +
                                   result),
            least);
  EXPECT_EQ(made_of(least / 2, flushed + "cvt.rpi.f32.f32 %f1, %v;\n" + result), one);
}

// As PTX has it: in global memory an atomic sum takes them for zeros too, in shared memory it does
// not.
TEST(FlushedOperands, AreZerosInAtomicSumsOfGlobalMemory) {
  const std::string flushed = "mul.ftz.f32 %f2, %v, 0f40000000;\n";
  const std::string sum = "red.global.add.f32 [%at], %f2;\nld.global.b32 %r, [%at];\n";
  EXPECT_EQ(made_of(least / 2, flushed + sum), 0u);
  EXPECT_EQ(made_of(least, flushed + sum), times(1, least) + (1U << 22U));
  EXPECT_EQ(made_of(one, flushed + "atom.global.add.f32 %f1, [%at], %f2;\n" + result), one);
  EXPECT_EQ(made_of(least / 2,
                    flushed + ".shared .f32 s[16];\nmov.u32 %n, s;\nmad.lo.u32 %n, %t, 4, %n;\n"
                              "st.shared.f32 [%n], %v;\nred.shared.add.f32 [%n], %v;\n"
                              "ld.shared.b32 %r, [%n];\n"),
            least);
}

// Whether the processor flushes for a function that doubles what it loads and takes one from a
// number of such bits.
bool flushes_beside(const std::string& bits) {
  const jit::BlockFunction parsed("", "ptr %in",
                                  "entry:\n  %value = load float, ptr %in\n"
                                  "  %twice = fmul float %value, 2.0\n  %bits = " +
                                      bits +
                                      "\n  %number = bitcast i32 %bits to float\n"
                                      "  %less = fsub float %number, 1.0\n"
                                      "  %sum = fadd float %twice, 1.0\n"
                                      "  store float %less, ptr %in\n  ret void\n");
  llvm::Function* function = parsed.get();
  if (function == nullptr) return false;
  for (llvm::Instruction& instruction : llvm::instructions(*function)) {
    if (instruction.getName() != "twice") continue;
    llvm::IRBuilder<> ir(&instruction);
    instruction.setOperand(0, ptx::flush(instruction.getOperand(0), ir));
    ir.SetInsertPoint(instruction.getNextNode());
    llvm::Value* flushed = ptx::flush(&instruction, ir);
    instruction.replaceUsesWithIf(flushed,
                                  [](llvm::Use& use) { return use.getUser()->getName() == "sum"; });
  }
  return jit::flush_by_processor(*function);
}

// The select of such a number is folded, which is no reason to keep all others.
TEST(FlushedOperands, MayBeMadeOfBits) {
  EXPECT_TRUE(flushes_beside("or i32 %n, 1065353216"));
  EXPECT_FALSE(flushes_beside("add i32 %n, 1065353216"));
  EXPECT_FALSE(flushes_beside("freeze i32 %n"));
}

#if defined(__x86_64__)
TEST(FlushedOperands, LeaveTheThreadAsItWas) {
  const unsigned before = _mm_getcsr();
  EXPECT_EQ(made_of(least / 2, "mul.ftz.f32 %f1, %v, 0f40000000;\n" + result), 0u);
  EXPECT_EQ(_mm_getcsr() & ~0x3FU, before & ~0x3FU);  // but for what has happened
}
#endif

}  // namespace
}  // namespace sluice::hostcuda
