// Blocks that run as one row of threads compute what they compute one by one.
#include <string>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>

#include "hostcuda/jit/lowering/thread_function.hpp"
#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/threads/row_threads.hpp"

namespace sluice::hostcuda {
namespace {

// A kernel over words of memory. %r1 is tid.x, %r2 ctaid.x, %r3 their place in the row, %r4 ctaid.y
// and %r5 the threads of a row.
std::string kernel_of(const std::string& body) {
  return ".version 8.5\n.target sm_90\n.address_size 64\n"
         ".visible .entry kernel(.param .u64 memory) {\n"
         ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n.local .align 4 .b8 own[64];\n"
         "ld.param.u64 %rd0, [memory];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
         "mov.u32 %r6, %ntid.x;\nmad.lo.u32 %r3, %r2, %r6, %r1;\nmov.u32 %r4, %ctaid.y;\n"
         "mov.u32 %r7, %nctaid.x;\nmul.lo.u32 %r5, %r6, %r7;\n" +
         body + "ret;\n}\n";
}

const char* const store_r8 =
    "mad.lo.u32 %r9, %r4, %r5, %r3;\nmad.wide.u32 %rd1, %r9, 4, %rd0;\n"
    "st.global.u32 [%rd1], %r8;\n";

// Each word that the kernel leaves, where blocks run on so many workers.
std::vector<uint32_t> run_rows(const std::string& body, uint32_t block, uint32_t grid_x,
                               unsigned workers) {
  constexpr uint32_t rows = 3;
  std::vector<uint32_t> memory(block * grid_x * rows + 8, 7);
  Kernels kernels(compile_text(kernel_of(body)));
  kernels.run_on(workers, "kernel", {grid_x, rows}, {block}, 0, memory.data());
  for (uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(memory[block * grid_x * rows + i], 7U);
  memory.resize(block * grid_x * rows);
  return memory;
}

// expect_words() runs the body on blocks of several widths and wants wanted(tid.x, ctaid.x, place
// in the row) in each word.
template <class Wanted>
void expect_words(const std::string& body, Wanted wanted) {
  for (const uint32_t block : {1U, 5U, 16U, 24U, 32U, 96U}) {
    for (const uint32_t grid_x : {1U, 2U, 7U}) {
      for (const unsigned workers : {1U, 3U}) {
        const std::vector<uint32_t> found = run_rows(body, block, grid_x, workers);
        for (uint32_t i = 0; i < found.size(); ++i) {
          const uint32_t place = i % (block * grid_x);
          ASSERT_EQ(found[i], wanted(place % block, place / block, place))
              << i << ", blocks of " << block << ", " << grid_x << " in a row";
        }
      }
    }
  }
}

TEST(JitRows, AThreadKnowsItsPlaceInTheRow) {
  expect_words("add.u32 %r8, %r3, 1000;\n" + std::string(store_r8),
               [](uint32_t, uint32_t, uint32_t place) { return place + 1000; });
}

TEST(JitRows, AThreadKnowsItsPlaceIn64Bits) {
  expect_words(
      "mul.wide.u32 %rd2, %r2, %r6;\ncvt.u64.u32 %rd3, %r1;\nadd.u64 %rd4, %rd2, %rd3;\n"
      "mul.wide.u32 %rd5, %r4, %r5;\nadd.u64 %rd6, %rd5, %rd4;\nshl.b64 %rd6, %rd6, 2;\n"
      "add.u64 %rd7, %rd6, %rd0;\ncvt.u32.u64 %r8, %rd4;\nst.global.u32 [%rd7], %r8;\n",
      [](uint32_t, uint32_t, uint32_t place) { return place; });
}

TEST(JitRows, AThreadKnowsItsPlaceInTheBlock) {
  expect_words("mul.lo.u32 %r8, %r1, 3;\n" + std::string(store_r8),
               [](uint32_t tid, uint32_t, uint32_t) { return 3 * tid; });
}

TEST(JitRows, AThreadKnowsItsBlock) {
  expect_words("mul.lo.u32 %r8, %r2, 3;\n" + std::string(store_r8),
               [](uint32_t, uint32_t block, uint32_t) { return 3 * block; });
}

TEST(JitRows, AThreadKeepsItsOwnMemory) {
  expect_words(
      "and.b32 %r10, %r3, 15;\nmov.u64 %rd2, own;\nmad.wide.u32 %rd3, %r10, 4, %rd2;\n"
      "st.local.u32 [%rd3], %r3;\nld.local.u32 %r8, [%rd3];\n" +
          std::string(store_r8),
      [](uint32_t, uint32_t, uint32_t place) { return place; });
}

TEST(JitRows, ThreadsBranchByTheirPlace) {
  expect_words(
      "and.b32 %r10, %r3, 1;\nsetp.eq.u32 %p1, %r10, 0;\nmov.u32 %r8, 4;\n@%p1 bra EVEN;\n"
      "shl.b32 %r8, %r3, 1;\nEVEN:\n" +
          std::string(store_r8),
      [](uint32_t, uint32_t, uint32_t place) { return place % 2 == 0 ? 4 : 2 * place; });
}

// The first row of blocks goes through all rows' words, the last five apart: %r10 is where a thread
// is and %r11 where it ends.
const char* const stride_loop =
    "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra DONE;\nmul.lo.u32 %r11, %r5, 3;\nsub.s32 %r11, %r11, 5;\n"
    "mov.u32 %r10, %r3;\nsetp.ge.s32 %p2, %r10, %r11;\n@%p2 bra DONE;\nLOOP:\n"
    "mul.wide.u32 %rd1, %r10, 4;\nadd.u64 %rd1, %rd1, %rd0;\nld.global.u32 %r12, [%rd1];\n"
    "mad.lo.u32 %r12, %r12, 2, %r10;\nst.global.u32 [%rd1], %r12;\nadd.u32 %r10, %r10, %r5;\n"
    "setp.lt.s32 %p3, %r10, %r11;\n@%p3 bra LOOP;\nDONE:\n";

void expect_strides(uint32_t block, uint32_t grid_x, unsigned workers) {
  const std::vector<uint32_t> found = run_rows(stride_loop, block, grid_x, workers);
  for (uint32_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i], i + 5 < found.size() ? 14 + i : 7)
        << i << ", blocks of " << block << ", " << grid_x << " in a row";
  }
}

TEST(JitRows, GoRoundGridStrideLoopsTogether) {
  for (const uint32_t block : {1U, 8U, 32U, 100U, 1024U}) {
    for (const uint32_t grid_x : {1U, 2U, 7U, 70U}) {
      expect_strides(block, grid_x, 1);
      expect_strides(block, grid_x, 3);
    }
  }
}

TEST(JitRows, KeepTheirSumsFromRoundToRound) {
  // %r8 is three times itself, a word's 7 and the place, as often as a row has threads.
  expect_words(
      "mov.u32 %r8, 0;\nmov.u32 %r13, 0;\nmad.lo.u32 %r9, %r4, %r5, %r3;\n"
      "mul.wide.u32 %rd1, %r9, 4;\nadd.u64 %rd1, %rd1, %rd0;\nLOOP:\n"
      "ld.global.u32 %r12, [%rd1];\nmad.lo.u32 %r8, %r8, 3, %r12;\nadd.u32 %r8, %r8, %r3;\n"
      "add.u32 %r13, %r13, 1;\nsetp.lt.u32 %p3, %r13, 77;\n@%p3 bra LOOP;\n"
      "st.global.u32 [%rd1], %r8;\n",
      [](uint32_t, uint32_t, uint32_t place) {
        uint32_t sum = 0;
        for (int round = 0; round < 77; ++round)
          sum = 3 * sum + 7 + place;
        return sum;
      });
}

// RowThreads are functions with a thread function's first arguments.
class RowThreads : public testing::Test {
 protected:
  RowThreads() {
    std::vector<llvm::Type*> types(jit::ThreadFunction::first_parameter, ir_.getInt32Ty());
    function_ = llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), types, false),
                                       llvm::Function::ExternalLinkage, "thread", module_);
    ir_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
    tid_ = function_->getArg(jit::ThreadFunction::tid);
    ctaid_ = function_->getArg(jit::ThreadFunction::ctaid);
  }

  void use(llvm::Value* value) { ir_.CreateStore(value, ir_.CreateAlloca(value->getType())); }

  llvm::LLVMContext context_;
  llvm::Module module_{"rows", context_};
  llvm::IRBuilder<> ir_{context_};
  llvm::Function* function_ = nullptr;
  llvm::Value* tid_ = nullptr;
  llvm::Value* ctaid_ = nullptr;
};

TEST_F(RowThreads, AreNumberedWhereOnlyTheirPlaceIsUsed) {
  auto* sum = llvm::BinaryOperator::CreateDisjointOr(ir_.CreateShl(ctaid_, 5), tid_);
  use(ir_.Insert(sum));
  use(ir_.CreateNUWAdd(ir_.CreateMul(ir_.CreateZExt(ctaid_, ir_.getInt64Ty()), ir_.getInt64(32)),
                       ir_.CreateZExt(tid_, ir_.getInt64Ty())));
  ASSERT_TRUE(jit::number_threads_by_row(*function_, {32}));
  for (const llvm::Instruction& instruction : function_->getEntryBlock()) {
    EXPECT_NE(instruction.getOpcode(), llvm::Instruction::Or);
    const bool adds = instruction.getOpcode() == llvm::Instruction::Add;
    EXPECT_FALSE(adds && instruction.hasNoUnsignedWrap());
  }
}

TEST_F(RowThreads, AreNotNumberedWhereTheThreadIsUsedAlone) {
  use(ir_.CreateAdd(ir_.CreateShl(ctaid_, 5), tid_));
  use(tid_);
  EXPECT_FALSE(jit::number_threads_by_row(*function_, {32}));
}

TEST_F(RowThreads, AreNotNumberedWhereTheBlockIsUsedAlone) {
  use(ir_.CreateAdd(ir_.CreateShl(ctaid_, 5), tid_));
  use(ir_.CreateShl(ctaid_, 5));
  EXPECT_FALSE(jit::number_threads_by_row(*function_, {32}));
}

TEST_F(RowThreads, AreNotNumberedWhereBlocksOverlap) {
  use(ir_.CreateAdd(ir_.CreateMul(ctaid_, ir_.getInt32(30)), tid_));
  EXPECT_FALSE(jit::number_threads_by_row(*function_, {32}));
}

TEST_F(RowThreads, AreNotNumberedWhereNothingIsUsed) {
  EXPECT_FALSE(jit::number_threads_by_row(*function_, {32}));
}

}  // namespace
}  // namespace sluice::hostcuda
