// Vector registers and module variables that are declared in functions, in their plain form.
#include <string>

#include <gtest/gtest.h>

#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace sluice::ptx::test {
namespace {

// lines() is what parser and printer make of a function's body, of a module with a variable
// `taken`.
std::string lines(const std::string& body) {
  const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n.global .u32 f$taken;\n";
  const auto module = parse(head + ".func f()\n{\n" + body + "\n}\n");
  EXPECT_TRUE(module) << module.error().line();
  if (!module) return {};
  const std::string text = print(*module);
  const auto again = parse(text);
  EXPECT_TRUE(again && *again == *module) << text;
  const size_t begin = text.find(";\n", text.find("f$taken")) + 2;
  return text.substr(begin, text.rfind('}') + 1 - begin);
}

void expect_lines(const std::string& body, std::initializer_list<const char*> expected) {
  const std::string text = lines(body);
  size_t place = 0;
  for (const char* line : expected) {
    place = text.find(line, place);
    ASSERT_NE(place, std::string::npos) << line << " is missing in\n" << text;
    ++place;
  }
}

TEST(PlainForm, VectorRegistersAreOneRegisterAnElement) {
  expect_lines(
      ".reg .v4 .u32 v;\n.reg .u32 r;\n.reg .u64 a;\nld.global.v4.u32 v, [a];\n"
      "add.u32 r, v.x, v.a;\nst.global.u32 [a], v.g;",
      {".reg .u32 v$x;", ".reg .u32 v$w;", "ld.global.v4.u32 {v$x, v$y, v$z, v$w}, [a];",
       "add.u32 r, v$x, v$w;", "st.global.u32 [a], v$y;"});
}

TEST(PlainForm, RangesOfVectorRegistersKeepTheirNumbers) {
  expect_lines(".reg .v2 .f32 %v<12>;\nmov.v2.f32 %v11, %v3;\nneg.f32 %v1.y, %v2.x;",
               {".reg .f32 %v$x<12>;", ".reg .f32 %v$y<12>;",
                "mov.v2.f32 {%v$x11, %v$y11}, {%v$x3, %v$y3};", "neg.f32 %v$y1, %v$x2;"});
}

TEST(PlainForm, InnerDeclarationsHideOuterOnes) {
  expect_lines(".reg .v2 .u32 v;\n{\n.reg .u32 v;\nmov.u32 v, 1;\n}\nmov.u32 v.x, %tid.x;",
               {"mov.u32 v, 1;", "mov.u32 v$x, %tid.x;"});
  expect_lines(".reg .u64 a;\n{\n.global .u32 a;\nst.global.u32 [a], 1;\n}\nmov.u64 a, 2;",
               {"st.global.u32 [f$a], 1;", "mov.u64 a, 2;"});
}

TEST(PlainForm, VariablesOfAFunctionAreTheModules) {
  expect_lines(
      ".reg .u64 a;\n.global .u32 taken = 5;\n.const .u64 place = taken;\n"
      "ld.global.u32 a, [taken+4];\nmov.u64 a, place;",
      {".global .u32 f$taken$ = 5;", ".const .u64 f$place = f$taken$;", ".func f",
       "ld.global.u32 a, [f$taken$+4];", "mov.u64 a, f$place;"});
}

TEST(PlainForm, LeavesOtherNamesAlone) {
  const std::string body =
      ".reg .v2 .u32 v;\n.shared .u32 s;\n.reg .u32 v1, w;\nmov.u32 v1, %ctaid.x;\n"
      "st.shared.u32 [s], w;\nbra v2;\nv2:";
  expect_lines(body,
               {".shared .u32 s;", "mov.u32 v1, %ctaid.x;", "st.shared.u32 [s], w;", "bra v2;"});
}

}  // namespace
}  // namespace sluice::ptx::test
