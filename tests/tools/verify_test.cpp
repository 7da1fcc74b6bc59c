// Which copies of two runs answer to each other, which is the first that differs, and who wrote it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "relation_text.hpp"
#include "tools/verify/difference.hpp"
#include "tools/verify/words.hpp"
#include "tools/verify/writers.hpp"

namespace sluice::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Sent is one copy of 128 bytes: by which thread, in which stream, its two hashes.
struct Sent {
  uint64_t thread = 1;
  uint64_t stream = 0;
  std::vector<uint64_t> pieces = {1, 2};
};

RunRecord run_of(const std::vector<Sent>& all) {
  RunRecord run;
  ProcessRecord& process = run.processes.emplace_back();
  process.is_whole = true;
  for (const Sent& sent : all) {
    process.copies.push_back({.number = process.copies.size() + 1,
                              .thread = sent.thread,
                              .stream = sent.stream,
                              .function = "cuMemcpyDtoH_v2",
                              .row_bytes = 128,
                              .rows = 1,
                              .slices = 1,
                              .piece_bytes = 64,
                              .pieces = sent.pieces});
  }
  return run;
}

TEST(VerifyDifference, NamesTheFirstPieceOfTheFirstCopyThatDiffers) {
  const RunRecord plain = run_of({{}, {1, 0, {3, 4}}, {1, 0, {5, 6}}});
  const RunRecord other = run_of({{}, {1, 0, {3, 9}}, {1, 0, {9, 9}}});
  EXPECT_FALSE(first_difference(plain, plain));
  const auto found = first_difference(plain, other);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first->number, 2u);
  EXPECT_EQ(found->piece, 1u);
  EXPECT_EQ(found->moment, std::pair(size_t{0}, uint64_t{2}));
}

TEST(VerifyDifference, ThreadsAndStreamsMayComeInAnotherOrder) {
  const RunRecord plain = run_of({{1, 0, {1, 1}}, {2, 1, {2, 2}}, {1, 0, {3, 3}}});
  EXPECT_FALSE(first_difference(plain, run_of({{1, 0, {2, 2}}, {2, 1, {1, 1}}, {2, 1, {3, 3}}})));
  // Within one of them the order counts.
  EXPECT_TRUE(first_difference(plain, run_of({{1, 0, {3, 3}}, {1, 0, {1, 1}}, {2, 1, {2, 2}}})));
}

TEST(VerifyDifference, ACopyTooFewOrTooManyIsOne) {
  const RunRecord one = run_of({{}}), two = run_of({{}, {}}), none = run_of({});
  const auto missing = first_difference(two, one);
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->second, nullptr);
  EXPECT_EQ(missing->first->number, 2u);
  EXPECT_THAT(difference_lines(*missing).front(), HasSubstr("is not made"));
  const auto added = first_difference(one, two);
  ASSERT_TRUE(added);
  EXPECT_EQ(added->first, nullptr);
  EXPECT_THAT(difference_lines(*added).front(), HasSubstr("is made in addition"));
  EXPECT_TRUE(first_difference(one, none));
  EXPECT_TRUE(first_difference(none, one));
  EXPECT_TRUE(first_difference(RunRecord{}, one));
}

TEST(VerifyDifference, OfAProcessThatWasCutOffCountsWhatIsThere) {
  RunRecord cut = run_of({{}});
  cut.processes.front().is_whole = false;
  EXPECT_FALSE(first_difference(run_of({{}, {}}), cut));
  EXPECT_TRUE(first_difference(run_of({{1, 0, {7, 7}}, {}}), cut));
  EXPECT_THAT(unseen_text(cut), HasSubstr("the last copies of a process that ended at once (1)"));
}

TEST(VerifyDifference, OtherSizesAreAnotherCall) {
  RunRecord other = run_of({{}});
  other.processes.front().copies.front().row_bytes = 100;
  const RunRecord one = run_of({{}});
  const auto found = first_difference(one, other);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->piece);
  EXPECT_THAT(difference_lines(*found).front(), HasSubstr("in the place of copy 1"));
}

// Two blocks that write 64 bytes each of buffer 1, then one launch that may write the second 64,
// and a host's memset of the first 16.
class VerifyWriters : public ::testing::Test {
 protected:
  VerifyWriters() {
    process_.footprints[0] = footprint(2, "32x <= o < 32x + 32 and 0 <= x < 2");
    process_.footprints[0].arguments[0].must_writes.relation =
        process_.footprints[0].arguments[0].may_writes.relation;
    process_.footprints[1] = footprint(1, "x = 0 and 32 <= o < 64");
    add(0);
    add(1);
    process_.host_writes.push_back({2, 1, {0, 16}});
  }

  static analysis::Footprint footprint(uint32_t blocks, const std::string& bytes) {
    analysis::Footprint made;
    made.shape.grid = {blocks, 1, 1};
    made.arguments.resize(1);
    made.arguments[0].may_writes.relation =
        sluice::testing::relation_of("{ B[x, y, z] -> A[o] : y = 0 and z = 0 and " + bytes + " }");
    return made;
  }
  void add(std::optional<dro::FootprintId> footprint) {
    dro::LaunchSummary& launch = process_.summary.launches.emplace_back();
    launch.record.number = process_.summary.launches.size();
    launch.record.footprint = footprint;
    launch.record.arguments = {{1, 0}};
  }
  // numbers_of() are the launches that wrote these bytes; 0 is the host.
  std::vector<uint64_t> numbers_of(const Range& bytes, uint64_t launches, size_t most = 8) {
    std::vector<uint64_t> numbers;
    for (const Writer& writer : Writers(process_).last_writers(1, bytes, launches, most))
      numbers.push_back(writer.launch == nullptr ? 0 : writer.launch->record.number);
    return numbers;
  }

  ProcessRecord process_;
};

TEST_F(VerifyWriters, AMustWriteHidesWhatCameBefore) {
  EXPECT_THAT(numbers_of({0, 32}, 1), ElementsAre(1));
  EXPECT_THAT(numbers_of({32, 64}, 2), ElementsAre(2, 1));
  EXPECT_THAT(numbers_of({0, 16}, 2), ElementsAre(0));
  EXPECT_THAT(numbers_of({0, 32}, 2), ElementsAre(0, 1));
  EXPECT_THAT(numbers_of({0, 64}, 2, 1), ElementsAre(0));
  EXPECT_THAT(numbers_of({64, 128}, 2), ElementsAre());
}

TEST_F(VerifyWriters, ALaunchThatPassedThroughMayHaveWrittenAnything) {
  add(std::nullopt);
  EXPECT_THAT(numbers_of({64, 128}, 3), ElementsAre(3));
  EXPECT_FALSE(Writers(process_).last_writers(1, {64, 128}, 3, 8).front().is_known);
}

}  // namespace
}  // namespace sluice::tools
