// Masked accesses by the first lanes of a vector are those of a narrower one, others stay.
#include "hostcuda/jit/vectors/narrow_masks.hpp"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <llvm/Support/raw_ostream.h>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/run_pass.hpp"

namespace sluice::hostcuda {
namespace {

using jit::NarrowMasksPass;
using testing::HasSubstr;
using testing::Not;

// What the pass makes of a copy of 8 floats under a mask.
std::string narrowed(const std::string& mask, const std::string& beyond) {
  const std::string text = fmt::format(
      "define void @f(ptr %to, ptr %from) {{\n"
      "  %v = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %from, i32 4, <8 x i1> {0}, "
      "<8 x float> {1})\n"
      "  call void @llvm.masked.store.v8f32.p0(<8 x float> %v, ptr %to, i32 16, <8 x i1> {0})\n"
      "  store <8 x float> %v, ptr %from\n"
      "  ret void\n}}\n"
      "declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)\n"
      "declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)\n",
      mask, beyond);
  std::string made;
  run_pass<NarrowMasksPass>(text, nullptr, [&](llvm::Function& function, bool changed) {
    llvm::raw_string_ostream stream(made);
    function.print(stream);
    EXPECT_EQ(changed, made.find("masked") == std::string::npos);
  });
  return made;
}

TEST(NarrowMasks, ReadAndWriteFirstLanes) {
  const std::string two =
      narrowed("<i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>", "zeroinitializer");
  EXPECT_THAT(two, HasSubstr("load <2 x float>, ptr %from, align 4"));
  EXPECT_THAT(two, HasSubstr("ptr %to, align 16"));
  EXPECT_THAT(two, HasSubstr("select <8 x i1>"));  // the lanes beyond are 0
  EXPECT_THAT(narrowed("<i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>", "poison"),
              HasSubstr("load <1 x float>"));
}

TEST(NarrowMasks, LeaveOtherMasks) {
  for (const std::string mask : {"<i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0>",
                                 "<i1 0, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>",
                                 "<i1 1, i1 0, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0>",
                                 "<i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1>"})
    EXPECT_THAT(narrowed(mask, "poison"), HasSubstr("masked.load")) << mask;
}

// A tree of additions in shared memory of so many threads, down to one, with a tail.
TEST(NarrowMasks, SumsInSharedMemoryAreRight) {
  const std::string kernel =
      ".version 8.5\n.target sm_90\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 in, .param .u64 out, .param .u32 count) {{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n.shared .align 4 .b8 s[1024];\n"
      "ld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\nld.param.u32 %r9, [count];\n"
      "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\n"
      "mad.lo.u32 %r3, %r0, %r1, %r2;\nmul.wide.u32 %rd2, %r3, 4;\nadd.u64 %rd3, %rd0, %rd2;\n"
      "mov.u32 %r4, 0;\nsetp.ge.u32 %p0, %r3, %r9;\n@!%p0 ld.global.u32 %r4, [%rd3];\n"
      "shl.b32 %r5, %r2, 2;\nmov.u32 %r6, s;\nadd.u32 %r7, %r6, %r5;\nst.shared.u32 [%r7], %r4;\n"
      "mov.u32 %r8, {};\nHALF:\nbar.sync 0;\nsetp.ge.u32 %p1, %r2, %r8;\n@%p1 bra NEXT;\n"
      "shl.b32 %r10, %r8, 2;\nadd.u32 %r11, %r7, %r10;\nld.shared.u32 %r12, [%r11];\n"
      "ld.shared.u32 %r13, [%r7];\nadd.u32 %r13, %r13, %r12;\nst.shared.u32 [%r7], %r13;\n"
      "NEXT:\nshr.u32 %r8, %r8, 1;\nsetp.ne.u32 %p2, %r8, 0;\n@%p2 bra HALF;\n"
      "setp.ne.u32 %p3, %r2, 0;\n@%p3 ret;\nld.shared.u32 %r14, [s];\n"
      "mul.wide.u32 %rd4, %r0, 4;\nadd.u64 %rd5, %rd1, %rd4;\nst.global.u32 [%rd5], "
      "%r14;\nret;\n}}\n";
  for (const uint32_t block : {2U, 8U, 16U, 64U, 256U}) {
    Kernels kernels(compile_text(fmt::format(fmt::runtime(kernel), block / 2)));
    std::vector<uint32_t> in(3 * block), out(3, 7), expected(3, 0);
    const auto count = static_cast<uint32_t>(in.size() - 1);
    for (uint32_t i = 0; i < in.size(); ++i) {
      in[i] = i * 7919 % 1000;
      if (i < count) expected[i / block] += in[i];
    }
    kernels.run("kernel", {3}, {block}, 0, in.data(), out.data(), count);
    EXPECT_EQ(out, expected) << block;
  }
}

}  // namespace
}  // namespace sluice::hostcuda
