// Every kernel of tests/kernels/access: its footprint has the precision that the table says, is
// what the threads touch where it is exact, and holds all that its blocks really touch on the CPU
// device.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/records/widening.hpp"
#include "kernel_case.hpp"
#include "runtime/launch/arguments.hpp"
#include "traced_launch.hpp"

namespace sluice::footprints {
namespace {

using analysis::Access;
using analysis::ArgumentFootprint;
using analysis::Footprint;
using analysis::KernelAnalysis;
using analysis::Precision;
using analysis::testing::bytes_of;

void append(std::string& text, const char* what, const Access& access) {
  if (!access.present()) return;
  if (!text.empty()) text += ", ";
  text += what;
  text += access.precision == Precision::exact     ? " exact"
          : access.precision == Precision::bounded ? " bounded"
                                                   : " whole";
}

std::string class_of(const ArgumentFootprint& argument) {
  std::string text;
  append(text, "reads", argument.reads);
  append(text, "may-writes", argument.may_writes);
  append(text, "writes", argument.must_writes);
  return text;
}

// Expected is what the model touches through each pointer.
struct Expected {
  analysis::testing::Touched touched;

  explicit Expected(const KernelCase& row)
      : touched(run_model(row.grid, row.block, row.model ? row.model : [](Thread&) {})) {}
  bool knows_reads(size_t pointer, const ArgumentFootprint& claimed) const {
    return touched.reads.contains(int(pointer)) || claimed.reads.precision == Precision::exact;
  }
  bool knows_writes(size_t pointer, const ArgumentFootprint& claimed) const {
    return touched.writes.contains(int(pointer)) ||
           (claimed.may_writes.precision == Precision::exact &&
            claimed.must_writes.precision == Precision::exact);
  }
};

void expect_relations(Expected& expected, const Footprint& footprint) {
  for (size_t i = 0; i < footprint.arguments.size(); ++i) {
    SCOPED_TRACE("pointer " + std::to_string(i));
    const ArgumentFootprint& argument = footprint.arguments[i];
    if (expected.knows_reads(i, argument)) {
      EXPECT_TRUE(bytes_of(argument.reads.relation) == expected.touched.reads[int(i)])
          << argument.reads.relation;
    }
    if (expected.knows_writes(i, argument)) {
      EXPECT_FALSE(argument.may_writes.present() && argument.must_writes.present());
      const Access& writes =
          argument.may_writes.present() ? argument.may_writes : argument.must_writes;
      EXPECT_TRUE(bytes_of(writes.relation) == expected.touched.writes[int(i)]) << writes.relation;
    }
  }
}

void expect_sound_and_tight(const KernelCase& row, const Expected& expected,
                            const Footprint& footprint, const dro::CheckRecord& found) {
  EXPECT_EQ(found.violations, 0u);
  EXPECT_EQ(found.blocks, row.grid.count());
  ASSERT_EQ(found.arguments.size(), footprint.arguments.size());
  if (row.data_decides) return;
  for (size_t i = 0; i < found.arguments.size(); ++i) {
    SCOPED_TRACE("pointer " + std::to_string(i));
    const dro::CheckRecord::Argument& argument = found.arguments[i];
    if (expected.knows_reads(i, footprint.arguments[i])) {
      EXPECT_EQ(argument.read_bytes_touched, argument.read_bytes_claimed);
    }
    if (expected.knows_writes(i, footprint.arguments[i])) {
      EXPECT_EQ(argument.written_bytes_touched, argument.written_bytes_claimed);
    }
  }
}

std::vector<uint64_t> shape_values(const analysis::KernelSignature& signature,
                                   const std::vector<std::byte>& parameters) {
  std::vector<uint64_t> values;
  for (const analysis::ParameterSlot& slot : signature.shape_scalars)
    values.push_back(runtime::read_slot(parameters, slot));
  return values;
}

// is_debt() is true of a row that a better analysis will make narrower.
bool is_debt(const KernelCase& row) {
  return *row.wider_than_ideal != '\0';
}

void expect_reason(const std::string& kind, const KernelCase& row, const std::string& reason) {
  ASSERT_THAT(row.footprint, ::testing::ElementsAre(::testing::StartsWith(kind))) << reason;
  EXPECT_THAT(reason, ::testing::HasSubstr(row.footprint[0].substr(kind.size())));
}

void expect_row(const char* file, const KernelCase& row) {
  CpuDevice& device = CpuDevice::get();
  const auto analysis = KernelAnalysis::create(analysis::testing::kernels(file), row.kernel);
  if (!analysis) return expect_reason("refused: ", row, analysis.error().line());
  const analysis::KernelSignature& signature = (*analysis)->signature();
  const Footprint footprint = (*analysis)->footprint(
      {.grid = row.grid,
       .block = row.block,
       .dynamic_shared_bytes = row.dynamic_shared_bytes,
       .shape_values = shape_values(signature, DeviceMemory().bind(signature, row.arguments))});
  const CUfunction function = device.function(file, row.kernel);
  if (footprint.opaque()) {
    expect_reason("opaque: ", row, dro::sentence_of(footprint.opaque_reason));
    device.run(function, row, signature);
    return;
  }
  std::vector<std::string> classes;
  for (const ArgumentFootprint& argument : footprint.arguments)
    classes.push_back(class_of(argument));
  if (classes != row.footprint && is_debt(row)) {
    // Whoever narrows a footprint need not know this table, so the row is tightened afterwards.
    EXPECT_EQ(device.run_traced(function, row, signature, footprint).violations, 0u);
    return;
  }
  ASSERT_EQ(classes, row.footprint);
  Expected expected(row);
  expect_relations(expected, footprint);
  expect_sound_and_tight(row, expected, footprint,
                         device.run_traced(function, row, signature, footprint));
}

class KernelTable : public ::testing::TestWithParam<Theme> {};

TEST_P(KernelTable, FootprintsAreAsTheRowsSayAndHoldWhatBlocksTouch) {
  for (const KernelCase& row : GetParam().cases()) {
    SCOPED_TRACE(row.kernel);
    ASSERT_NO_THROW(expect_row(GetParam().file, row));
  }
}

TEST_P(KernelTable, HasARowForEveryKernelOfItsFile) {
  std::set<std::string> written, listed;
  for (const ptx::Function* kernel : analysis::testing::kernels(GetParam().file).kernels())
    written.insert(kernel->name);
  for (const KernelCase& row : GetParam().cases())
    listed.insert(row.kernel);
  EXPECT_EQ(listed, written);
}

// Nothing here asks for a footprint: under `sluice run --check-footprints` the whole runtime does.
TEST_P(KernelTable, LaunchesAsAProgramDoes) {
  const char* file = GetParam().file;
  CpuDevice& device = CpuDevice::get();
  for (const KernelCase& row : GetParam().cases()) {
    SCOPED_TRACE(row.kernel);
    const auto analysis = KernelAnalysis::create(analysis::testing::kernels(file), row.kernel);
    if (!analysis) continue;  // no device of ours runs what cannot be lifted
    ASSERT_NO_THROW(device.run(device.function(file, row.kernel), row, (*analysis)->signature()));
  }
}

INSTANTIATE_TEST_SUITE_P(Themes, KernelTable, ::testing::ValuesIn(themes()),
                         [](const auto& info) { return std::string(info.param.file); });

TEST(KernelTableSize, IsAtLeastEightyKernels) {
  std::set<std::string> kernels;
  for (const Theme& theme : themes()) {
    for (const KernelCase& row : theme.cases())
      kernels.insert(row.kernel);
  }
  EXPECT_GE(kernels.size(), 80u);
}

}  // namespace
}  // namespace sluice::footprints
