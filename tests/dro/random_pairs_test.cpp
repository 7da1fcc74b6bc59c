// Random pairs of launches: hazards and edges are those of their bytes.
// SLUICE_DRO_PAIRS=n checks n pairs in place of the usual number.
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "dro/random_launches.hpp"

namespace sluice::dro::testing {
namespace {

constexpr uint32_t shards = 4;
constexpr uint32_t usual_pairs = 800;

uint32_t pairs_of_a_shard() {
  const char* count = std::getenv("SLUICE_DRO_PAIRS");
  return (count == nullptr ? usual_pairs : uint32_t(std::atoi(count))) / shards;
}

using BlockPair = std::pair<uint32_t, uint32_t>;  // (slave, master)

class RandomPairs : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomPairs, HaveTheHazardsAndEdgesOfTheirBytes) {
  std::map<size_t, int> forms;
  uint64_t dependent = 0;
  const uint32_t count = pairs_of_a_shard();
  for (uint32_t pair = 0; pair < count && !HasFailure(); ++pair) {
    const uint32_t seed = pair + GetParam() * 1'000'000 + 500'000;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator dice(seed);
    Driver driver;
    std::vector<RandomBuffer> buffers;
    for (long i = 0; i < 2; ++i)
      buffers.push_back({driver.buffer(80), 80, 80 * i});
    LaunchGenerator generator(dice, buffers);
    generator.add_kernel(64);
    generator.add_kernel(64);
    if (pair % 4 == 1) {
      generator.add_stencil_kernel();
      generator.add_stencil_kernel();
    }
    if (pair % 8 == 0) generator.add_atomic_kernel(64);
    const TouchingLaunch master = generator.launch(16), slave = generator.launch(16);
    driver.launch(master.footprint, master.bound);
    const auto found = driver.launch(slave.footprint, slave.bound);

    Hazards hazards;
    std::set<BlockPair> edges;
    for (uint32_t s = 0; s < slave.blocks.size(); ++s) {
      for (uint32_t m = 0; m < master.blocks.size(); ++m) {
        const Hazards here = hazards_between(master.blocks[m], slave.blocks[s]);
        hazards = {hazards.raw || here.raw, hazards.war || here.war, hazards.waw || here.waw};
        if (here.any()) edges.insert({s, m});
      }
    }
    ASSERT_EQ(found.size(), edges.empty() ? 0u : 1u);
    if (edges.empty()) continue;
    ++dependent;
    EXPECT_EQ(found[0].dro->hazards, hazards);
    const EdgeTable& table = driver.tracker().edge_table(found[0].dro->edges);
    std::set<BlockPair> drawn;
    for (uint32_t s = 0; s < slave.blocks.size(); ++s) {
      for (uint32_t m : masters_of(table, s))
        drawn.insert({s, m});
    }
    EXPECT_EQ(drawn, edges) << "form " << form_name(table);
    EXPECT_EQ(table.edge_count, edges.size());
    ++forms[table.form.index()];
  }
  EXPECT_GE(forms.size(), 2u);  // the test has seen different forms
  EXPECT_GT(dependent, count / 3);
  printf("%u pairs, %lu of them dependent\n", count, static_cast<unsigned long>(dependent));
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomPairs, ::testing::Range(0u, shards));

}  // namespace
}  // namespace sluice::dro::testing
