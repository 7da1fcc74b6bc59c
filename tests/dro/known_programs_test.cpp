// Small programs with known answers: which launch waits for which, and by how many edges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/replayed_driver.hpp"

namespace sluice::dro::testing {
namespace {

using ::testing::ElementsAre;
using Driver = ReplayedDriver;
using ::testing::IsEmpty;

TEST(KnownPrograms, Case13SixDependencesOf64BlocksEach) {
  Driver driver;
  constexpr uint64_t bytes = 16384 * 4;
  const BufferId sum = driver.buffer(bytes), p1 = driver.buffer(bytes), p2 = driver.buffer(bytes),
                 product = driver.buffer(bytes), result = driver.buffer(bytes),
                 a = driver.buffer(bytes), b = driver.buffer(bytes);
  const std::string own = chunks(64, 1024, 1024);
  const Footprint binary = footprint("binary", {64}, {reads(own), reads(own), writes(own)});
  const Footprint unary = footprint("unary", {64}, {reads(own), writes(own)});
  driver.launch(binary, {{a, 0}, {b, 0}, {sum, 0}});
  EXPECT_THAT(masters(driver.launch(unary, {{sum, 0}, {p1, 0}})), ElementsAre(1));
  EXPECT_THAT(masters(driver.launch(unary, {{sum, 0}, {p2, 0}})), ElementsAre(1));
  EXPECT_THAT(masters(driver.launch(binary, {{p1, 0}, {p2, 0}, {product, 0}})), ElementsAre(2, 3));
  EXPECT_THAT(masters(driver.launch(binary, {{sum, 0}, {product, 0}, {result, 0}})),
              ElementsAre(1, 4));
  EXPECT_EQ(driver.tracker().counters().edges, 384u);
}

TEST(KnownPrograms, Case14ForkDiamondAndJoin) {
  constexpr uint32_t n = 8;
  const std::string own = chunks(n, 64, 64);
  const Footprint copy = footprint("copy", {n}, {reads(own), writes(own)});
  const Footprint join = footprint("join", {n}, {reads(own), reads(own), writes(own)});
  Driver driver;
  std::vector<BufferId> x;
  for (int i = 0; i < 7; ++i)
    x.push_back(driver.buffer(n * 64));
  driver.launch(copy, {{x[0], 0}, {x[1], 0}});
  EXPECT_THAT(masters(driver.launch(copy, {{x[1], 0}, {x[2], 0}})), ElementsAre(1));
  EXPECT_THAT(masters(driver.launch(copy, {{x[1], 0}, {x[3], 0}})), ElementsAre(1));
  EXPECT_THAT(masters(driver.launch(join, {{x[2], 0}, {x[3], 0}, {x[4], 0}})), ElementsAre(2, 3));

  Driver other;  // A -> B, A -> C, D -> C
  x.clear();
  for (int i = 0; i < 7; ++i)
    x.push_back(other.buffer(n * 64));
  other.launch(copy, {{x[0], 0}, {x[1], 0}});
  other.launch(copy, {{x[0], 0}, {x[2], 0}});
  EXPECT_THAT(masters(other.launch(copy, {{x[1], 0}, {x[3], 0}})), ElementsAre(1));
  EXPECT_THAT(masters(other.launch(join, {{x[1], 0}, {x[2], 0}, {x[4], 0}})), ElementsAre(1, 2));
  EXPECT_EQ(other.tracker().counters().edges, 3 * n);
}

TEST(KnownPrograms, Case15ResidualKeepsBothDependences) {
  Driver driver;
  const std::string own = chunks(8, 64, 64);
  const BufferId in = driver.buffer(512), a = driver.buffer(512), b = driver.buffer(512),
                 c = driver.buffer(512);
  driver.launch(footprint("a", {8}, {reads(own), writes(own)}), {{in, 0}, {a, 0}});
  const auto second =
      driver.launch(footprint("b", {8}, {reads(own), writes(own)}), {{a, 0}, {b, 0}});
  const auto third =
      driver.launch(footprint("c", {8}, {reads(own), reads(range(8, 0, 512)), writes(own)}),
                    {{b, 0}, {a, 0}, {c, 0}});
  EXPECT_THAT(masters(second), ElementsAre(1));
  ASSERT_THAT(masters(third), ElementsAre(1, 2));
  EXPECT_EQ(driver.edges(second[0]), 8u);
  EXPECT_EQ(driver.edges(third[0]), 64u);
  EXPECT_EQ(driver.edges(third[1]), 8u);
}

TEST(KnownPrograms, Case16ReadingAllOfATensorIs64Edges) {
  Driver driver;
  const std::string own = chunks(8, 64, 64);
  const BufferId x = driver.buffer(512), y = driver.buffer(512), z = driver.buffer(512);
  driver.launch(footprint("two", {8}, {writes(own), writes(own)}), {{x, 0}, {y, 0}});
  const auto found =
      driver.launch(footprint("use", {8}, {reads(own), reads(range(8, 0, 512)), writes(own)}),
                    {{x, 0}, {y, 0}, {z, 0}});
  ASSERT_THAT(masters(found), ElementsAre(1));
  EXPECT_EQ(driver.edges(found[0]), 64u);
  EXPECT_EQ(form_name(driver.tracker().edge_table(found[0].dro->edges)), "all");
  EXPECT_THAT(found[0].dro->buffers, ElementsAre(x, y));
}

TEST(KnownPrograms, Case17ReadersDoNotWaitForEachOther) {
  Driver driver;
  const BufferId x = driver.buffer(256);
  const Footprint write = footprint("w", {1}, {writes(range(1, 0, 256))});
  const Footprint read = footprint("r", {1}, {reads(range(1, 0, 256))});
  EXPECT_THAT(masters(driver.launch(write, {{x, 0}})), IsEmpty());      // 1: W0
  EXPECT_THAT(masters(driver.launch(read, {{x, 0}})), ElementsAre(1));  // 2: R0
  EXPECT_THAT(masters(driver.launch(read, {{x, 0}})), ElementsAre(1));  // 3: R1
  const auto found = driver.launch(write, {{x, 0}});                    // 4: W1
  EXPECT_THAT(masters(found), ElementsAre(2, 3));
  EXPECT_EQ(found[0].dro->hazards, (Hazards{false, true, false}));
}

TEST(KnownPrograms, Case18MemoryAllocatedAgainIsANewBuffer) {
  Driver driver;
  const BufferId old = driver.buffer(256);
  driver.launch(footprint("w", {1}, {writes(range(1, 0, 256))}), {{old, 0}});
  driver.tracker().buffer_destroyed(old);
  const BufferId fresh = driver.buffer(256);
  EXPECT_THAT(masters(driver.launch(footprint("r", {1}, {reads(range(1, 0, 256))}), {{fresh, 0}})),
              IsEmpty());
  EXPECT_EQ(driver.tracker().counters().dros, 0u);
}

}  // namespace
}  // namespace sluice::dro::testing
