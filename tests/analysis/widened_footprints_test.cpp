// Kernels that cannot be exact: what they touch is never left out, and the footprint says which
// instruction is to blame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "footprint_oracle.hpp"

namespace sluice::analysis::testing {
namespace {

BytesByBlock each_block(int blocks, const std::function<Bytes(int)>& bytes) {
  BytesByBlock all;
  for (int b = 0; b < blocks; ++b) {
    if (Bytes of_block = bytes(b); !of_block.empty()) all[{b, 0, 0}] = std::move(of_block);
  }
  return all;
}

Bytes range(int64_t first, int64_t end) {
  Bytes bytes;
  for (int64_t i = first; i < end; ++i)
    bytes.insert(i);
  return bytes;
}

// Elements of four bytes, eight to a block, `n` in all.
BytesByBlock own_elements(int n) {
  return each_block(4, [n](int b) { return range(32 * b, std::min(32 * b + 32, 4 * n)); });
}

TEST(WidenedFootprints, GatherReadsAnyElement) {
  const Footprint footprint = footprint_of("gather", {4}, {8}, {30});
  const auto& in = footprint.arguments[0];
  EXPECT_EQ(in.reads.precision, Precision::whole_buffer);
  EXPECT_EQ(in.reads.reason.why, Widening::loaded_value);
  EXPECT_NE(in.reads.reason.source, 0u);
  EXPECT_FALSE(in.reads.reason.bounds_a_loop);
  EXPECT_FALSE(in.may_writes.present() || in.must_writes.present());
  EXPECT_EQ(bytes_of(footprint.arguments[1].reads.relation), own_elements(30));
  EXPECT_EQ(footprint.arguments[1].reads.precision, Precision::exact);
  EXPECT_EQ(bytes_of(footprint.arguments[2].must_writes.relation), own_elements(30));
}

TEST(WidenedFootprints, ScatterMayWriteAnyElement) {
  const Footprint footprint = footprint_of("scatter", {4}, {8}, {30});
  const auto& out = footprint.arguments[2];
  EXPECT_EQ(out.may_writes.precision, Precision::whole_buffer);
  EXPECT_FALSE(out.must_writes.present());
  EXPECT_FALSE(out.reads.present());
}

// Polly 19 ends the process that asks it for a model of a function which is one part, not affine.
TEST(WidenedFootprints, AFunctionThatOnlyDataSteerIsNoReasonToEnd) {
  const Footprint footprint = footprint_of("ends_of_keys", {4}, {8}, {30});
  EXPECT_EQ(footprint.arguments[0].reads.precision, Precision::whole_buffer);
  EXPECT_TRUE(footprint.arguments[3].may_writes.present() ||
              footprint.arguments[3].must_writes.present());
}

TEST(WidenedFootprints, BytesAsIndexBoundTheTable) {
  const Footprint footprint = footprint_of("lookup", {4}, {8}, {30});
  const auto& table = footprint.arguments[1];
  EXPECT_EQ(table.reads.precision, Precision::bounded);
  EXPECT_EQ(bytes_of(table.reads.relation), each_block(4, [](int) { return range(0, 1024); }));
}

TEST(WidenedFootprints, WritesUnderDataAreMayWritesAtTheirPlace) {
  for (const char* kernel : {"conditional_write", "early_exit"}) {
    SCOPED_TRACE(kernel);
    const Footprint footprint = footprint_of(kernel, {4}, {8}, {30});
    const auto& out = footprint.arguments[2];
    EXPECT_FALSE(out.must_writes.present());
    EXPECT_EQ(out.may_writes.precision, Precision::exact);
    EXPECT_EQ(bytes_of(out.may_writes.relation), own_elements(30));
    EXPECT_EQ(bytes_of(footprint.arguments[0].reads.relation), own_elements(30));
  }
}

TEST(WidenedFootprints, SparseRows) {
  const Footprint footprint = footprint_of("csr", {4}, {8}, {30});
  EXPECT_EQ(bytes_of(footprint.arguments[0].reads.relation),
            each_block(4, [](int b) { return range(32 * b, std::min(32 * b + 36, 124)); }));
  for (int argument : {1, 2, 3}) {
    EXPECT_EQ(footprint.arguments[argument].reads.precision, Precision::whole_buffer);
  }
  EXPECT_EQ(bytes_of(footprint.arguments[4].must_writes.relation), own_elements(30));
}

TEST(WidenedFootprints, AtomicsReadAndMayWrite) {
  const Footprint sum = footprint_of("block_sum", {4}, {8}, {});
  const BytesByBlock total = each_block(4, [](int) { return range(0, 4); });
  EXPECT_EQ(bytes_of(sum.arguments[1].reads.relation), total);
  EXPECT_EQ(bytes_of(sum.arguments[1].may_writes.relation), total);
  EXPECT_FALSE(sum.arguments[1].must_writes.present());

  const Footprint histogram = footprint_of("histogram", {4}, {8}, {30});
  const BytesByBlock bins = each_block(4, [](int) { return range(0, 128); });
  EXPECT_EQ(bytes_of(histogram.arguments[1].may_writes.relation), bins);
  EXPECT_EQ(bytes_of(histogram.arguments[1].reads.relation), bins);

  const Footprint maximum = footprint_of("atomic_max", {4}, {8}, {});
  EXPECT_FALSE(maximum.opaque()) << int(maximum.opaque_reason.why);
  EXPECT_EQ(bytes_of(maximum.arguments[0].may_writes.relation), total);
}

TEST(WidenedFootprints, IndicesThatWrapAround) {
  const Footprint footprint = footprint_of("wrap_around", {4}, {8}, {2'000'000'000, 5});
  EXPECT_EQ(footprint.arguments[0].may_writes.precision, Precision::whole_buffer);
  EXPECT_FALSE(footprint.arguments[0].must_writes.present());
}

TEST(WidenedFootprints, ReasonsTellALoadedIndexFromALoadedLoopBoundAndAWrap) {
  const Footprint rows = footprint_of("csr", {4}, {8}, {30});
  EXPECT_EQ(rows.arguments[2].reads.reason.why, Widening::loaded_value);
  EXPECT_TRUE(rows.arguments[2].reads.reason.bounds_a_loop);
  EXPECT_EQ(rows.arguments[3].reads.reason.why, Widening::loaded_value);
  EXPECT_FALSE(rows.arguments[3].reads.reason.bounds_a_loop);
  const Footprint wrapping = footprint_of("wrap_around", {4}, {8}, {2'000'000'000, 5});
  EXPECT_EQ(wrapping.arguments[0].may_writes.reason.why, Widening::wraps);
}

TEST(WidenedFootprints, OneOfTwoPointers) {
  const Footprint footprint = footprint_of("choose_pointer", {4}, {8}, {30});
  for (const ArgumentFootprint& argument : footprint.arguments) {
    EXPECT_EQ(argument.may_writes.precision, Precision::whole_buffer);
    EXPECT_EQ(argument.may_writes.reason.why, Widening::several_pointers);
    EXPECT_FALSE(argument.must_writes.present());
  }
}

TEST(WidenedFootprints, OpaqueKernelsSayWhy) {
  const auto reason = [](const char* kernel) {
    return footprint_of(kernel, {4}, {8}, {}).opaque_reason;
  };
  EXPECT_EQ(reason("pointer_table").why, Widening::loaded_pointer);
  EXPECT_NE(reason("pointer_table").line, 0u);
  EXPECT_EQ(reason("spin").why, Widening::grid_communication);
  EXPECT_EQ(reason("lock").why, Widening::grid_communication);
}

TEST(WidenedFootprints, AWaitMayLieInABranch) {
  for (const char* kernel : {"step_when_set", "flag_set_in_a_loop", "while_missing",
                             "exit_behind_an_atomic", "wait_by_a_function"}) {
    EXPECT_EQ(footprint_of(kernel, {4}, {8}, {30}).opaque_reason.why, Widening::grid_communication)
        << kernel;
  }
  for (const char* kernel : {"count_set", "claim_each"})
    EXPECT_FALSE(footprint_of(kernel, {4}, {8}, {30}).opaque()) << kernel;
}

TEST(WidenedFootprints, SizesAddedToLoadedPointersAreNoBase) {
  EXPECT_TRUE(footprint_of("loaded_pointer_plus_size", {4}, {8}, {}).opaque());
  EXPECT_TRUE(analysis_of("loaded_pointer_plus_size").signature().pointers.empty());
}

TEST(WidenedFootprints, LoadedSizesAddedToPointersMayReachAnyByte) {
  const Footprint footprint = footprint_of("pointer_plus_loaded_size", {4}, {8}, {});
  ASSERT_FALSE(footprint.opaque()) << int(footprint.opaque_reason.why);
  ASSERT_EQ(footprint.arguments.size(), 2u);
  EXPECT_EQ(footprint.arguments[0].reads.precision, Precision::exact);
  EXPECT_EQ(footprint.arguments[1].may_writes.precision, Precision::whole_buffer);
}

// covers() is true where `bytes` holds all of `touched`.
bool covers(const BytesByBlock& bytes, const BytesByBlock& touched) {
  for (const auto& [block, needed] : touched) {
    const auto found = bytes.find(block);
    if (found == bytes.end()) return false;
    for (int64_t byte : needed) {
      if (!found->second.contains(byte)) return false;
    }
  }
  return true;
}

void expect_covered(const std::string& kernel, std::vector<uint64_t> shape, const Model& model) {
  const Footprint footprint = footprint_of(kernel, {4}, {8}, std::move(shape));
  Touched touched = run_model({4}, {8}, model);
  const Access& reads = footprint.arguments[0].reads;
  EXPECT_TRUE(reads.precision == Precision::whole_buffer ||
              covers(bytes_of(reads.relation), touched.reads[0]))
      << reads.relation;
  EXPECT_EQ(bytes_of(footprint.arguments[1].must_writes.relation), touched.writes[1]);
}

TEST(WidenedFootprints, LoopsBoundedByTheIndex) {
  expect_covered("triangle", {30}, [](Thread& t) {
    if (t.x() >= 30) return;
    for (int j = 0; j <= t.x(); ++j)
      t.read(0, t.x() * 30 + j);
    t.write(1, t.x());
  });
  expect_covered("two_loops", {13}, [](Thread& t) {
    int j = 0;
    for (; j < t.x() && j < 13; j += 2)
      t.read(0, 2 * j);
    for (; j < 13; ++j)
      t.read(0, j);
    t.write(1, t.x());
  });
}

}  // namespace
}  // namespace sluice::analysis::testing
