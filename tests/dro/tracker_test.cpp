// What the tracker does beside the known cases: precision, aliasing, memory, both rules.
#include <algorithm>
#include <array>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/replayed_driver.hpp"

namespace sluice::dro::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Footprint write_all = footprint("w", {4}, {writes(chunks(4, 64, 64))});
const Footprint read_all = footprint("r", {4}, {reads(chunks(4, 64, 64))});
const Footprint may_write_all = footprint("m", {4}, {may_write(chunks(4, 64, 64))});

// Listener keeps warnings and counts what was found.
struct Listener : Observer {
  std::vector<std::string> warnings;
  int edge_tables = 0;
  void note(Record record) override {
    if (const auto* warning = std::get_if<WarningRecord>(&record)) {
      warnings.push_back(warning->text);
    }
    edge_tables += std::holds_alternative<EdgesRecord>(record) ? 1 : 0;
  }
};

TEST(Tracker, AReaderSeesTheLastMustWriteAndTheMayWritesAfterIt) {
  ReplayedDriver driver;
  const BufferId x = driver.buffer(256);
  driver.launch(write_all, {{x, 0}});      // 1, overwritten by 2
  driver.launch(write_all, {{x, 0}});      // 2
  driver.launch(may_write_all, {{x, 0}});  // 3
  driver.launch(may_write_all, {{x, 0}});  // 4
  EXPECT_THAT(masters(driver.launch(read_all, {{x, 0}})), ElementsAre(2, 3, 4));
  // Writing needs only the reader: all before it is implied.
  EXPECT_THAT(masters(driver.launch(write_all, {{x, 0}})), ElementsAre(5));
}

// A program of few buffers and many places in them, for two trackers: one forgets what comes before
// the launches that are held back, which the other one remembers.
TEST(Tracker, ForgetsNoneThatMayHaveToBeWaitedFor) {
  std::mt19937 random(7);
  const auto below = [&](uint64_t n) { return random() % n; };
  const Footprint part = footprint("p", {4}, {writes(chunks(4, 16, 16))});
  const Footprint read_part = footprint("q", {4}, {reads(chunks(4, 16, 16))});
  const Footprint read_whole = footprint("r", {4}, {reads(chunks(4, 1024, 1024))});
  const Footprint add = footprint("a", {2}, {may_write(chunks(2, 256, 512))});
  uint64_t forgotten = 0;
  for (int round = 0; round < 40; ++round) {
    DependenceTracker remembers(Rule::exact);
    DependenceTracker forgets(Rule::exact, nullptr, {.met = below(3)});
    LaunchNumber held = 1;
    for (BufferId buffer : {1, 2}) {
      remembers.buffer_created(buffer, 4096);
      forgets.buffer_created(buffer, 4096);
    }
    for (LaunchNumber number = 1; number < 120; ++number) {
      const Footprint& made = *std::array{&part, &part, &read_part, &read_whole, &add}[below(5)];
      const uint64_t offset = &made == &part || &made == &read_part ? 64 * below(64) : 0;
      const BoundArgument argument{1 + below(2), offset};
      const auto masters_by = [&](DependenceTracker& tracker, LaunchNumber oldest) {
        std::vector<Dependence> found;
        const FootprintId id = *tracker.add_footprint(made);
        EXPECT_TRUE(tracker.launch({number, id, {&argument, 1}, oldest}, found));
        return masters(found);
      };
      if (below(6) == 0) held = std::max(held, number - below(std::min<uint64_t>(number, 20)));
      const std::vector<LaunchNumber> all = masters_by(remembers, 0),
                                      some = masters_by(forgets, held);
      EXPECT_TRUE(std::ranges::includes(all, some)) << number;
      std::vector<LaunchNumber> needed = all;
      std::erase_if(needed, [&](LaunchNumber master) { return master < held; });
      EXPECT_TRUE(std::ranges::includes(some, needed)) << number;
      forgotten += all.size() - some.size();
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(forgotten, 1000U);
}

// Each round writes another part of a buffer and reads all that was written.
TEST(Tracker, MeetsFewWhereARoundWritesOnAndReadsAll) {
  const Footprint part = footprint("p", {4}, {writes(chunks(4, 16, 16))});
  const Footprint read_whole = footprint("r", {4}, {reads(chunks(4, 8192, 8192))});
  std::array<uint64_t, 2> met{};
  for (const bool forgets : {false, true}) {
    DependenceTracker tracker(Rule::exact);
    tracker.buffer_created(1, 32768);
    std::vector<Dependence> found;
    for (LaunchNumber number = 1; number <= 160; number += 2) {
      const BoundArgument next{1, 64 * number}, all{1, 0};
      const LaunchNumber held = forgets ? number - std::min<LaunchNumber>(number - 1, 8) : 0;
      const FootprintId write = *tracker.add_footprint(part),
                        read = *tracker.add_footprint(read_whole);
      EXPECT_TRUE(tracker.launch({number, write, {&next, 1}, held}, found));
      EXPECT_TRUE(tracker.launch({number + 1, read, {&all, 1}, held}, found));
    }
    met[forgets ? 1 : 0] = found.size();
  }
  EXPECT_GE(met[0], 80U * 81 / 2);
  EXPECT_LT(met[1], 80U * 20);
}

TEST(Tracker, AWriteOfTheWholeBufferIsClaimedByEveryBlock) {
  ReplayedDriver driver;
  const BufferId x = driver.buffer(256);
  driver.launch(footprint("scatter", {4}, {{{}, whole(), {}}}), {{x, 0}});
  const auto found = driver.launch(read_all, {{x, 0}});
  ASSERT_THAT(masters(found), ElementsAre(1));
  EXPECT_EQ(driver.edges(found[0]), 16u);
  EXPECT_EQ(form_name(driver.tracker().edge_table(found[0].dro->edges)), "all");
}

TEST(Tracker, OnlyAnExactMustWriteRetires) {
  for (auto [precision, expected] : {std::pair{Precision::exact, std::vector<LaunchNumber>{2}},
                                     {Precision::bounded, {1, 2}},
                                     {Precision::whole_buffer, {1, 2}}}) {
    ReplayedDriver driver;
    const BufferId x = driver.buffer(256);
    driver.launch(write_all, {{x, 0}});
    Footprint second = write_all;
    second.arguments[0].must_writes.precision = precision;
    driver.launch(second, {{x, 0}});
    EXPECT_EQ(masters(driver.launch(read_all, {{x, 0}})), expected);
  }
}

TEST(Tracker, ArgumentsMayPointIntoOneBuffer) {
  ReplayedDriver driver;
  const BufferId x = driver.buffer(512);
  const Footprint copy =
      footprint("copy", {4}, {reads(chunks(4, 64, 64)), writes(chunks(4, 64, 64))});
  EXPECT_THAT(masters(driver.launch(copy, {{x, 0}, {x, 256}})), IsEmpty());
  const auto back = driver.launch(copy, {{x, 256}, {x, 0}});
  ASSERT_THAT(masters(back), ElementsAre(1));
  EXPECT_EQ(back[0].dro->hazards, (Hazards{true, true, false}));
  EXPECT_EQ(driver.edges(back[0]), 4u);
  // In place: a launch never waits for itself.
  const auto in_place = driver.launch(copy, {{x, 0}, {x, 0}});
  EXPECT_THAT(masters(in_place), ElementsAre(2));
}

TEST(Tracker, OffsetsShiftBytes) {
  ReplayedDriver driver;
  const BufferId x = driver.buffer(1024);
  driver.launch(write_all, {{x, 0}});
  EXPECT_THAT(masters(driver.launch(read_all, {{x, 256}})), IsEmpty());
  const auto found = driver.launch(read_all, {{x, 32}});
  ASSERT_THAT(masters(found), ElementsAre(1));
  EXPECT_EQ(driver.edges(found[0]), 7u);  // own and next block, but for the last
}

TEST(Tracker, ArgumentsThatPointNowhereTouchNothing) {
  ReplayedDriver driver;
  driver.launch(write_all, {{0, 0}});
  EXPECT_THAT(masters(driver.launch(read_all, {{0, 0}})), IsEmpty());
}

TEST(Tracker, AHostWriteRetiresWhatItCovers) {
  ReplayedDriver driver;
  const BufferId x = driver.buffer(256);
  driver.launch(write_all, {{x, 0}});
  driver.tracker().host_write(x, 0, 128);
  const auto found = driver.launch(read_all, {{x, 0}});
  ASSERT_THAT(masters(found), ElementsAre(1));
  EXPECT_EQ(driver.edges(found[0]), 2u);
  driver.tracker().host_write(x, 0, 256);
  EXPECT_THAT(masters(driver.launch(write_all, {{x, 0}})), IsEmpty());
}

TEST(Tracker, AnOpaqueLaunchEndsAllThatIsLive) {
  ReplayedDriver driver;
  const BufferId x = driver.buffer(256);
  driver.launch(write_all, {{x, 0}});
  driver.tracker().opaque_launch(driver.next_number(), "it has no PTX");
  EXPECT_THAT(masters(driver.launch(read_all, {{x, 0}})), IsEmpty());
}

TEST(Tracker, FreeingOneBufferKeepsWhatIsLiveInOthers) {
  ReplayedDriver driver;
  const BufferId x = driver.buffer(256), y = driver.buffer(256);
  driver.launch(footprint("two", {4}, {writes(chunks(4, 64, 64)), writes(chunks(4, 64, 64))}),
                {{x, 0}, {y, 0}});
  driver.tracker().buffer_destroyed(x);
  EXPECT_THAT(masters(driver.launch(read_all, {{y, 0}})), ElementsAre(1));
}

TEST(Tracker, FootprintsThatAreEqualShareOneNumberAndBadOnesAreRefused) {
  DependenceTracker tracker(Rule::exact);
  EXPECT_EQ(*tracker.add_footprint(write_all), *tracker.add_footprint(write_all));
  EXPECT_NE(*tracker.add_footprint(write_all), *tracker.add_footprint(read_all));
  const auto error = [&](const Relation& relation) {
    const auto added = tracker.add_footprint(footprint("k", {4}, {{exact(relation), {}, {}}}));
    return added ? "" : added.error().line();
  };
  Relation damaged = relation_of("{ B[x, y, z] -> A[o] : o = x }");
  EXPECT_THAT(error(damaged), HasSubstr("blocks outside the grid (4, 1, 1)"));
  damaged.pieces[0].equal[0].pop_back();
  EXPECT_THAT(error(damaged),
              HasSubstr("kernel k, pointer argument 0, reads: the rows of a relation"));
  EXPECT_THAT(error(relation_of("[n] -> { B[x, y, z] -> A[o] : o = n and x = y = z = 0 }")),
              HasSubstr("no value for a parameter"));
  Footprint opaque = write_all;
  opaque.opaque_reason.why = analysis::Widening::grid_communication;
  EXPECT_FALSE(tracker.add_footprint(opaque));
}

TEST(Tracker, FootprintsThatShowWithoutIslAreAddedAtOnce) {
  DependenceTracker tracker(Rule::exact);
  const auto known = tracker.add_footprint_at_once(write_all);
  ASSERT_TRUE(known);
  EXPECT_EQ(tracker.add_footprint_at_once(write_all), known);
  EXPECT_EQ(*tracker.add_footprint(write_all), *known);
  const Footprint scattered =
      footprint("k", {40},
                {reads("{ B[x, y = 0, z = 0] -> A[o] : exists a, b : 0 <= x < 40 and 0 <= a <= b < "
                       "24 and o = 7a + 97b + x }")});
  EXPECT_FALSE(tracker.add_footprint_at_once(scattered));
  const auto read = tracker.add_footprint(scattered);
  ASSERT_TRUE(read);
  EXPECT_EQ(tracker.add_footprint_at_once(scattered), *read);
}

TEST(Tracker, LaunchesThatRepeatFindNothingNew) {
  Listener listener;
  Driver driver(Rule::exact, &listener);
  const BufferId x = driver.buffer(256);
  // A histogram adds to every bin: read and may-write.
  const Footprint histogram =
      footprint("histogram", {4}, {{exact(range(4, 0, 256)), exact(range(4, 0, 256)), {}}});
  for (int i = 0; i < 500; ++i) {
    const auto found = driver.launch(histogram, {{x, 0}});
    EXPECT_LE(found.size(), 65u);  // what only repeats the order of others is named no further
    if (i > 0) {
      EXPECT_EQ(found.back().master, driver.launches() - 1);
    }
  }
  EXPECT_EQ(driver.tracker().counters().dros, 2u);
  EXPECT_EQ(listener.edge_tables, 1);
}

TEST(Tracker, MemoryAllocatedAfreshSharesEdgeTables) {
  Listener listener;
  Driver driver(Rule::exact, &listener);
  for (LaunchNumber writer : {1, 3, 5, 7, 9}) {
    const BufferId x = driver.buffer(256);
    driver.launch(write_all, {{x, 0}});
    EXPECT_THAT(masters(driver.launch(read_all, {{x, 0}})), ElementsAre(writer));
    driver.tracker().buffer_destroyed(x);
  }
  EXPECT_EQ(driver.tracker().counters().dros, 5u);  // a DRO is a pair of launches with buffers
  EXPECT_EQ(listener.edge_tables, 1);
}

TEST(BufferRule, AnyWriteHidesAllEarlierOnesAndAWarningSaysSo) {
  Listener listener;
  Driver driver(Rule::buffer, &listener);
  const BufferId x = driver.buffer(100);
  driver.launch(footprint("a", {1}, {writes(range(1, 0, 100))}), {{x, 0}});
  driver.launch(footprint("b", {1}, {writes(range(1, 40, 60))}), {{x, 0}});
  EXPECT_THAT(
      listener.warnings,
      ElementsAre("the buffer rule loses a dependence: launch 2 (b) has to wait for launch 1 "
                  "(a) because of waw, and does not; the results may be wrong, use the exact "
                  "rule"));
  const auto found = driver.launch(footprint("c", {1}, {reads(range(1, 0, 100))}), {{x, 0}});
  EXPECT_THAT(masters(found), ElementsAre(2));
  EXPECT_EQ(listener.warnings.size(), 1u);
}

TEST(BufferRule, LosesTheWarOfBodiesAndSaysSo) {
  Listener listener;
  Driver driver(Rule::buffer, &listener);
  const BufferId positions = driver.buffer(1024), speeds = driver.buffer(1024);
  const ArgumentFootprint update = {exact(chunks(4, 256, 256)), {}, exact(chunks(4, 256, 256))};
  driver.launch(footprint("updateSpeed", {4}, {reads(range(4, 0, 1024)), update}),
                {{positions, 0}, {speeds, 0}});
  const auto found =
      driver.launch(footprint("updatePositions", {4}, {reads(chunks(4, 256, 256)), update}),
                    {{speeds, 0}, {positions, 0}});
  ASSERT_THAT(masters(found), ElementsAre(1));
  EXPECT_EQ(driver.edges(found[0]), 4u);
  ASSERT_EQ(listener.warnings.size(), 1u);
  EXPECT_THAT(listener.warnings[0],
              HasSubstr("launch 2 (updatePositions) has to wait for launch 1 (updateSpeed)"));
}

TEST(BufferRule, SaysNothingWhereItLosesNothing) {
  Listener listener;
  Driver driver(Rule::buffer, &listener);
  const BufferId a = driver.buffer(64 * 64 * 4), b = driver.buffer(64 * 64 * 4);
  for (int t = 0; t < 10; ++t) {
    const BufferId from = t % 2 == 0 ? a : b;
    driver.launch(stencil(64, 16), {{from, 0}, {a + b - from, 0}});
  }
  EXPECT_EQ(driver.tracker().counters().edges, 9 * 64u);
  // A chain of reads implies the war hazard at its end: x -> y -> z -> x.
  const BufferId x = driver.buffer(256), y = driver.buffer(256), z = driver.buffer(256);
  const Footprint copy =
      footprint("copy", {4}, {reads(chunks(4, 64, 64)), writes(chunks(4, 64, 64))});
  driver.launch(copy, {{x, 0}, {y, 0}});
  driver.launch(copy, {{y, 0}, {z, 0}});
  driver.launch(copy, {{z, 0}, {x, 0}});
  EXPECT_THAT(listener.warnings, IsEmpty());
}

}  // namespace
}  // namespace sluice::dro::testing
