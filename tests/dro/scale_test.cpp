// Bounds and scale: caches that drop what they must and nothing that is needed, buffers with very
// many accesses, and the host as a writer.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/brute_force.hpp"
#include "dro/handwritten.hpp"
#include "dro/launches/hull_index.hpp"
#include "dro/replayed_driver.hpp"

namespace sluice::dro::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Footprint write_own = footprint("w", {4}, {writes(chunks(4, 64, 64))});
const Footprint read_own = footprint("r", {4}, {reads(chunks(4, 64, 64))});

TEST(HullIndex, FindsTheStatesThatMeetARangeAndNoOthers) {
  Generator generator(7);
  HullIndex index;
  std::map<StateId, Range> inserted;
  StateId next = 0;
  for (int step = 0; step < 2000; ++step) {
    if (inserted.empty() || generator.pick(0, 2) > 0) {
      const long first = generator.pick(0, 5000);
      // Some hulls cross all others.
      const long bytes = generator.pick(0, 9) == 0 ? 5000 : generator.pick(1, 20);
      index.insert(next, {first, first + bytes});
      inserted[next++] = {first, first + bytes};
    } else {
      auto gone = inserted.begin();
      std::advance(gone, generator.pick(0, static_cast<long>(inserted.size()) - 1));
      index.erase(gone->first, gone->second);
      inserted.erase(gone);
    }
    const long begin = generator.pick(0, 5000);
    const Range range{begin, begin + generator.pick(1, 51)};
    std::set<StateId> expected, found;
    for (const auto& [state, hull] : inserted) {
      if (hull.begin < range.end && range.begin < hull.end) expected.insert(state);
    }
    index.visit(range, [&](StateId state) { found.insert(state); });
    ASSERT_EQ(found, expected) << "step " << step;
  }
  EXPECT_EQ(index.size(), inserted.size());
}

TEST(Scale, ALaunchMeetsOnlyTheLaunchesOfItsBytes) {
  Driver driver;
  constexpr uint64_t slices = 200;
  const BufferId x = driver.buffer(slices * 256);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < slices; ++i) {
      const auto found = driver.launch(write_own, {{x, 256 * i}});
      const LaunchNumber before = driver.launches() - slices;
      if (round > 0) {
        ASSERT_THAT(masters(found), ElementsAre(before));
      }
    }
  }
  EXPECT_EQ(driver.tracker().counters().dros, slices);
  EXPECT_THAT(masters(driver.launch(read_own, {{x, 128}})),
              ElementsAre(2 * slices + 1, 2 * slices + 2));
}

// As elementwise operations on arrays of ten million floats, each result in another buffer: each
// launch is new, and may take no longer than where the arrays are small.
TEST(Scale, NewLaunchesOfEvenChunksTakeFewStepsWhateverTheGrid) {
  constexpr long blocks = 78125;
  const Footprint add = footprint("add", {blocks},
                                  {reads(chunks(blocks, 512, 512)), reads(chunks(blocks, 512, 512)),
                                   writes(chunks(blocks, 512, 512))});
  Driver driver;
  const std::vector<BufferId> x = {driver.buffer(512 * blocks), driver.buffer(512 * blocks),
                                   driver.buffer(512 * blocks), driver.buffer(512 * blocks)};
  driver.launch(add, {{x[0], 0}, {x[0], 0}, {x[1], 0}});
  for (const auto& [a, b, c] : {std::array{0, 1, 2}, {2, 1, 3}, {3, 3, 0}, {0, 2, 1}}) {
    const uint64_t before = driver.tracker().effort();
    const auto found = driver.launch(add, {{x[a], 0}, {x[b], 0}, {x[c], 0}});
    EXPECT_FALSE(found.empty());
    EXPECT_LT(driver.tracker().effort() - before, 5000u);
  }
}

TEST(Scale, LaunchesOfFreedBuffersAreReleased) {
  Driver driver;
  for (int i = 0; i < 5000; ++i) {
    const BufferId x = driver.buffer(256);
    driver.launch(write_own, {{x, 0}});
    ASSERT_EQ(driver.launch(read_own, {{x, 0}}).size(), 1u);
    driver.tracker().buffer_destroyed(x);
  }
  const auto& counters = driver.tracker().counters();
  EXPECT_EQ(counters.interned, 10000u);
  EXPECT_EQ(counters.launch_cache.misses, 10000u);
  EXPECT_EQ(counters.launch_cache.evictions, 0u);  // released and not evicted
  EXPECT_EQ(counters.pair_cache.misses, 1u);       // isl was asked once
}

// under_limits() runs a random program with caches of this size: the dependences of each launch.
// With `keeps_known` it hands back what the tracker told of launches of the same arguments.
std::vector<std::vector<LaunchNumber>> under_limits(uint32_t seed, const CacheLimits& limits,
                                                    DependenceTracker::Counters& counters,
                                                    bool keeps_known = false) {
  Generator generator(seed);
  DependenceTracker tracker(Rule::exact, nullptr, limits);
  std::vector<BufferId> buffers = {1, 2, 3};
  for (BufferId buffer : buffers)
    tracker.buffer_created(buffer, 48);
  std::vector<RandomKernel> kernels;
  for (int i = 0; i < 4; ++i)
    kernels.push_back(generator.kernel(2, 32));
  std::vector<std::vector<LaunchNumber>> result;
  std::map<std::vector<uint64_t>, KnownLaunch> kept;
  BufferId last = 3;
  for (LaunchNumber number = 1; number <= 30; ++number) {
    if (generator.pick(0, 9) == 0) {
      BufferId& renewed = buffers[static_cast<size_t>(generator.pick(0, 2))];
      tracker.buffer_destroyed(renewed);
      tracker.buffer_created(renewed = ++last, 48);
    }
    if (generator.pick(0, 5) == 0) tracker.host_write(buffers[0], 0, 8);
    const RandomKernel& kernel = kernels[static_cast<size_t>(generator.pick(0, 3))];
    std::vector<BoundArgument> bound;
    for (int i = 0; i < 2; ++i) {
      bound.push_back({buffers[static_cast<size_t>(generator.pick(0, 2))],
                       static_cast<uint64_t>(generator.pick(0, 2) * 8)});
    }
    const FootprintId footprint = *tracker.add_footprint(kernel.footprint);
    KnownLaunch fresh;
    KnownLaunch& known =
        keeps_known
            ? kept[{footprint, bound[0].buffer, bound[0].offset, bound[1].buffer, bound[1].offset}]
            : fresh;
    std::vector<Dependence> found;
    tracker.launch({number, footprint, bound}, found, known);
    result.push_back(masters(found));
  }
  counters = tracker.counters();
  return result;
}

TEST(Scale, CachesThatOverflowChangeNoDependence) {
  CacheUse launches, pairs, footprints;  // evictions only
  for (uint32_t seed = 0; seed < 4; ++seed) {
    DependenceTracker::Counters roomy, narrow;
    const auto expected = under_limits(seed, {}, roomy);
    EXPECT_EQ(under_limits(seed, {4, 4, 2}, narrow), expected) << "seed " << seed;
    DependenceTracker::Counters kept;
    EXPECT_EQ(under_limits(seed, {4, 4, 2}, kept, true), expected) << "seed " << seed;
    EXPECT_EQ(kept.launch_cache, narrow.launch_cache);
    EXPECT_EQ(roomy.launch_cache.evictions, 0u);
    EXPECT_EQ(roomy.pair_cache.evictions, 0u);
    EXPECT_EQ(narrow.resolved, roomy.resolved);
    EXPECT_EQ(narrow.edges, roomy.edges);
    launches.evictions += narrow.launch_cache.evictions;
    pairs.evictions += narrow.pair_cache.evictions;
    footprints.evictions += narrow.footprint_cache.evictions;
  }
  EXPECT_GT(launches.evictions, 0u);
  EXPECT_GT(pairs.evictions, 0u);
  EXPECT_GT(footprints.evictions, 0u);
}

TEST(Host, ItsWriteIsAWriterThatLaterLaunchesDependOn) {
  ReplayedDriver driver;
  DependenceTracker& tracker = driver.tracker();
  const BufferId x = driver.buffer(256);
  driver.launch(write_own, {{x, 0}});
  tracker.host_write(x, 64, 128);
  // A partial upload: the rest is still the launch's.
  EXPECT_THAT(masters(driver.launch(read_own, {{x, 0}})), ElementsAre(1));
  EXPECT_THAT(tracker.host_dependences(), ElementsAre(HostDependence{1, {true, false, false}}));
  const Footprint second_block = footprint("one", {1}, {reads(range(1, 64, 128))});
  EXPECT_THAT(masters(driver.launch(second_block, {{x, 0}})), IsEmpty());
  EXPECT_EQ(tracker.host_dependences().size(), 1u);
  // Overwritten, the upload is gone.
  driver.launch(write_own, {{x, 0}});
  driver.launch(read_own, {{x, 0}});
  EXPECT_THAT(tracker.host_dependences(), IsEmpty());
  // 1 -> 2, then 2 and 3 -> 4 (1 was read since), 4 -> 5.
  EXPECT_EQ(tracker.counters().dros, 4u);
}

}  // namespace
}  // namespace sluice::dro::testing
