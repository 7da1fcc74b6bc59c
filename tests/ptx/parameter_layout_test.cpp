// Parameters lie where a launch expects them.
#include "ptx/parameter_layout.hpp"

#include <gtest/gtest.h>

#include "corpus.hpp"
#include "ptx/parser.hpp"

namespace sluice::ptx::test {
namespace {

std::vector<ParameterPlace> layout(const std::string& parameters, uint32_t* total = nullptr) {
  auto module = parse(".version 8.0 .target sm_90 .entry k (" + parameters + ") { ret; }");
  EXPECT_TRUE(module) << module.error().line();
  return module ? parameter_layout(*module->find_function("k"), total)
                : std::vector<ParameterPlace>{};
}

TEST(ParameterLayout, AlignsEachParameterNaturally) {
  uint32_t total = 0;
  auto places = layout(".param .u8 a, .param .u64 b, .param .u16 c, .param .f32 d", &total);
  std::vector<ParameterPlace> expected = {
      {"a", 0, 1, 1}, {"b", 8, 8, 8}, {"c", 16, 2, 2}, {"d", 20, 4, 4}};
  EXPECT_EQ(places, expected);
  EXPECT_EQ(total, 24u);
}

TEST(ParameterLayout, TakesWrittenAlignment) {
  uint32_t total = 0;
  auto places = layout(".param .u32 a, .param .align 16 .b8 s[20], .param .u8 b", &total);
  std::vector<ParameterPlace> expected = {{"a", 0, 4, 4}, {"s", 16, 20, 16}, {"b", 36, 1, 1}};
  EXPECT_EQ(places, expected);
  EXPECT_EQ(total, 37u);
}

TEST(ParameterLayout, PlacesOpaqueHandlesAs64Bits) {
  auto places = layout(".param .u32 a, .param .texref t");
  std::vector<ParameterPlace> expected = {{"a", 0, 4, 4}, {"t", 8, 8, 8}};
  EXPECT_EQ(places, expected);
}

TEST(ParameterLayout, IsEmptyForNoParameters) {
  uint32_t total = 7;
  EXPECT_TRUE(layout("", &total).empty());
  EXPECT_EQ(total, 0u);
}

// char, {float*, short[5], {char, double}[2]}, {float, float}, {char, double} as C++ lays them out.
TEST(ParameterLayout, AgreesWithTheCompiler) {
  auto module = parse(read_text(corpus_path("struct_argument")));
  ASSERT_TRUE(module) << module.error().line();
  uint32_t total = 0;
  auto places = parameter_layout(*module->find_function("struct_argument"), &total);
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[1].offset, 8u);
  EXPECT_EQ(places[1].size, 56u);
  EXPECT_EQ(places[2].offset, 64u);
  EXPECT_EQ(places[2].size, 8u);
  EXPECT_EQ(places[3].offset, 72u);
  EXPECT_EQ(places[3].size, 16u);
  EXPECT_EQ(total, 88u);
}

}  // namespace
}  // namespace sluice::ptx::test
