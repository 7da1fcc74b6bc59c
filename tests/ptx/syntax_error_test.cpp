// Each mistake gives one line that says where it is, what was expected and what stands there.
#include <gtest/gtest.h>

#include "ptx/parser.hpp"

namespace sluice::ptx::test {
namespace {

std::string error_of(const std::string& text) {
  auto module = parse(text, "k.ptx");
  return module ? "no error" : module.error().line();
}

// The kernel's body begins on line 4.
std::string error_in_body(const std::string& statements) {
  return error_of(".version 7.0\n.target sm_75\n.entry k {\n" + statements + "\n}\n");
}

TEST(SyntaxError, InTheHeader) {
  EXPECT_EQ(error_of(""), "k.ptx:1:1: expected '.version', found the end of the file");
  EXPECT_EQ(error_of("#include <x>"), "k.ptx:1:1: expected '.version', found '#'");
  EXPECT_EQ(error_of(".version x"), "k.ptx:1:10: expected a version such as 7.0, found 'x'");
  EXPECT_EQ(error_of(".version 7"), "k.ptx:1:10: expected a version such as 7.0, found '7'");
  EXPECT_EQ(error_of(".version 7.0\n.target 75"),
            "k.ptx:2:9: expected a target such as sm_75, found '75'");
  EXPECT_EQ(error_of(".version 7.0\n.target sm_75\n.address_size 63"),
            "k.ptx:3:15: expected an address size of 32 or 64, found '63'");
}

TEST(SyntaxError, InInstructions) {
  EXPECT_EQ(error_in_body("  add.u32 %r1, ;"), "k.ptx:4:16: expected an operand, found ';'");
  EXPECT_EQ(error_in_body("  add.u32 %r1 %r2;"),
            "k.ptx:4:15: expected ',' or ';' after the operand, found '%r2'");
  EXPECT_EQ(error_in_body("ld.global.u32 a, [b;"),
            "k.ptx:4:20: expected '+', ',' or ']', found ';'");
  EXPECT_EQ(error_in_body("ld.v2.f32 {a, b, [c];"), "k.ptx:4:21: expected ',' or '}', found ';'");
  EXPECT_EQ(error_in_body("@ 1 bra L;"), "k.ptx:4:3: expected a predicate, found '1'");
  EXPECT_EQ(error_in_body("@p ;"), "k.ptx:4:4: expected an instruction, found ';'");
  EXPECT_EQ(error_in_body("mov.u32 a, b[1];"),
            "k.ptx:4:12: expected an array declared before its use, found 'b'");
  EXPECT_EQ(error_in_body("= 4"), "k.ptx:4:1: expected a statement or '}', found '='");
}

TEST(SyntaxError, InConstants) {
  EXPECT_EQ(error_in_body("mov.f32 a, 0f3F8;"),
            "k.ptx:4:12: expected 8 hexadecimal digits after 0f, found '0f3F8'");
  EXPECT_EQ(error_in_body("mov.u32 a, 09;"),
            "k.ptx:4:12: expected a number of at most 64 bits, found '09'");
  EXPECT_EQ(error_in_body("mov.u64 a, 0x10000000000000000;"),
            "k.ptx:4:12: expected a number of at most 64 bits, found '0x10000000000000000'");
  EXPECT_EQ(error_in_body("mov.u64 a, 4 / (2 - 2);"),
            "k.ptx:4:14: expected operands that the operator is defined for, found '/'");
  EXPECT_EQ(error_in_body("ld.u32 a, [b+1.5];"), "k.ptx:4:13: expected an integer, found '+'");
}

TEST(SyntaxError, WhereANameIsDefinedTwice) {
  const std::string header = ".version 7.0\n.target sm_75\n";
  EXPECT_EQ(error_of(header + ".entry k { ret; }\n.entry k { ret; }"),
            "k.ptx:4:8: expected one definition of 'k', found 'k'");
  EXPECT_EQ(error_of(header + ".func f { ret; }\n.weak .func f { ret; }"),
            "k.ptx:4:13: expected one definition of 'f', found 'f'");
  EXPECT_EQ(error_of(header + ".global .u32 a;\n.global .u32 a;"),
            "k.ptx:4:1: expected one definition of 'a', found '.global'");
  EXPECT_EQ(error_of(header + ".func f;\n.func f;\n.func f { ret; }\n.func f;\n"
                              ".extern .global .u32 a;\n.global .u32 a;\n.extern .global .u32 a;"),
            "no error");
}

TEST(SyntaxError, InDeclarations) {
  EXPECT_EQ(error_in_body(".reg .u33 a;"), "k.ptx:4:6: expected a type, found '.u33'");
  EXPECT_EQ(error_in_body(".reg .u32 a b;"),
            "k.ptx:4:13: expected ',' or ';' after the declaration, found 'b'");
  EXPECT_EQ(error_in_body(".shared .align 3 .u32 a;"),
            "k.ptx:4:16: expected an alignment that is a power of two, found '3'");
  EXPECT_EQ(error_in_body(".reg .u32 a<b>;"), "k.ptx:4:13: expected a constant, found 'b'");
  EXPECT_EQ(error_in_body(".unknown 4;"),
            "k.ptx:4:1: expected a declaration, directive or instruction, found '.unknown'");
  std::string header = ".version 7.0\n.target sm_75\n";
  EXPECT_EQ(error_of(header + ".global .u32 a[2] = {1, 2, 3};"),
            "k.ptx:3:21: expected at most 2 elements in this brace, found '{'");
  EXPECT_EQ(error_of(header + ".global .u32 a[-1];"),
            "k.ptx:3:16: expected a number from 0 to 9223372036854775807, found '-'");
  EXPECT_EQ(error_of(header + ".global .u32 a = {1};"),
            "k.ptx:3:18: expected a single constant, found '{'");
}

TEST(SyntaxError, InFunctions) {
  std::string header = ".version 7.0\n.target sm_75\n";
  EXPECT_EQ(error_of(header + ".entry (.param .u32 a) {}"),
            "k.ptx:3:8: expected the name of a function, found '('");
  EXPECT_EQ(error_of(header + ".entry k (.param .u32 a .param) {}"),
            "k.ptx:3:25: expected ',' or ')' after the parameter, found '.param'");
  EXPECT_EQ(error_of(header + ".entry k .maxthreads 3 {}"),
            "k.ptx:3:10: expected a function attribute, '{' or ';', found '.maxthreads'");
  EXPECT_EQ(error_of(header + ".entry k {\n ret;\n"),
            "k.ptx:5:1: expected a statement or '}', found the end of the file");
  EXPECT_EQ(error_of(header + "entry k {}"),
            "k.ptx:3:1: expected a function, variable or directive, found 'entry'");
}

TEST(SyntaxError, InDebugSections) {
  const std::string header = ".version 7.0\n.target sm_75\n.section .debug_str {\n";
  EXPECT_EQ(error_of(header + "$L: .b8 1, 2\n.b32 $L-3, .debug_abbrev\n}"), "no error");
  const std::string expected = "expected debug data, or '}' at the end of the section, found ";
  EXPECT_EQ(error_of(header + ".b8 1;\n}"), "k.ptx:4:6: " + expected + "';'");
  EXPECT_EQ(error_of(header + "mov.132 %r5\n}"), "k.ptx:4:4: " + expected + "'.132'");
  EXPECT_EQ(error_of(header + ".b8 1"), "k.ptx:4:6: " + expected + "the end of the file");
}

TEST(SyntaxError, InTokens) {
  EXPECT_EQ(error_in_body(" /* open"), "k.ptx:4:2: expected '*/', found the end of the file");
  EXPECT_EQ(error_in_body(".pragma \"open"), "k.ptx:4:9: expected '\"' at the end of the string");
  EXPECT_EQ(error_in_body("add `1"), "k.ptx:4:5: expected a statement or operand, found '`'");
  EXPECT_EQ(error_in_body("add \x01"),
            "k.ptx:4:5: expected a statement or operand, found byte 0x01");
}

TEST(SyntaxError, ShortensLongTokens) {
  std::string line = error_in_body("mov.u32 a, " + std::string(4000, '9') + ";");
  EXPECT_EQ(line, "k.ptx:4:12: expected a number of at most 64 bits, found '" +
                      std::string(60, '9') + "...'");
}

}  // namespace
}  // namespace sluice::ptx::test
