// The conventions of lifted IR, as ptx/lift.hpp states them.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "ptx/corpus.hpp"
#include "ptx/lift.hpp"
#include "ptx/lift/lift_on_host.hpp"
#include "ptx/parser.hpp"

namespace sluice::ptx::test {
namespace {

std::unique_ptr<llvm::Module> lift_text(llvm::LLVMContext& context, const std::string& text,
                                        std::string_view kernel = "k") {
  auto source = parse(text);
  EXPECT_TRUE(source) << source.error().line();
  auto lifted = lift(context, *source, kernel);
  EXPECT_TRUE(lifted) << lifted.error().line();
  return std::move(*lifted);
}

template <class Kind>
std::vector<Kind*> all(llvm::Function& function) {
  std::vector<Kind*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* match = llvm::dyn_cast<Kind>(&instruction)) found.push_back(match);
  }
  return found;
}

std::string text_of(const llvm::Value& value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream);
  return text;
}

TEST(LiftConvention, ParametersKeepNamesOrderAndTypes) {
  llvm::LLVMContext context;
  auto module = lift_text(
      context, unit(".visible .entry k(.param .u64 a, .param .f32 b, .param .f64 c, .param .u8 d,\n"
                    ".param .align 8 .b8 e[24], .param .s16 f)\n.maxntid 64, 2, 1\n{ret;}\n"));
  llvm::Function* kernel = module->getFunction("k");
  EXPECT_NE(text_of(*kernel).find("define ptx_kernel void @k(i64 %a, float %b, double %c, i8 %d, "
                                  "ptr byval([24 x i8]) align 8 %e, i16 %f)"),
            std::string::npos)
      << text_of(*kernel);
  ASSERT_EQ(kernel->arg_size(), 6U);
  EXPECT_EQ(kernel->getArg(4)->getName(), "e");
  EXPECT_EQ(kernel->getArg(4)->getParamAlign(), llvm::Align(8));
  EXPECT_TRUE(kernel->getArg(5)->getType()->isIntegerTy(16));
  EXPECT_EQ(module->getTargetTriple(), "nvptx64-nvidia-cuda");
  std::string annotations;
  llvm::raw_string_ostream stream(annotations);
  module->print(stream, nullptr);
  EXPECT_NE(annotations.find("!{ptr @k, !\"kernel\", i32 1}"), std::string::npos);
  EXPECT_NE(annotations.find("!{ptr @k, !\"maxntidx\", i32 64}"), std::string::npos);
  EXPECT_NE(annotations.find("!{ptr @k, !\"maxntidy\", i32 2}"), std::string::npos);
}

TEST(LiftConvention, MultiplyAddIsPlainArithmetic) {
  llvm::LLVMContext context;
  auto module = lift_text(
      context,
      unit(".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<5>;\n.reg .b64 %rd<5>;\n"
           "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\n"
           "mov.u32 %r3, %tid.x;\nmad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.s32 %rd2, %r4, 4;\n"
           "add.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3+8], %r4;\nret;\n}\n"));
  std::vector<std::string> opcodes;
  for (llvm::Instruction& instruction : llvm::instructions(*module->getFunction("k"))) {
    opcodes.emplace_back(instruction.getOpcodeName());
  }
  EXPECT_EQ(opcodes, (std::vector<std::string>{"call", "call", "call", "mul", "add", "sext", "mul",
                                               "add", "add", "inttoptr", "store", "ret"}));
  auto stores = all<llvm::StoreInst>(*module->getFunction("k"));
  ASSERT_EQ(stores.size(), 1U);
  EXPECT_EQ(stores[0]->getPointerAddressSpace(), 1U);
  // Three lines of unit(), two of the signature, two of registers, then the eighth instruction.
  EXPECT_EQ(source_line(*stores[0]), 15U);
  for (auto* arithmetic : all<llvm::BinaryOperator>(*module->getFunction("k"))) {
    EXPECT_FALSE(arithmetic->hasNoSignedWrap() || arithmetic->hasNoUnsignedWrap());
  }
}

TEST(LiftConvention, StencilIsInSsaFormWithLines) {
  llvm::LLVMContext context;
  auto source = parse(read_text(corpus_path("stencil_2d")));
  ASSERT_TRUE(source);
  auto lifted = lift(context, *source, source->kernels()[0]->name);
  ASSERT_TRUE(lifted) << lifted.error().line();
  llvm::Function& kernel = *(*lifted)->getFunction(source->kernels()[0]->name);
  EXPECT_TRUE(all<llvm::AllocaInst>(kernel).empty());
  EXPECT_FALSE(all<llvm::LoadInst>(kernel).empty());
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
    if (instruction.mayReadOrWriteMemory()) {
      EXPECT_GT(source_line(instruction), 0U) << text_of(instruction);
    }
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
    if (branch != nullptr && branch->isConditional()) {
      EXPECT_GT(source_line(instruction), 0U) << text_of(instruction);
    }
  }
}

TEST(LiftConvention, SharedMemoryAndBarriers) {
  llvm::LLVMContext context;
  auto module = lift_text(
      context, unit(".extern .shared .align 16 .b8 pool[];\n.global .align 4 .u32 counter = 7;\n"
                    ".visible .entry k()\n{\n.reg .b32 %r<5>;\n.reg .pred %p<2>;\n"
                    ".shared .align 8 .b8 tile[64];\nmov.u32 %r1, tile;\nmov.u32 %r2, pool;\n"
                    "ld.shared.u32 %r3, [%r1+4];\nst.shared.u32 [%r2], %r3;\nbar.sync 0;\n"
                    "setp.eq.u32 %p1, %r3, 0;\n@%p1 bar.sync 1, 64;\nbarrier.sync 2;\n"
                    "bar.warp.sync -1;\nst.global.u32 [counter], %r3;\nret;\n}\n"));
  const llvm::GlobalVariable* tile = module->getGlobalVariable("tile", true);
  ASSERT_NE(tile, nullptr);
  EXPECT_EQ(tile->getAddressSpace(), 3U);
  EXPECT_EQ(tile->getAlign(), llvm::Align(8));
  EXPECT_TRUE(tile->hasInternalLinkage());
  const llvm::GlobalVariable* pool = module->getGlobalVariable("pool");
  ASSERT_NE(pool, nullptr);
  EXPECT_TRUE(pool->isDeclaration());
  EXPECT_EQ(text_of(*pool), "@pool = external addrspace(3) global [0 x i8], align 16");
  const llvm::GlobalVariable* counter = module->getGlobalVariable("counter");
  ASSERT_NE(counter, nullptr);
  EXPECT_EQ(text_of(*counter), "@counter = external addrspace(1) global [4 x i8], align 4");
  std::vector<llvm::Intrinsic::ID> barriers;
  for (auto* call : all<llvm::IntrinsicInst>(*module->getFunction("k"))) {
    barriers.push_back(call->getIntrinsicID());
    EXPECT_TRUE(call->isConvergent());
    EXPECT_GT(source_line(*call), 0U);
  }
  using namespace llvm::Intrinsic;
  EXPECT_EQ(barriers, (std::vector<llvm::Intrinsic::ID>{nvvm_barrier0, nvvm_barrier,
                                                        nvvm_barrier_sync, nvvm_bar_warp_sync}));
}

TEST(LiftConvention, LanesExchangeThroughIntrinsics) {
  llvm::LLVMContext context;
  auto module = lift_text(
      context,
      unit(".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<2>;\n"
           ".reg .pred %p<4>;\n.reg .f32 %f<3>;\nld.param.u64 %rd1, [out];\n"
           "ld.global.f32 %f1, [%rd1];\nmov.b32 %r1, %f1;\n"
           "shfl.sync.down.b32 %r2|%p1, %r1, 16, 31, -1;\nvote.sync.ballot.b32 %r3, %p1, -1;\n"
           "match.any.sync.b32 %r4, %r2, %r3;\nactivemask.b32 %r5;\n"
           "redux.sync.add.s32 %r6, %r4, %r5;\nbar.red.popc.u32 %r7, 0, %p1;\n"
           "add.s32 %r8, %r6, %r7;\nst.global.u32 [%rd1], %r8;\nret;\n}\n"));
  std::vector<llvm::Intrinsic::ID> exchanges;
  for (auto* call : all<llvm::IntrinsicInst>(*module->getFunction("k"))) {
    exchanges.push_back(call->getIntrinsicID());
  }
  using namespace llvm::Intrinsic;
  EXPECT_EQ(exchanges, (std::vector<llvm::Intrinsic::ID>{
                           nvvm_shfl_sync_down_i32p, nvvm_vote_ballot_sync, nvvm_match_any_sync_i32,
                           nvvm_activemask, nvvm_redux_sync_add, nvvm_barrier0_popc}));
}

TEST(LiftConvention, OnlyWhatTheKernelReachesIsLifted) {
  llvm::LLVMContext context;
  auto module = lift_text(
      context,
      unit(".global .u32 unused;\n.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 "
           "a);\n.func other()\n{\ntex.2d.v4.f32.f32 {a, b, c, d}, [t, {x, y}];\nret;\n}\n"
           ".visible .entry bad()\n{\nnonsense;\nret;\n}\n"
           ".visible .entry k()\n{\n.reg .b32 %r<3>;\n{\n.param .b64 param0;\n"
           "st.param.b64 [param0], 0;\n.param .b64 param1;\nst.param.b64 [param1], 0;\n"
           ".param .b32 retval0;\ncall.uni (retval0), vprintf, (param0, param1);\n"
           "ld.param.b32 %r1, [retval0];\n}\nret;\n}\n"));
  EXPECT_EQ(module->getGlobalVariable("unused"), nullptr);
  EXPECT_EQ(module->getFunction("other"), nullptr);
  EXPECT_EQ(module->getFunction("bad"), nullptr);
  llvm::Function* print = module->getFunction("vprintf");
  ASSERT_NE(print, nullptr);
  EXPECT_TRUE(print->isDeclaration());
  EXPECT_EQ(print->arg_size(), 2U);
  EXPECT_TRUE(print->getReturnType()->isIntegerTy(32));
}

TEST(LiftConvention, RegistersCostByUseAndNotByDeclaration) {
  const HostKernel kernel(
      unit(".visible .entry k(.param .u64 memory)\n{\n.reg .b64 %m;\n.reg .b32 %r<4000000000>;\n"
           ".reg .b32 %y1<3>;\nld.param.u64 %m, [memory];\nmov.u32 %r3999999999, 5;\n"
           "mov.u32 %r0, 6;\nmov.u32 %y12, 7;\n{ .reg .b32 %r<2>; mov.u32 %r0, 8; mov.u32 "
           "%r7, 9; }\nst.global.u32 [%m], %r3999999999;\nst.global.u32 [%m+4], %r0;\n"
           "st.global.u32 [%m+8], %y12;\nst.global.u32 [%m+12], %r7;\nret;\n}\n"),
      "k");
  ASSERT_TRUE(kernel.usable());
  std::vector<uint64_t> memory(2);
  kernel.run(memory);
  EXPECT_EQ(memory, (std::vector<uint64_t>{6ULL << 32 | 5, 9ULL << 32 | 7}));
}

TEST(LiftConvention, ARangeHasNoOtherRegisters) {
  llvm::LLVMContext context;
  for (const char* name : {"%r5", "%r00", "%r", "%r4294967296", "%r00000000000000000000", "%r1x"}) {
    const auto source =
        parse(unit(std::string(".visible .entry k()\n{\n.reg .b32 %r<5>;\nmov.u32 ") + name +
                   ", 1;\nret;\n}\n"));
    EXPECT_FALSE(source && lift(context, *source, "k")) << name;
  }
}

TEST(LiftConvention, MatricesMayBeVectorRegisters) {
  llvm::LLVMContext context;
  const std::string kernel =
      ".visible .entry k(.param .u64 p)\n{\n.reg .v4 .b32 w;\n.reg .v2 .b32 v;\n"
      ".reg .b32 %r<8>;\n.reg .b64 %rd1;\nld.param.u64 %rd1, [p];\n"
      "ld.global.v4.b32 w, [%rd1];\nld.global.v2.b32 v, [%rd1+16];\n";
  const std::string store = "st.global.v4.b32 [%rd1], w;\nst.global.v2.b32 [%rd1], v;\nret;\n}\n";
  const auto vectors = lift_text(
      context, unit(kernel +
                    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 w, w, v, w;\n"
                    "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 v, {w.x}, {w.y}, v;\n" +
                    store));
  const auto scalars = lift_text(
      context,
      unit(kernel +
           "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {w.x, w.y, w.z, w.w}, "
           "{w.x, w.y, w.z, w.w}, {v.x, v.y}, {w.x, w.y, w.z, w.w};\n"
           "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {v.x, v.y}, {w.x}, {w.y}, {v.x, "
           "v.y};\n" +
           store));
  EXPECT_EQ(text_of(*vectors->getFunction("k")), text_of(*scalars->getFunction("k")));
}

}  // namespace
}  // namespace sluice::ptx::test
