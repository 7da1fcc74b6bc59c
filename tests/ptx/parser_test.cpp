// The tree says what the text says.
#include "ptx/parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corpus.hpp"

namespace sluice::ptx::test {
namespace {

using testing::ElementsAre;

Module must_parse(const std::string& text) {
  auto module = parse(text, "t.ptx");
  EXPECT_TRUE(module) << module.error().line();
  return module ? std::move(*module) : Module{};
}

Module with_items(const std::string& items) {
  return must_parse(".version 8.10\n.target sm_90a, debug\n.address_size 64\n" + items);
}

const Variable& variable_of(const Module& module) {
  return std::get<Variable>(module.items.at(0));
}

std::vector<int64_t> integers(const Variable& variable) {
  std::vector<int64_t> values;
  for (const Operand& operand : variable.initialiser) {
    values.push_back(static_cast<int64_t>(std::get<IntegerLiteral>(operand.value).bits));
  }
  return values;
}

std::vector<Statement> body(const std::string& statements) {
  Module module = with_items(".entry k {" + statements + "}");
  return module.items.empty() ? std::vector<Statement>(1)
                              : std::get<Function>(module.items[0]).body.statements;
}

Instruction instruction(const std::string& text) {
  return std::get<Instruction>(body(text).at(0));
}

TEST(Parser, ReadsTheHeader) {
  Module module = with_items("");
  EXPECT_EQ(module.version_major, 8u);
  EXPECT_EQ(module.version_minor, 10u);
  EXPECT_THAT(module.target, ElementsAre("sm_90a", "debug"));
  EXPECT_EQ(module.address_size, 64u);
}

TEST(Parser, FillsTheLastRowOfAFlatInitialiser) {
  const Module vectors = with_items(".global .v4 .b8 a[3] = {1, 2, 3, 4, 5};");
  EXPECT_THAT(integers(variable_of(vectors)), ElementsAre(1, 2, 3, 4, 5, 0, 0, 0));
  const Module rows = with_items(".global .u32 a[][2][2] = {1, 2, 3, 4, 5};");
  EXPECT_THAT(integers(variable_of(rows)), ElementsAre(1, 2, 3, 4, 5, 0, 0, 0));
  EXPECT_THAT(variable_of(rows).dimensions, ElementsAre(2u, 2u, 2u));
}

TEST(Parser, StopsAtANulAsInFatBinaries) {
  std::string text = ".version 7.0 .target sm_75 .entry k { ret; }";
  text += '\0';
  text += "garbage {{{";
  EXPECT_EQ(must_parse(text).kernels().size(), 1u);
}

TEST(Parser, SplitsOpcodeModifiersAndOperands) {
  Instruction load = instruction("@!p ld.global.L1::no_allocate.v2.f32 {%f1, _}, [%rd1+-4];");
  ASSERT_TRUE(load.guard);
  EXPECT_EQ(load.guard->predicate, "p");
  EXPECT_TRUE(load.guard->negated);
  EXPECT_EQ(load.opcode, Opcode::ld);
  EXPECT_THAT(load.modifiers, ElementsAre("global", "L1::no_allocate", "v2", "f32"));
  EXPECT_TRUE(load.has_modifier("v2"));
  EXPECT_FALSE(load.has_modifier("v4"));
  ASSERT_EQ(load.operands.size(), 2u);
  const auto& vector = std::get<VectorOperand>(load.operands[0].value);
  EXPECT_EQ(std::get<Identifier>(vector.elements.at(1).value).name, "_");
  EXPECT_EQ(std::get<Address>(load.operands[1].value), (Address{"%rd1", -4}));
}

TEST(Parser, KnowsWhereInstructionsStand) {
  Module module = must_parse(".version 7.0\n.target sm_75\n.entry k {\n  @p  add.u32 a, b, 1;\n}");
  const auto& add = std::get<Instruction>(module.kernels().at(0)->body.statements.at(0));
  EXPECT_EQ(add.location.line, 4u);
  EXPECT_EQ(add.location.column, 7u);
}

TEST(Parser, ReadsComponentsPairsAndNegations) {
  Instruction compare = instruction("setp.eq.and.u32 p|q, %tid.x, WARP_SZ, !r;");
  EXPECT_EQ(std::get<PairOperand>(compare.operands.at(0).value).second, "q");
  EXPECT_EQ(std::get<Identifier>(compare.operands.at(1).value), (Identifier{"%tid", "x"}));
  EXPECT_EQ(std::get<IntegerLiteral>(compare.operands.at(2).value).bits, 32u);
  EXPECT_EQ(std::get<NotOperand>(compare.operands.at(3).value).predicate.name, "r");
}

TEST(Parser, ReadsCallsWithAndWithoutResults) {
  Instruction call = instruction("call.uni (r0), f, (a, 2), proto;");
  EXPECT_EQ(std::get<ListOperand>(call.operands.at(0).value).elements.size(), 1u);
  EXPECT_EQ(std::get<Identifier>(call.operands.at(1).value).name, "f");
  EXPECT_EQ(std::get<ListOperand>(call.operands.at(2).value).elements.size(), 2u);
  EXPECT_EQ(std::get<Identifier>(call.operands.at(3).value).name, "proto");
  EXPECT_EQ(instruction("call f;").operands.size(), 1u);
}

TEST(Parser, ComputesConstantExpressions) {
  auto value = [](const std::string& expression) {
    auto literal = std::get<IntegerLiteral>(
        instruction("mov.b64 r, " + expression + ";").operands.at(1).value);
    return static_cast<int64_t>(literal.bits);
  };
  EXPECT_EQ(value("1 + 2 * 3 - -4"), 11);
  EXPECT_EQ(value("(1 + 2) * 3 % 4"), 1);
  EXPECT_EQ(value("-7 / 2"), -3);
  EXPECT_EQ(value("-8 >> 1"), -4);
  EXPECT_EQ(value("0x8000000000000000 >> 63"), 1);
  EXPECT_EQ(value("(.s64) 0x8000000000000000 >> 63"), -1);
  EXPECT_EQ(value("1 << 64"), 0);
  EXPECT_EQ(value("-1 < 0U"), 0);
  EXPECT_EQ(value("-1 < 0"), 1);
  EXPECT_EQ(value("0 ? 1 : 2 ? 3 : 4"), 3);
  EXPECT_EQ(value("~0 & 0b1010 | 07 ^ 1"), 14);
  EXPECT_EQ(value("1.5 > 1 && !0"), 1);
  EXPECT_EQ(value("(.s64) 0x8000000000000000 / -1"), INT64_MIN);
}

TEST(Parser, ReadsDeclarations) {
  Variable pool = variable_of(with_items(".extern .shared .align 16 .b8 pool[];"));
  EXPECT_EQ(pool.linkage, "extern");
  EXPECT_EQ(pool.space, StateSpace::shared);
  EXPECT_EQ(pool.alignment, 16u);
  EXPECT_THAT(pool.dimensions, ElementsAre(0u));
  EXPECT_EQ(pool.bytes(), 0u);
  EXPECT_EQ(variable_of(with_items(".global .v4 .f32 v[3][5];")).bytes(), 240u);
  Variable managed = variable_of(with_items(".global .attribute(.managed) .u32 m;"));
  EXPECT_THAT(managed.attributes, ElementsAre("managed"));
  Module kernel = with_items(".entry k (.param .u64 .ptr .global .align 4 p) { ret; }");
  const Variable& pointer = kernel.kernels().at(0)->parameters.at(0);
  EXPECT_TRUE(pointer.is_pointer);
  EXPECT_EQ(pointer.pointer_space, StateSpace::global);
  EXPECT_EQ(pointer.pointer_alignment, 4u);
  auto registers = body(".reg .f32 %f<12>, x;");
  EXPECT_EQ(std::get<Variable>(registers.at(0)).range_count, 12u);
  EXPECT_FALSE(std::get<Variable>(registers.at(1)).range_count);
}

TEST(Parser, FlattensInitialisers) {
  EXPECT_THAT(integers(variable_of(with_items(".global .u32 a[2][2] = {{1}, {2, 3}};"))),
              ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(integers(variable_of(with_items(".global .u32 a[2][2] = {1, {2, 3}};"))),
              ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(integers(variable_of(with_items(".global .u32 a[9] = {1, 2};"))), ElementsAre(1, 2));
  EXPECT_THAT(variable_of(with_items(".global .u32 a[] = {1, 2, 3};")).dimensions, ElementsAre(3u));
  Variable places =
      variable_of(with_items(".global .u64 a[4] = {b, b+4, generic(b)+-8, 0xFF00(generic(b)+4)};"));
  EXPECT_EQ(std::get<Identifier>(places.initialiser.at(0).value).name, "b");
  EXPECT_EQ(std::get<Offset>(places.initialiser.at(1).value), (Offset{"b", 4}));
  EXPECT_EQ(std::get<Offset>(places.initialiser.at(2).value), (Offset{"b", -8, true}));
  EXPECT_EQ(std::get<Offset>(places.initialiser.at(3).value), (Offset{"b", 4, true, 0xFF00}));
}

TEST(Parser, KeepsDirectivesAsTokens) {
  auto statements = body(
      ".pragma \"nounroll\"; L: .branchtargets a, b;"
      " .loc 1 7 3, function_name $S+4, inlined_at 1 20 3 ret;");
  EXPECT_THAT(std::get<Directive>(statements.at(0)).arguments, ElementsAre("\"nounroll\""));
  EXPECT_EQ(std::get<Label>(statements.at(1)).name, "L");
  EXPECT_THAT(std::get<Directive>(statements.at(2)).arguments, ElementsAre("a", "b"));
  EXPECT_EQ(std::get<Directive>(statements.at(3)).arguments.size(), 13u);
  EXPECT_EQ(std::get<Instruction>(statements.at(4)).opcode, Opcode::ret);
  Module kernel = with_items(".visible .entry k () .maxntid 256, 1, 1 .minnctapersm 2 { ret; }");
  const auto& attributes = kernel.kernels().at(0)->attributes;
  EXPECT_EQ(attributes.at(0).name, "maxntid");
  EXPECT_THAT(attributes.at(0).arguments, ElementsAre("256", "1", "1"));
  EXPECT_EQ(attributes.at(1).name, "minnctapersm");
}

TEST(Parser, TellsPrototypesFromDefinitions) {
  Module module = with_items(
      ".func (.param .b32 r) f (.param .b32 a); .extern .func g;"
      ".func (.param .b32 r) f (.param .b32 a) { ret; } .entry k { ret; }");
  EXPECT_TRUE(module.find_function("f")->is_definition);
  EXPECT_FALSE(module.find_function("g")->is_definition);
  EXPECT_EQ(module.find_function("h"), nullptr);
  EXPECT_EQ(module.kernels().size(), 1u);
}

TEST(Parser, ReadsTheStencilAsTheCompilerWroteIt) {
  Module module = must_parse(read_text(corpus_path("stencil_2d")));
  const Function* kernel = module.find_function("stencil_2d");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->parameters.size(), 4u);
  int loads = 0;
  int stores = 0;
  for (const Statement& statement : kernel->body.statements) {
    const auto* instruction = std::get_if<Instruction>(&statement);
    if (!instruction || !instruction->has_modifier("global")) continue;
    loads += instruction->opcode == Opcode::ld;
    stores += instruction->opcode == Opcode::st;
  }
  EXPECT_EQ(loads, 5);
  EXPECT_EQ(stores, 1);
}

}  // namespace
}  // namespace sluice::ptx::test
