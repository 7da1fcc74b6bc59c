// Kernels that cannot be exact: what they touch is never left out, and the footprint says which
// instruction is to blame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "footprint_oracle.hpp"

namespace sluice::analysis::testing {
namespace {

using ::testing::HasSubstr;

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
  EXPECT_THAT(in.reads.reason, HasSubstr("loaded from memory at PTX line"));
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
  EXPECT_FALSE(maximum.opaque()) << maximum.opaque_reason;
  EXPECT_EQ(bytes_of(maximum.arguments[0].may_writes.relation), total);
}

TEST(WidenedFootprints, IndicesThatWrapAround) {
  const Footprint footprint = footprint_of("wrap_around", {4}, {8}, {2'000'000'000, 5});
  EXPECT_EQ(footprint.arguments[0].may_writes.precision, Precision::whole_buffer);
  EXPECT_FALSE(footprint.arguments[0].must_writes.present());
}

TEST(WidenedFootprints, ReasonsTellALoadedIndexFromALoadedLoopBoundAndAWrap) {
  const Footprint rows = footprint_of("csr", {4}, {8}, {30});
  EXPECT_THAT(rows.arguments[2].reads.reason,
              HasSubstr("moves in a loop whose bounds depend on a value loaded from memory"));
  EXPECT_THAT(rows.arguments[3].reads.reason, HasSubstr("depends on a value loaded from memory"));
  const Footprint wrapping = footprint_of("wrap_around", {4}, {8}, {2'000'000'000, 5});
  EXPECT_THAT(wrapping.arguments[0].may_writes.reason, HasSubstr("may wrap around"));
}

TEST(WidenedFootprints, OneOfTwoPointers) {
  const Footprint footprint = footprint_of("choose_pointer", {4}, {8}, {30});
  for (const ArgumentFootprint& argument : footprint.arguments) {
    EXPECT_EQ(argument.may_writes.precision, Precision::whole_buffer);
    EXPECT_THAT(argument.may_writes.reason, HasSubstr("several pointers"));
    EXPECT_FALSE(argument.must_writes.present());
  }
}

TEST(WidenedFootprints, OpaqueKernelsSayWhy) {
  EXPECT_THAT(footprint_of("pointer_table", {4}, {8}, {}).opaque_reason,
              HasSubstr("pointer loaded from memory at PTX line"));
  EXPECT_THAT(footprint_of("spin", {4}, {8}, {}).opaque_reason, HasSubstr("waits for memory"));
  EXPECT_THAT(footprint_of("lock", {4}, {8}, {}).opaque_reason, HasSubstr("waits for memory"));
}

TEST(WidenedFootprints, AWaitMayLieInABranch) {
  for (const char* kernel : {"step_when_set", "flag_set_in_a_loop", "while_missing",
                             "exit_behind_an_atomic", "wait_by_a_function"}) {
    EXPECT_THAT(footprint_of(kernel, {4}, {8}, {30}).opaque_reason, HasSubstr("waits for memory"))
        << kernel;
  }
  for (const char* kernel : {"count_set", "claim_each"})
    EXPECT_EQ(footprint_of(kernel, {4}, {8}, {30}).opaque_reason, "") << kernel;
}

TEST(WidenedFootprints, SizesAddedToLoadedPointersAreNoBase) {
  EXPECT_THAT(footprint_of("loaded_pointer_plus_size", {4}, {8}, {}).opaque_reason,
              HasSubstr("pointer"));
  EXPECT_TRUE(analysis_of("loaded_pointer_plus_size").signature().pointers.empty());
}

TEST(WidenedFootprints, LoadedSizesAddedToPointersMayReachAnyByte) {
  const Footprint footprint = footprint_of("pointer_plus_loaded_size", {4}, {8}, {});
  ASSERT_FALSE(footprint.opaque()) << footprint.opaque_reason;
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
