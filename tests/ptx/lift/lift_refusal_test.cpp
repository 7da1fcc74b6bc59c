// What the lifter refuses, and in which words.
#include <string>

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "ptx/lift.hpp"
#include "ptx/parser.hpp"

namespace sluice::ptx::test {
namespace {

// refusal() is the error line of a kernel whose instruction stands on line 6.
std::string refusal(const std::string& instruction, ErrorKind kind) {
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg "
      ".f64 %fd<4>;\n" +
      instruction + "\nret;\n}\n";
  auto module = parse(text);
  if (!module) return module.error().line();
  llvm::LLVMContext context;
  auto lifted = lift(context, *module, "k");
  if (lifted) return "lifted";
  EXPECT_EQ(lifted.error().kind, kind) << lifted.error().line();
  return lifted.error().line();
}

TEST(LiftRefusal, InstructionsOutsideTheTable) {
  EXPECT_EQ(refusal("setmaxnreg.inc.sync.aligned.u32 64;", ErrorKind::unsupported),
            "kernel k, PTX line 6: instruction 'setmaxnreg.inc.sync.aligned.u32 64;' is not "
            "supported: it is outside the instruction table");
}

TEST(LiftRefusal, ModifiersNobodyTakes) {
  EXPECT_EQ(refusal("add.weird.s32 %r1, %r2, %r3;", ErrorKind::unsupported),
            "kernel k, PTX line 6: instruction 'add.weird.s32 %r1, %r2, %r3;' is not supported: "
            "modifier .weird is not supported");
  EXPECT_EQ(refusal("@%p1 bra.weird X; X:", ErrorKind::unsupported),
            "kernel k, PTX line 6: instruction '@%p1 bra.weird X;' is not supported: modifier "
            ".weird is not supported");
}

TEST(LiftRefusal, RoundingModesNotLiftedYet) {
  EXPECT_EQ(refusal("mul.rz.f16 %h1, %h2, %h3;", ErrorKind::unimplemented),
            "kernel k, PTX line 6: instruction 'mul.rz.f16 %h1, %h2, %h3;' is not implemented: "
            "rounding mode .rz is not lifted yet for this operation and type");
}

TEST(LiftRefusal, NamesThatMeanNothing) {
  EXPECT_EQ(refusal("mov.u32 %r1, %nothing.x;", ErrorKind::unsupported),
            "kernel k, PTX line 6: instruction 'mov.u32 %r1, %nothing.x;' is not supported: "
            "'%nothing.x' is neither a declared register nor a supported special one");
  EXPECT_EQ(refusal("bra NOWHERE;", ErrorKind::invalid_input),
            "kernel k, PTX line 6: instruction 'bra NOWHERE;' is not valid: there is no label "
            "'NOWHERE'");
  EXPECT_EQ(refusal("mov.u64 %rd1, nothing;", ErrorKind::invalid_input),
            "kernel k, PTX line 6: instruction 'mov.u64 %rd1, nothing;' is not valid: 'nothing' "
            "has no address");
}

TEST(LiftRefusal, WrongWidthsAndCounts) {
  EXPECT_EQ(refusal("add.s64 %rd1, %r2, %rd3;", ErrorKind::invalid_input),
            "kernel k, PTX line 6: instruction 'add.s64 %rd1, %r2, %rd3;' is not valid: an operand "
            "of 32 bits is read as .s64");
  EXPECT_EQ(
      refusal("add.s32 %h1, %r2, %r3;", ErrorKind::invalid_input),
      "kernel k, PTX line 6: instruction 'add.s32 %h1, %r2, %r3;' is not valid: a destination "
      "of 16 bits gets 32");
  EXPECT_EQ(refusal("add.s32 %r1, %r2;", ErrorKind::unsupported),
            "kernel k, PTX line 6: instruction 'add.s32 %r1, %r2;' is not supported: it has 2 "
            "operands");
}

TEST(LiftRefusal, MoreLocalMemoryThanAThreadHas) {
  EXPECT_EQ(refusal(".local .b8 l[524288];", ErrorKind::unsupported), "lifted");
  const std::string message =
      "kernel k, PTX line 6: variable 'm' takes more than the 512 KiB of "
      "local memory that a thread has";
  for (const char* bytes : {"524289", "9223372036854775807", "9223372036854775807][7"}) {
    EXPECT_EQ(refusal(std::string(".local .b32 m[") + bytes + "];", ErrorKind::unsupported),
              message);
  }
  EXPECT_EQ(refusal(".local .b8 l[524288]; .local .b8 m[1];", ErrorKind::unsupported), message);
}

TEST(LiftRefusal, MissingKernelsAndDirectives) {
  auto module =
      parse(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {ret;}\n");
  ASSERT_TRUE(module);
  llvm::LLVMContext context;
  auto missing = lift(context, *module, "other");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().line(), "the module has no kernel 'other'");
  auto cluster = parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n.explicitcluster\n"
      ".reqnctapercluster 1, 2, 1\n{ret;}\n");
  ASSERT_TRUE(cluster);
  auto refused = lift(context, *cluster, "k");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().line(),
            "kernel k, PTX line 6: directive '.reqnctapercluster' is not supported");
}

}  // namespace
}  // namespace sluice::ptx::test
