// Loops over threads that are cut into whole vectors run each thread once, wherever they store.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Support/TargetSelect.h>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/run_pass.hpp"
#include "hostcuda/jit/vectors/whole_vectors.hpp"

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

struct NumberType {
  std::string name;
  std::string multiply;
  std::string numbers[3];  // 1000, 100 and 10
};
const NumberType u32{"u32", "mul.lo", {"1000", "100", "10"}};
const NumberType u64{"u64", "mul.lo", {"1000", "100", "10"}};
const NumberType f32{"f32", "mul", {"0f447A0000", "0f42C80000", "0f41200000"}};
const NumberType f64{
    "f64", "mul", {"0d408F400000000000", "0d4059000000000000", "0d4024000000000000"}};

// A kernel whose threads from `first` to before `last` write 1000 times what lies before their
// elements of `type` in `from`, 100 times these, 10 times what lies behind them, and what lies
// three elements behind that.
std::string neighbours_kernel(const NumberType& type, unsigned bytes) {
  return fmt::format(
      ".version 8.5\n.target sm_90\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 from, .param .u64 to, .param .u32 first,\n"
      ".param .u32 last) {{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .{1} %v<99>;\n.reg .b64 %rd<99>;\n"
      "ld.param.u64 %rd0, [from];\nld.param.u64 %rd5, [to];\nmov.u32 %r1, %tid.x;\n"
      "mov.u32 %r2, %ctaid.x;\nmov.u32 %r6, %ntid.x;\nmad.lo.s32 %r3, %r2, %r6, %r1;\n"
      "ld.param.u32 %r7, [first];\nld.param.u32 %r8, [last];\n"
      "setp.lt.s32 %p1, %r3, %r7;\nsetp.ge.s32 %p2, %r3, %r8;\nor.pred %p3, %p1, %p2;\n"
      "@%p3 bra END;\n"
      "mul.wide.s32 %rd1, %r3, {0};\nadd.s64 %rd2, %rd0, %rd1;\nadd.s64 %rd3, %rd5, %rd1;\n"
      "ld.global.{1} %v1, [%rd2+-{0}];\nld.global.{1} %v2, [%rd2];\n"
      "ld.global.{1} %v3, [%rd2+{0}];\nld.global.{1} %v4, [%rd2+{2}];\n"
      "{3}.{1} %v5, %v1, {4};\n{3}.{1} %v6, %v2, {5};\n{3}.{1} %v7, %v3, {6};\n"
      "add.{1} %v8, %v5, %v6;\nadd.{1} %v9, %v8, %v7;\nadd.{1} %v10, %v9, %v4;\n"
      "st.global.{1} [%rd3], %v10;\n"
      "END:\nret;\n}}\n",
      bytes, type.name, 4 * bytes, type.multiply, type.numbers[0], type.numbers[1],
      type.numbers[2]);
}

template <class Element>
void expect_neighbours(const NumberType& type) {
  Kernels kernels(compile_text(neighbours_kernel(type, sizeof(Element))));
  constexpr uint32_t block = 24;
  constexpr uint32_t grid = 6;
  constexpr uint32_t slack = 32;
  std::vector<Element> from(slack + block * grid + slack);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<Element>(i * 7 % 10);
  for (uint32_t misplaced = 1; misplaced < 16; misplaced += 2) {
    for (const uint32_t first : {0U, 1U, 17U}) {
      for (const uint32_t last : {2U, 17U, 33U, 50U, 97U, 144U}) {
        std::vector<Element> to(from.size(), 7);
        kernels.run("kernel", {grid}, {block}, 0, from.data() + 1, to.data() + misplaced, first,
                    last);
        for (uint32_t place = 0; place < to.size(); ++place) {
          const uint32_t at = place - misplaced + 1;
          const bool runs = place >= misplaced + first && place < misplaced + last;
          const Element wanted =
              runs ? 1000 * from[at - 1] + 100 * from[at] + 10 * from[at + 1] + from[at + 4] : 7;
          ASSERT_EQ(to[place], wanted) << type.name << ": threads " << first << " to " << last
                                       << ", " << misplaced << " elements on, at " << place;
        }
      }
    }
  }
}

TEST(JitSharedLoads, GiveEachThreadItsNeighbours) {
  expect_neighbours<uint32_t>(u32);
  expect_neighbours<uint64_t>(u64);
  expect_neighbours<float>(f32);
  expect_neighbours<double>(f64);
}

// machine() is one with such a processor, whatever this one has; nullptr where LLVM lacks it.
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

// CutLoop is what the pass makes of a loop with such a body.
struct CutLoop {
  unsigned bodies = 0;
  unsigned loads = 0;  // in a round of the body that runs in whole vectors
};

CutLoop cut(const std::string& body, const std::string& processor = last_level,
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
  CutLoop cut;
  run_pass<jit::WholeVectorsPass>(text, target.get(), [&](const llvm::Function& function, bool) {
    for (const llvm::BasicBlock& block : function) {
      if (!block.getName().starts_with("round")) continue;
      ++cut.bodies;
      if (block.getName() != "round") continue;
      for (const llvm::Instruction& instruction : block)
        cut.loads += llvm::isa<llvm::LoadInst>(instruction) ? 1 : 0;
    }
  });
  return cut;
}

unsigned bodies_of(const std::string& body, const std::string& processor = last_level,
                   const std::string& first = "%first", const std::string& last = "%last") {
  return cut(body, processor, first, last).bodies;
}

const std::string load_place =
    "%at = getelementptr float, ptr %from, i64 %i\n%value = load float, ptr %at\n";
const std::string store_place = "%to = getelementptr float, ptr %memory, i64 %i\n";
const std::string store = store_place + "store float %value, ptr %to\n";

class JitVectorCuts : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(machine(last_level), nullptr); }
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

// A load of `element` elements behind that of the round.
std::string load_at(int element, const std::string& how = "load float") {
  return fmt::format(
      "%j{0} = add i64 %i, {1}\n%at{0} = getelementptr float, ptr %from, i64 %j{0}\n"
      "%v{0} = {2}, ptr %at{0}\n",
      element + 8, element, how);
}

const std::string store_sum = "%sum = fadd float %v7, %v8\n%value = fadd float %sum, %v9\n" + store;

TEST_F(JitVectorCuts, LeaveOneLoadOfNeighbours) {
  EXPECT_EQ(cut(load_at(-1) + load_at(0) + load_at(1) + store_sum).loads, 1U);
  EXPECT_EQ(cut(load_at(1) + load_at(-1) + load_at(0) + store_sum).loads, 1U);
}

TEST_F(JitVectorCuts, LeaveLoadsFurtherApart) {
  EXPECT_EQ(cut(load_at(-1) + load_at(1) + "%value = fadd float %v7, %v9\n" + store).loads, 2U);
  EXPECT_EQ(cut(load_at(-1) + load_at(0) + load_at(4) +
                "%sum = fadd float %v7, %v8\n%value = fadd float %sum, %v12\n" + store)
                .loads,
            2U);
}

TEST_F(JitVectorCuts, TakeALoadOverOnce) {
  const std::string again = "%again = load float, ptr %at9\n";
  EXPECT_EQ(cut(load_at(0) + load_at(1) + again +
                "%sum = fadd float %v8, %v9\n%value = fadd float %sum, %again\n" + store)
                .loads,
            2U);
}

TEST_F(JitVectorCuts, LeaveVolatileLoads) {
  EXPECT_EQ(cut(load_at(-1, "load volatile float") + load_at(0) + load_at(1) + store_sum).loads,
            3U);
}

}  // namespace
}  // namespace sluice::hostcuda
