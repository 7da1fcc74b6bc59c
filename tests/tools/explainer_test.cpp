// The text of sluice explain for kernels that nvcc compiled with -lineinfo: source lines, names
// and, for each thing that keeps a footprint from being exact, what helps.
#include "tools/explain/explainer.hpp"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/demangle.hpp"
#include "ptx/parser.hpp"
#include "relation_text.hpp"
#include "tools/explain/advice.hpp"
#include "tools/explain/words.hpp"

namespace sluice::tools {
namespace {

using analysis::Widening;

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const ptx::Module& widened() {
  static const ptx::Module module = [] {
    std::ifstream file(SLUICE_WIDENED_PTX);
    std::ostringstream text;
    text << file.rdbuf();
    return ptx::parse(text.str(), SLUICE_WIDENED_PTX).value();
  }();
  return module;
}

std::string text_of(const std::string& kernel, const ShapeChoice& choice = {}) {
  for (const ptx::Function* function : widened().kernels()) {
    if (short_name(function->name) != kernel) continue;
    const auto text = Explainer(false).kernel(widened(), *function, choice);
    return text ? *text : text.error().line();
  }
  return "no such kernel";
}

// flat() undoes the breaking of lines.
std::string flat(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;)
    result += (result.empty() ? "" : " ") + word;
  return result;
}

// expect_advice() expects the source line of the access and the advice of that kind.
void expect_advice(const std::string& text, const analysis::WideningReason& reason, bool writes) {
  EXPECT_THAT(flat(text), HasSubstr("What helps: " + advice_for(reason, writes)));
}

TEST(Explainer, NamesTheSourceLineAndTheArgumentsOfAGather) {
  const std::string text = text_of("gather");
  EXPECT_THAT(text, HasSubstr("kernel gather(const float *table, const int *index, float *out, int "
                              "n) in widened.cu\n"));
  EXPECT_THAT(text, HasSubstr("\n  table (const float *)\n    Every block may read any byte"));
  EXPECT_THAT(flat(text), ContainsRegex("the address at widened.cu:4 \\(PTX line [0-9]+\\) depends "
                                        "on a value loaded from memory at widened.cu:4"));
  EXPECT_THAT(text, HasSubstr("          4 | if (i < n) out[i] = table[index[i]];\n"));
  expect_advice(text, {Widening::loaded_value}, false);
  EXPECT_THAT(text, HasSubstr("Block (x) writes elements 64x to 64x + 63."));
}

TEST(Explainer, AdvisesOnALoopBoundFromMemory) {
  const std::string text = text_of("sparse_rows");
  EXPECT_THAT(text, HasSubstr("row[i + 1]; ++k) sum += value[k];\n"));
  expect_advice(text, {Widening::loaded_value, 0, 0, true}, false);
}

TEST(Explainer, AdvisesOnAConditionOnData) {
  const std::string text = text_of("guarded");
  EXPECT_THAT(flat(text), HasSubstr("Block (x) may write elements 64x to 64x + 63."));
  EXPECT_THAT(flat(text), HasSubstr("earlier writers of them stay awaited"));
  expect_advice(text, {Widening::data_guard}, false);
}

TEST(Explainer, AdvisesOnAWrapAtThisLaunchOnly) {
  ShapeChoice choice;
  choice.arguments[1] = 2'000'000'000;
  expect_advice(text_of("wrapping", choice), {Widening::wraps}, true);
  choice.arguments[1] = 3;
  EXPECT_THAT(text_of("wrapping", choice), Not(HasSubstr("What helps")));
}

TEST(Explainer, AdvisesOnProductsChoicesAndPointersFromMemory) {
  expect_advice(text_of("product"), {Widening::not_affine}, true);
  expect_advice(text_of("choice"), {Widening::several_pointers}, true);
  expect_advice(text_of("table_of_pointers"), {Widening::loaded_pointer}, true);
}

TEST(Explainer, AdvisesOnBlocksThatWaitForEachOther) {
  const std::string text = text_of("grid_barrier");
  EXPECT_THAT(flat(text), HasSubstr("Its launches are not followed"));
  expect_advice(text, {Widening::grid_communication}, true);
}

TEST(Explainer, AdvisesOnWhatItDoesNotUnderstand) {
  const std::string text = text_of("assembly");
  EXPECT_THAT(text, HasSubstr("%total_smem_size"));
  expect_advice(text, {Widening::unknown_instruction}, true);
}

TEST(Explainer, NamesFieldsOfStructures) {
  EXPECT_THAT(text_of("brighten"), HasSubstr("from, field at byte 0"));
  EXPECT_THAT(text_of("brighten"), HasSubstr("from, field at byte 8 = 64"));
}

TEST(Explainer, SpeaksInElementsOfTheType) {
  const std::string text = flat(text_of("transposed"));
  EXPECT_THAT(text, HasSubstr("Block (x, y) reads rows 16y to 16y + 15, columns 16x to 16x + 15. A "
                              "row is 64 elements (n)."));
  EXPECT_THAT(text,
              HasSubstr("Block (x, y) writes rows 16x to 16x + 15, columns 16y to 16y + 15."));
}

TEST(Explainer, ExplainsTheLaunchThatIsAskedFor) {
  ShapeChoice choice;
  choice.grid = Dim3{4, 8, 1};
  choice.block = Dim3{16, 4, 1};
  choice.arguments[2] = 60;
  const std::string text = flat(text_of("transposed", choice));
  EXPECT_THAT(text, HasSubstr("4 x 8 blocks of 16 x 4 threads, n = 60"));
  EXPECT_THAT(text,
              HasSubstr("reads rows 4y to 4y + 3, columns 16x to 16x + 15, less at the edge"));
}

TEST(Explainer, AJournalsFootprintNeedsNoCode) {
  analysis::Footprint footprint;
  footprint.kernel = "_Z4copyPKfPfi";
  footprint.shape.grid = {4, 1, 1};
  footprint.shape.block = {64, 1, 1};
  footprint.arguments.resize(2);
  footprint.arguments[0].reads.relation = sluice::testing::relation_of(
      "{ B[x, y = 0, z = 0] -> A[o] : 0 <= x <= 3 and 256x <= o <= 255 + 256x }");
  footprint.arguments[1].may_writes = {
      {}, analysis::Precision::whole_buffer, {analysis::Widening::wraps, 7}};
  const std::string text = flat(Explainer(true).footprint(footprint, "launch #3"));
  EXPECT_THAT(text, HasSubstr("kernel copy(const float *, float *, int)"));
  EXPECT_THAT(text, HasSubstr("(launch #3)"));
  EXPECT_THAT(text,
              HasSubstr("argument 0 (const float *) Block (x) reads elements 64x to 64x + 63"));
  EXPECT_THAT(text, HasSubstr("isl: { B[x, y = 0, z = 0] -> A[o]"));
  EXPECT_THAT(text, HasSubstr("argument 1 (float *) Every block may write any byte"));
  EXPECT_THAT(text, HasSubstr("Why: the address at PTX line 7 may wrap around in this launch."));
}

}  // namespace
}  // namespace sluice::tools
