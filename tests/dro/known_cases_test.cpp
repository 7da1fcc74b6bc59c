// The cases with known answers: edges, hazards and masters counted by hand.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/replayed_driver.hpp"

namespace sluice::dro::testing {
namespace {

using ::testing::ElementsAre;
using Driver = ReplayedDriver;

// producer_consumer() is one tensor of `bytes` in equal chunks: edges of `consumers` on
// `producers`.
uint64_t producer_consumer(uint32_t producers, uint32_t consumers, long bytes) {
  Driver driver;
  const BufferId tensor = driver.buffer(static_cast<uint64_t>(bytes));
  driver.launch(footprint("produce", {producers},
                          {writes(chunks(producers, bytes / producers, bytes / producers))}),
                {{tensor, 0}});
  const auto found =
      driver.launch(footprint("consume", {consumers},
                              {reads(chunks(consumers, bytes / consumers, bytes / consumers))}),
                    {{tensor, 0}});
  EXPECT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].dro->hazards, (Hazards{true, false, false}));
  return driver.edges(found[0]);
}

TEST(KnownCases, Case1LinearThenAttentionHas32Edges) {
  EXPECT_EQ(producer_consumer(32, 8, 4096 * 4), 32u);
}

TEST(KnownCases, Case2EachProducerFeedsFourConsumers) {
  EXPECT_EQ(producer_consumer(8, 32, 4096 * 4), 32u);
}

TEST(KnownCases, Case3AlignedProducersAndConsumers) {
  const std::pair<uint32_t, uint32_t> cases[] = {{6, 4}, {7, 5}, {16, 24}, {5, 7}, {12, 18}};
  for (const auto& [p, c] : cases) {
    EXPECT_EQ(producer_consumer(p, c, long{p} * c * 4), p + c - std::gcd(p, c)) << p << "," << c;
  }
}

TEST(KnownCases, Case4GemmAfterGemmWaitsForItsRowOfTiles) {
  Driver driver;
  const BufferId a = driver.buffer(1 << 20), b = driver.buffer(1 << 20), c = driver.buffer(1 << 20),
                 d = driver.buffer(1 << 20), e = driver.buffer(1 << 20);
  // 128 x 256 floats in tiles of 32 x 32: 8 tile columns, 4 tile rows.
  const std::string tile = "0 <= x < 8 and 0 <= y < 4 and z = 0 and 32y <= r < 32y + 32 and ";
  const std::string out = "{ B[x, y, z] -> A[o] : exists r, c : " + tile +
                          "32x <= c < 32x + 32 and 4*(256r + c) <= o < 4*(256r + c) + 4 }";
  const std::string row = "{ B[x, y, z] -> A[o] : exists r, c : " + tile +
                          "0 <= c < 256 and 4*(256r + c) <= o < 4*(256r + c) + 4 }";
  const std::string all =
      "{ B[x, y, z] -> A[o] : 0 <= x < 8 and 0 <= y < 4 and z = 0 and 0 <= o < 262144 }";
  const Footprint gemm = footprint("gemm", {8, 4}, {reads(row), reads(all), writes(out)});
  driver.launch(gemm, {{a, 0}, {b, 0}, {c, 0}});
  const auto found = driver.launch(gemm, {{c, 0}, {d, 0}, {e, 0}});
  ASSERT_THAT(masters(found), ElementsAre(1));
  EXPECT_EQ(driver.edges(found[0]), 256u);
  const EdgeTable& table = driver.tracker().edge_table(found[0].dro->edges);
  EXPECT_THAT(masters_of(table, 17), ElementsAre(16, 17, 18, 19, 20, 21, 22, 23));
}

TEST(KnownCases, Case5PingPongHasTwoDrosHoweverManyLaunches) {
  for (const auto& [launches, dros] :
       {std::pair{1u, 0u}, {2u, 1u}, {3u, 2u}, {4u, 2u}, {1000u, 2u}}) {
    Driver driver;
    const BufferId a = driver.buffer(64 * 64 * 4), b = driver.buffer(64 * 64 * 4);
    std::vector<EdgeTableId> tables;
    for (uint32_t t = 0; t < launches; ++t) {
      const BufferId from = t % 2 == 0 ? a : b;
      const auto found = driver.launch(stencil(64, 16), {{from, 0}, {a + b - from, 0}});
      const std::vector<LaunchNumber> expected(t == 0 ? 0 : 1, t);
      ASSERT_EQ(masters(found), expected);
      for (const Dependence& dependence : found)
        tables.push_back(dependence.dro->edges);
    }
    const auto& counters = driver.tracker().counters();
    EXPECT_EQ(counters.dros, dros);
    EXPECT_EQ(counters.resolved, launches - 1);
    EXPECT_EQ(counters.dro_hits, launches - 1 - dros);
    EXPECT_EQ(counters.footprints, 1u);
    EXPECT_EQ(counters.interned, std::min(launches, 2u));
    EXPECT_EQ(counters.edge_tables, launches > 1 ? 1u : 0u);
    EXPECT_EQ(counters.edges, (launches - 1) * uint64_t{64});
    EXPECT_TRUE(std::all_of(tables.begin(), tables.end(), [](EdgeTableId id) { return id == 0; }));
  }
}

TEST(KnownCases, Case6StencilEdgesAreBlocksAtDistanceOne) {
  for (const auto& [size, block, edges] : {std::tuple{32u, 16u, 12u},
                                           {64u, 16u, 64u},
                                           {128u, 16u, 288u},
                                           {1024u, 16u, 20224u},
                                           {1000u, 16u, 19593u}}) {
    Driver driver;
    const BufferId a = driver.buffer(uint64_t{size} * size * 4);
    const BufferId b = driver.buffer(uint64_t{size} * size * 4);
    driver.launch(stencil(size, block), {{a, 0}, {b, 0}});
    const auto found = driver.launch(stencil(size, block), {{b, 0}, {a, 0}});
    ASSERT_THAT(masters(found), ElementsAre(1));
    // The war hazard is there, and adds no edge to those of the raw hazard.
    EXPECT_EQ(found[0].dro->hazards, (Hazards{true, true, false}));
    EXPECT_EQ(driver.edges(found[0]), edges);
    EXPECT_EQ(form_name(driver.tracker().edge_table(found[0].dro->edges)), "neighbours");
  }
}

TEST(KnownCases, Case8BodiesWaitForAllReadersOfTheirPositions) {
  // updateSpeed reads all positions and updates its own speeds; updatePositions reads its own
  // speeds and updates its own positions.
  Driver driver;
  const BufferId positions = driver.buffer(1024), speeds = driver.buffer(1024);
  const ArgumentFootprint update = {exact(chunks(4, 256, 256)), {}, exact(chunks(4, 256, 256))};
  const Footprint speed = footprint("updateSpeed", {4}, {reads(range(4, 0, 1024)), update});
  const Footprint move = footprint("updatePositions", {4}, {reads(chunks(4, 256, 256)), update});
  std::vector<Dependence> all;
  for (int step = 0; step < 10; ++step) {
    for (const Dependence& d : driver.launch(speed, {{positions, 0}, {speeds, 0}}))
      all.push_back(d);
    for (const Dependence& d : driver.launch(move, {{speeds, 0}, {positions, 0}}))
      all.push_back(d);
  }
  ASSERT_EQ(driver.tracker().counters().dros, 4u);
  uint64_t edges[2][2] = {};
  Hazards hazards[2][2];
  for (const Dependence& d : all) {
    edges[d.dro->master][d.dro->slave] = driver.edges(d);
    hazards[d.dro->master][d.dro->slave] = d.dro->hazards;
  }
  constexpr int us = 0, up = 1;
  EXPECT_EQ(edges[us][up], 16u);  // its war hazard; the raw hazard alone is 4
  EXPECT_EQ(hazards[us][up], (Hazards{true, true, false}));
  EXPECT_EQ(edges[up][us], 16u);
  EXPECT_EQ(edges[us][us], 4u);
  EXPECT_EQ(edges[up][up], 4u);
}

TEST(KnownCases, Case9AReaderThatWritesHidesTheWriterBeforeIt) {
  Driver driver;
  const BufferId x = driver.buffer(1024);
  const std::string own = chunks(4, 256, 256);
  driver.launch(footprint("a", {4}, {writes(own)}), {{x, 0}});
  EXPECT_THAT(masters(driver.launch(footprint("b", {4}, {{exact(own), {}, exact(own)}}), {{x, 0}})),
              ElementsAre(1));
  EXPECT_THAT(masters(driver.launch(footprint("c", {4}, {reads(own)}), {{x, 0}})), ElementsAre(2));
}

TEST(KnownCases, Case10PartialOverwriteLeavesTheRestOfTheEarlierWriter) {
  for (const auto& [begin, end, expected] :
       {std::tuple{0L, 100L, std::vector<LaunchNumber>{1, 2}}, {45L, 55L, {2}}, {0L, 40L, {1}}}) {
    Driver driver;
    const BufferId x = driver.buffer(100);
    driver.launch(footprint("a", {1}, {writes(range(1, 0, 100))}), {{x, 0}});
    driver.launch(footprint("b", {1}, {writes(range(1, 40, 60))}), {{x, 0}});
    EXPECT_EQ(masters(driver.launch(footprint("c", {1}, {reads(range(1, begin, end))}), {{x, 0}})),
              expected);
  }
}

TEST(KnownCases, Case11CoveredOrNotAsSetAlgebraSays) {
  struct Ranges {
    long written_begin, written_end, later_begin, later_end;
    bool meets, retires;
  };
  for (const Ranges& r : {Ranges{0, 256, 0, 512, true, true},
                          {0, 512, 0, 256, true, false},
                          {0, 256, 0, 256, true, true},
                          {0, 128, 128, 256, false, false},
                          {0, 192, 64, 256, true, false},
                          {64, 192, 0, 256, true, true}}) {
    Driver driver;
    const BufferId x = driver.buffer(512);
    driver.launch(footprint("a", {1}, {writes(range(1, r.written_begin, r.written_end))}),
                  {{x, 0}});
    const auto found = driver.launch(
        footprint("b", {1}, {writes(range(1, r.later_begin, r.later_end))}), {{x, 0}});
    ASSERT_EQ(found.size(), r.meets ? 1u : 0u);
    if (r.meets) {
      EXPECT_EQ(found[0].dro->retires_master, r.retires);
      EXPECT_EQ(found[0].dro->hazards, (Hazards{false, false, true}));
    }
  }
}

TEST(KnownCases, Case12TwentyOverlappingProducersAreTwentyMasters) {
  for (bool certain : {true, false}) {
    Driver driver;
    const BufferId x = driver.buffer(4096);
    for (long i = 0; i < 20; ++i) {
      const std::string part = range(1, 100 * i, 100 * i + 150);
      driver.launch(footprint("produce", {1}, {certain ? writes(part) : may_write(part)}),
                    {{x, 0}});
    }
    EXPECT_EQ(driver.launch(footprint("consume", {1}, {reads(range(1, 0, 4096))}), {{x, 0}}).size(),
              20u);
  }
}

}  // namespace
}  // namespace sluice::dro::testing
