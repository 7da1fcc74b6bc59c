// What an analysis leaves out of a kernel: all that no address, branch or call depends on, and
// nothing else.
#include "analysis/kernel/data_only.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kernel_analysis.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "relation/isl_relation.hpp"

namespace sluice::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ptx::Module kernel_with(const std::string& statements) {
  auto module = ptx::parse(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 p, .param .u32 n) {\n"
      ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %c<9>;\n"
      ".shared .align 4 .b8 tile[1024]; .local .align 4 .b8 own[64];\n"
      "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n" +
      statements + "ret;\n}\n");
  EXPECT_TRUE(module) << (module ? "" : module.error().line());
  return std::move(*module);
}

// left_out_of() are the texts of the instructions that are left out, in their order.
std::vector<std::string> left_out_of(const std::string& statements) {
  const ptx::Module module = kernel_with(statements);
  const ptx::Block& body = module.find_function("k")->body;
  const auto found = data_only(body);
  std::vector<std::string> texts;
  for (const ptx::Statement& statement : body.statements) {
    const auto* instruction = std::get_if<ptx::Instruction>(&statement);
    if (instruction != nullptr && found.contains(instruction)) {
      texts.push_back(ptx::print(*instruction));
    }
  }
  return texts;
}

TEST(DataOnly, ArithmeticOnWhatIsStored) {
  EXPECT_THAT(left_out_of("ld.global.f32 %f1, [%rd2];\n"
                          "mul.f32 %f2, %f1, %f1;\n"
                          "add.f32 %f3, %f2, %f2;\n"
                          "st.global.f32 [%rd2], %f3;\n"),
              ElementsAre("mul.f32 %f2, %f1, %f1;", "add.f32 %f3, %f2, %f2;"));
}

TEST(DataOnly, UsesOfSharedMemory) {
  EXPECT_THAT(left_out_of("ld.global.f32 %f1, [%rd2];\n"
                          "mov.u32 %r1, tile;\n"
                          "st.shared.f32 [%r1], %f1;\n"
                          "bar.sync 0;\n"
                          "ld.shared.f32 %f2, [%r1+4];\n"
                          "st.global.f32 [%rd2], %f2;\n"),
              ElementsAre("st.shared.f32 [%r1], %f1;", "ld.shared.f32 %f2, [%r1+4];"));
}

TEST(DataOnly, NotWhatAnAddressComesFrom) {
  EXPECT_THAT(left_out_of("mov.u32 %r1, tile;\n"
                          "ld.shared.u32 %r2, [%r1];\n"
                          "mul.wide.u32 %rd3, %r2, 4;\n"
                          "add.s64 %rd4, %rd2, %rd3;\n"
                          "st.global.u32 [%rd4], %r2;\n"),
              IsEmpty());
}

TEST(DataOnly, NotWhatABranchOrAGuardComesFrom) {
  EXPECT_THAT(left_out_of("ld.global.u32 %r1, [%rd2];\n"
                          "add.s32 %r2, %r1, 1;\n"
                          "setp.eq.s32 %c1, %r2, 0;\n"
                          "@%c1 bra done;\n"
                          "sub.s32 %r3, %r1, 5;\n"
                          "setp.lt.s32 %c2, %r3, 0;\n"
                          "@%c2 st.global.u32 [%rd2], %r1;\n"
                          "done:\n"),
              IsEmpty());
}

// The text's order says nothing: %r2 of one round is the address of the next.
TEST(DataOnly, NotWhatALoopBringsToAnAddress) {
  EXPECT_THAT(left_out_of("mov.u32 %r1, 0;\n"
                          "again:\n"
                          "mul.wide.u32 %rd3, %r1, 4;\n"
                          "add.s64 %rd4, %rd2, %rd3;\n"
                          "ld.global.u32 %r2, [%rd4];\n"
                          "add.s32 %r1, %r1, 1;\n"
                          "setp.lt.u32 %c1, %r1, 16;\n"
                          "@%c1 bra again;\n"),
              IsEmpty());
}

TEST(DataOnly, NotWhatLocalMemoryHolds) {
  EXPECT_THAT(left_out_of("add.s32 %r1, 3, 4;\n"
                          "st.local.u32 [own], %r1;\n"
                          "ld.local.u32 %r2, [own];\n"
                          "mul.wide.u32 %rd3, %r2, 4;\n"
                          "add.s64 %rd4, %rd2, %rd3;\n"
                          "st.global.u32 [%rd4], 1;\n"),
              IsEmpty());
}

// A carry is a result that no operand names.
TEST(DataOnly, NotWhatCarries) {
  EXPECT_THAT(left_out_of("mov.u32 %r5, 1;\n"
                          "add.cc.u32 %r1, %r5, 2;\n"
                          "addc.u32 %r2, %r5, 4;\n"
                          "mul.wide.u32 %rd3, %r2, 4;\n"
                          "add.s64 %rd4, %rd2, %rd3;\n"
                          "st.global.u32 [%rd4], 1;\n"),
              IsEmpty());
}

TEST(DataOnly, NotWhatOtherLanesOrBlocksMayRead) {
  EXPECT_THAT(left_out_of("add.s32 %r1, 3, 4;\n"
                          "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n"
                          "sub.s32 %r3, 3, 4;\n"
                          "red.global.add.u32 [%rd2], %r3;\n"),
              IsEmpty());
}

// What the lifter refuses, it must see.
TEST(DataOnly, NotWhatMayBeUnsupported) {
  const char* refused[] = {"mov.u32 %r1, %total_smem_size;\n", "add.rm.f32 %f1, %f2, %f3;\n",
                           "cvt.rn.satfinite.e4m3x2.f32 %r1, %f1, %f2;\n"};
  for (const char* statement : refused)
    EXPECT_THAT(left_out_of(statement), IsEmpty()) << statement;
  auto analysis = KernelAnalysis::create(kernel_with(refused[0]), "k");
  ASSERT_FALSE(analysis);
  EXPECT_EQ(analysis.error().kind, ErrorKind::unsupported) << analysis.error().line();
}

// Loads whose values only such arithmetic used still read.
TEST(DataOnly, FootprintsKeepTheirReads) {
  const ptx::Module module = kernel_with(
      "mov.u32 %r1, %tid.x;\n"
      "mul.wide.u32 %rd3, %r1, 4;\n"
      "add.s64 %rd4, %rd2, %rd3;\n"
      "ld.global.u8 %r2, [%rd4+1024];\n"
      "cvt.rn.f32.u32 %f1, %r2;\n"
      "mul.f32 %f2, %f1, %f1;\n"
      "st.global.f32 [%rd4], %f2;\n");
  auto analysis = KernelAnalysis::create(module, "k");
  ASSERT_TRUE(analysis) << analysis.error().line();
  EXPECT_THAT((*analysis)->signature().shape_scalars, IsEmpty());
  const Footprint footprint = (*analysis)->footprint({.grid = {1, 1, 1}, .block = {32, 1, 1}});
  ASSERT_EQ(footprint.arguments.size(), 1u);
  EXPECT_EQ(footprint.arguments[0].reads.precision, Precision::exact);
  EXPECT_NE(text_of(footprint.arguments[0].reads.relation).find("1024"), std::string::npos)
      << text_of(footprint.arguments[0].reads.relation);
  EXPECT_TRUE(footprint.arguments[0].must_writes.present());
}

// Products of matrices are data, and so are fragments from shared memory.
TEST(DataOnly, ProductsOfMatrices) {
  const std::string a = "{%r1, %r2, %r3, %r4}", b = "{%r5, %r6}", c = "{%f1, %f2, %f3, %f4}";
  EXPECT_THAT(
      left_out_of("mov.u32 %r7, tile;\n"
                  "ldmatrix.sync.aligned.m8n8.x4.shared.b16 " +
                  a + ", [%r7];\n" +
                  "ld.global.u32 %r5, [%rd2];\n"
                  "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " +
                  c + ", " + a + ", " + b + ", " + c + ";\n" + "st.global.f32 [%rd2], %f1;\n"),
      ElementsAre("ldmatrix.sync.aligned.m8n8.x4.shared.b16 " + a + ", [%r7];",
                  "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + c + ", " + a + ", " + b +
                      ", " + c + ";"));
}

}  // namespace
}  // namespace sluice::analysis
