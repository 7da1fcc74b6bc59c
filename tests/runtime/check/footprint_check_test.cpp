// The footprint check tells what is outside a footprint and what a must-write left out.
#include "runtime/check/footprint_check.hpp"

#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "relation_text.hpp"

namespace sluice::runtime {
namespace {

const SluiceAccessSink* current_sink = nullptr;

class TracingDevice final : public Device {
 public:
  int launch(const LaunchCall&) override { return 0; }
  Result<SluiceBlockCode> block_code(void*, const Dim3&, uint32_t) override {
    return SluiceBlockCode{};
  }
  void set_access_sink(const SluiceAccessSink* sink) override { current_sink = sink; }
  int enqueue(const StreamKey&, std::function<void()>) override { return 0; }
};

constexpr uint64_t in = 0x100000, out = 0x200000;

void touch(uint64_t address, uint32_t kind, uint32_t line) {
  current_sink->access(current_sink->recorder, address, 4, kind, line);
}

// Each block copies 16 bytes; what is wrong is wrong in block 1.
void copy(uint32_t block, bool reads_beyond, bool skips_last) {
  for (uint64_t i = 0; i < 4; ++i) {
    touch(in + 16 * block + 4 * i, SLUICE_ACCESS_READ, 7);
    if (!skips_last || block != 1 || i != 3) {
      touch(out + 16 * block + 4 * i, SLUICE_ACCESS_WRITE, 8);
    }
  }
  if (reads_beyond && block == 1) touch(in + 32, SLUICE_ACCESS_READ, 9);
}
void copy_right(const SluiceBlockLaunch*, uint32_t block, uint32_t, void*) {
  copy(block, false, false);
}
void copy_beyond(const SluiceBlockLaunch*, uint32_t block, uint32_t, void*) {
  copy(block, true, false);
}
void copy_less(const SluiceBlockLaunch*, uint32_t block, uint32_t, void*) {
  copy(block, false, true);
}

dro::CheckRecord check(SluiceBlockFunction function) {
  TracingDevice device;
  FootprintCheck checker(device);
  const Relation bytes = sluice::testing::relation_of(
      "{ B[x, y, z] -> A[o] : 0 <= x < 3 and y = 0 and z = 0 and "
      "16x <= o < 16x + 16 }");
  analysis::Footprint footprint;
  footprint.kernel = "copy";
  footprint.shape.grid = {3, 1, 1};
  footprint.arguments.resize(2);
  footprint.arguments[0].reads.relation = bytes;
  footprint.arguments[1].must_writes.relation = bytes;
  checker.add_footprint(1, footprint);
  const auto runner =
      checker.watch("copy", 1, {{"in", in, in, in + 64}, {"out", out, out, out + 64}}, 0);
  EXPECT_NE(runner, nullptr);
  if (runner != nullptr) runner->run({function, 0}, {}, 0, 3, nullptr);
  EXPECT_EQ(checker.violations(), checker.records()[0].violations);
  return checker.records()[0];
}

TEST(FootprintCheck, AgreesWithWhatTheFootprintSays) {
  const dro::CheckRecord record = check(copy_right);
  EXPECT_EQ(record.violations, 0u);
  EXPECT_EQ(record.blocks, 3u);
  EXPECT_EQ(record.arguments[0].read_bytes_claimed, 48u);
  EXPECT_EQ(record.arguments[0].read_bytes_touched, 48u);
  EXPECT_EQ(record.arguments[1].written_bytes_touched, 48u);
  EXPECT_EQ(record.arguments[1].must_write_bytes, 48u);
}

TEST(FootprintCheck, TellsAReadOutsideTheFootprint) {
  EXPECT_EQ(check(copy_beyond).violations, 1u);
  EXPECT_EQ(violation_text("copy", {Violation::Kind::read, "in", {1, 0, 0}, 32, 4, 9}),
            "kernel copy, PTX line 9: block (1, 0, 0) reads 4 bytes outside its footprint: byte "
            "32 of argument in");
}

TEST(FootprintCheck, TellsAMustWriteThatDidNotHappen) {
  const dro::CheckRecord record = check(copy_less);
  EXPECT_EQ(record.violations, 1u);
  EXPECT_EQ(record.arguments[1].written_bytes_touched, 44u);
}

// check_some() checks about `most` of 10 blocks, four launches; block 5 reads beyond its bytes.
dro::CheckRecord check_some(uint32_t most) {
  TracingDevice device;
  FootprintCheck checker(device, most);
  analysis::Footprint footprint;
  footprint.shape.grid = {10, 1, 1};
  footprint.arguments.resize(1);
  footprint.symbols = {{"s0", 16}};
  footprint.arguments[0].reads.relation = sluice::testing::relation_of(
      "[s0] -> { B[x, y, z] -> A[o] : 0 <= x < 10 and y = 0 and z = 0 and "
      "16x <= o < 16x + s0 }");
  checker.add_footprint(1, footprint);
  const auto read = [](const SluiceBlockLaunch*, uint32_t block, uint32_t, void*) {
    if (current_sink == nullptr) return;
    for (uint64_t i = 0; i < (block == 5 ? 5 : 4); ++i)
      touch(in + 16 * block + 4 * i, SLUICE_ACCESS_READ, 7);
  };
  for (int launch = 0; launch < 4; ++launch) {
    const auto runner = checker.watch("some", 1, {{"in", in, in, in + 1024}}, 0);
    runner->run({read, 0}, {}, 0, 10, nullptr);
  }
  return checker.records()[0];
}

TEST(FootprintCheck, ChecksOtherBlocksInEachLaunchWhereItMayNotCheckAll) {
  const dro::CheckRecord some = check_some(3);
  EXPECT_EQ(some.launched_blocks, 40u);
  // Blocks 0, 4 and 8; 1, 5 and 9; 2 and 6; 3 and 7; and always the first and the last.
  EXPECT_EQ(some.blocks, 4u + 4u + 4u + 4u);
  EXPECT_EQ(some.violations, 1u);
  EXPECT_EQ(some.arguments[0].read_bytes_touched, some.arguments[0].read_bytes_claimed);
}

TEST(FootprintCheck, ChecksAllBlocksOtherwise) {
  for (const uint32_t most : {0u, 10u}) {
    const dro::CheckRecord all = check_some(most);
    EXPECT_EQ(all.blocks, all.launched_blocks);
    EXPECT_EQ(all.violations, 4u);
  }
}

TEST(ByteRuns, FirstMissingByte) {
  EXPECT_EQ(first_missing({{0, 4}, {8, 12}}, 0, {{0, 12}}), 12);
  EXPECT_EQ(first_missing({{0, 4}, {8, 12}}, 0, {{0, 10}}), 10);
  EXPECT_EQ(first_missing({{0, 4}, {8, 12}}, 100, {{100, 104}}), 8);
}

TEST(ByteRuns, CollectorHoldsWhatASetHolds) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    ByteCollector collector;
    std::set<int64_t> bytes;
    for (int i = 0; i < 100; ++i) {
      const int64_t first = 1'000'000 + static_cast<int64_t>(random() % 20'000);
      const int64_t size = i % 10 == 0 ? static_cast<int64_t>(random() % 5'000) : 1 << random() % 5;
      collector.add(first, first + size);
      for (int64_t byte = first; byte < first + size; ++byte)
        bytes.insert(byte);
    }
    ByteRuns expected;
    for (const int64_t byte : bytes)
      expected.push_back({byte, byte + 1});
    join_ranges(expected);
    EXPECT_EQ(collector.take(), expected);
    EXPECT_TRUE(collector.take().empty());
  }
}

}  // namespace
}  // namespace sluice::runtime
