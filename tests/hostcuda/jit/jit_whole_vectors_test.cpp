// Loops over threads that are cut into whole vectors run each thread once, wherever they store.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>

#include "hostcuda/jit/object/whole_vectors.hpp"
#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

// A kernel whose threads from `first` to before `last` add 1 to their elements of `type`.
std::string adding_kernel(const std::string& type, unsigned bytes) {
  const std::string wide = bytes == 8 ? "rd" : "r";
  return fmt::format(
      ".version 8.5\n.target sm_90\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 memory, .param .u32 first, .param .u32 last) {{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
      "ld.param.u64 %rd0, [memory];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
      "mov.u32 %r6, %ntid.x;\nmad.lo.s32 %r3, %r2, %r6, %r1;\n"
      "ld.param.u32 %r7, [first];\nld.param.u32 %r8, [last];\n"
      "setp.lt.s32 %p1, %r3, %r7;\nsetp.ge.s32 %p2, %r3, %r8;\nor.pred %p3, %p1, %p2;\n"
      "@%p3 bra END;\n"
      "mul.wide.s32 %rd1, %r3, {0};\nadd.s64 %rd2, %rd0, %rd1;\n"
      "ld.global.{1} %{2}9, [%rd2];\nadd.{3} %{2}10, %{2}9, 1;\nst.global.{1} [%rd2], %{2}10;\n"
      "END:\nret;\n}}\n",
      bytes, type, wide, bytes == 8 ? "u64" : "u32");
}

template <class Element>
void expect_each_thread_once(const std::string& type) {
  Kernels kernels(compile_text(adding_kernel(type, sizeof(Element))));
  constexpr uint32_t block = 24;
  constexpr uint32_t grid = 6;
  constexpr uint32_t threads = block * grid;
  constexpr uint32_t slack = 64;
  for (uint32_t misplaced = 0; misplaced < 64 / sizeof(Element); ++misplaced) {
    for (const uint32_t first : {0U, 1U, 5U, 16U, 143U}) {
      for (const uint32_t last : {1U, 2U, 17U, 33U, 64U, 77U, 127U, 128U, 143U, 144U}) {
        std::vector<Element> memory(slack + threads + slack, 7);
        Element* begin = memory.data() + misplaced;
        kernels.run("kernel", {grid}, {block}, 0, begin, first, last);
        for (uint32_t place = 0; place < memory.size(); ++place) {
          const uint32_t thread = place - misplaced;
          const bool runs = place >= misplaced && first <= thread && thread < last;
          ASSERT_EQ(memory[place], runs ? 8U : 7U)
              << type << ": threads " << first << " to " << last << ", " << misplaced
              << " elements on, at " << place;
        }
      }
    }
  }
}

TEST(JitWholeVectors, RunEachThreadOfOneByteOnce) {
  expect_each_thread_once<uint8_t>("u8");
}

TEST(JitWholeVectors, RunEachThreadOfTwoBytesOnce) {
  expect_each_thread_once<uint16_t>("u16");
}

TEST(JitWholeVectors, RunEachThreadOfFourBytesOnce) {
  expect_each_thread_once<uint32_t>("u32");
}

TEST(JitWholeVectors, RunEachThreadOfEightBytesOnce) {
  expect_each_thread_once<uint64_t>("u64");
}

// machine() is one with masks, whatever this one has; nullptr where LLVM lacks it.
std::unique_ptr<llvm::TargetMachine> machine(const std::string& processor) {
  llvm::InitializeNativeTarget();
  llvm::orc::JITTargetMachineBuilder builder{llvm::Triple("x86_64-unknown-linux-gnu")};
  builder.setCPU(processor);
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> made = builder.createTargetMachine();
  if (made) return std::move(*made);
  llvm::consumeError(made.takeError());
  return nullptr;
}

constexpr const char* last_level = "x86-64-v4";

// bodies_of() runs the pass over a loop with such a body and says how many of it there are then.
unsigned bodies_of(const std::string& body, const std::string& processor = last_level,
                   const std::string& first = "%first", const std::string& last = "%last") {
  const std::unique_ptr<llvm::TargetMachine> target = machine(processor);
  const std::string text = fmt::format(R"(
declare float @llvm.sqrt.f32(float)
declare void @other()
define void @f(ptr noalias %from, ptr noalias %memory, i64 %first, i64 %last, i64 %step) {{
entry:
  %any = icmp ult i64 {1}, {2}
  br i1 %any, label %enter, label %done
enter:
  br label %round
round:
  %i = phi i64 [ {1}, %enter ], [ %next, %round ]
  {0}
  %next = add nuw nsw i64 %i, 1
  %more = icmp ne i64 %next, {2}
  br i1 %more, label %round, label %leave, !llvm.loop !0
leave:
  br label %done
done:
  ret void
}}
!0 = distinct !{{!0, !2}}
!1 = distinct !{{}}
!2 = !{{!"llvm.loop.parallel_accesses", !1}}
)",
                                       body, first, last);
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  if (module == nullptr) {
    ADD_FAILURE() << problem.getMessage().str() << "\n" << text;
    return 0;
  }
  llvm::FunctionAnalysisManager analyses;
  llvm::PassBuilder(target.get()).registerFunctionAnalyses(analyses);
  llvm::Function& function = *module->getFunction("f");
  jit::WholeVectorsPass::run(function, analyses);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  const auto is_body = [](const llvm::BasicBlock& block) {
    return block.getName().starts_with("round");
  };
  return static_cast<unsigned>(std::count_if(function.begin(), function.end(), is_body));
}

const std::string load_place =
    "%at = getelementptr float, ptr %from, i64 %i\n%value = load float, ptr %at\n";
const std::string store_place = "%to = getelementptr float, ptr %memory, i64 %i\n";
const std::string store = store_place + "store float %value, ptr %to\n";

class JitVectorCuts : public testing::Test {
 protected:
  void SetUp() override {
    if (machine(last_level) == nullptr) GTEST_SKIP() << "LLVM has no such machine here";
  }
};

TEST_F(JitVectorCuts, AreMadeWhereNeighboursStoreToNeighbouringPlaces) {
  EXPECT_EQ(bodies_of(load_place + store), 2U);
  EXPECT_EQ(bodies_of(load_place + "%root = call float @llvm.sqrt.f32(float %value)\n" +
                      store_place + "store float %root, ptr %to\n"),
            2U);
}

TEST_F(JitVectorCuts, AreNotMadeWhereStoresLieApart) {
  EXPECT_EQ(bodies_of(load_place + "%j = mul i64 %i, 2\n%to = getelementptr float, ptr %memory, "
                                   "i64 %j\nstore float %value, ptr %to\n"),
            1U);
  EXPECT_EQ(bodies_of(load_place + "%j = mul i64 %i, %step\n%to = getelementptr float, ptr "
                                   "%memory, i64 %j\nstore float %value, ptr %to\n"),
            1U);
}

TEST_F(JitVectorCuts, AreNotMadeWhereARoundDoesWhatNoVectorCan) {
  EXPECT_EQ(bodies_of(load_place + store + "call void @other()\n"), 1U);
  EXPECT_EQ(bodies_of(load_place + store_place +
                      "store atomic float %value, ptr %to monotonic, align 4\n"),
            1U);
  EXPECT_EQ(bodies_of(load_place + store + "fence seq_cst\n"), 1U);
}

TEST_F(JitVectorCuts, AreNotMadeInLongBodies) {
  std::string body = load_place + "%a0 = fadd float %value, 1.0\n";
  for (int i = 0; i < 200; ++i) {
    body += fmt::format("%a{} = fadd float %a{}, 1.0\n", i + 1, i);
  }
  EXPECT_EQ(bodies_of(body + store_place + "store float %a200, ptr %to\n"), 1U);
}

TEST_F(JitVectorCuts, AreNotMadeWhereMasksCostMuch) {
  EXPECT_EQ(bodies_of(load_place + store, "x86-64-v3"), 1U);
  EXPECT_EQ(bodies_of(load_place + store, "x86-64"), 1U);
}

TEST_F(JitVectorCuts, AreNotMadeWhereNoThreadIsLeftOver) {
  EXPECT_EQ(bodies_of(load_place + store, last_level, "0", "128"), 1U);
  EXPECT_EQ(bodies_of(load_place + store, last_level, "0", "130"), 2U);
}

}  // namespace
}  // namespace sluice::hostcuda
