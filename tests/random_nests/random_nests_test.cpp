// Random nests of loops: what the CPU device computes is what the interpreter computes.
//
// SLUICE_RANDOM_NESTS=N compares N nests in place of the usual number, SLUICE_RANDOM_SEED=S starts
// with seed S, SLUICE_RANDOM_SHOW=1 tells each seed before it runs.
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "comparison.hpp"
#include "generator.hpp"
#include "reduction.hpp"

namespace sluice::nests {
namespace {

// The last has exchanging_seeds.
constexpr uint64_t shards = 3;
constexpr uint64_t usual_nests = 360;
constexpr uint64_t nests_between_reports = 1000;
constexpr unsigned most_differences = 5;

// Every nest is compiled, and none of them again.
const bool compiles = setenv("SLUICE_CODE_CACHE", "off", 1) == 0;

uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

// The smallest nest that differs, though perhaps in another way.
void tell(const Nest& nest, const std::string& difference) {
  const Nest small = smallest(nest, [](const Nest& candidate) {
    const Verdict verdict = compare(candidate);
    return verdict.fits && !verdict.races && !verdict.difference.empty();
  });
  if (compare(nest).races) {
    ADD_FAILURE() << "threads race in what the generator made\n" << description(nest);
    return;
  }
  ADD_FAILURE() << "seed " << nest.seed << ": " << difference
                << "\nreduced: " << compare(small).difference << "\n"
                << description(small);
}

class RandomNests : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomNests, ComputeWhatTheInterpreterComputes) {
  const uint64_t count = number_from_environment("SLUICE_RANDOM_NESTS", usual_nests) / shards;
  uint64_t seed = number_from_environment("SLUICE_RANDOM_SEED", 1) + GetParam() * 1'000'000'000;
  const bool shows = std::getenv("SLUICE_RANDOM_SHOW") != nullptr;
  uint64_t compared = 0, unfit = 0;
  unsigned differences = 0;
  static_assert((shards - 1) * 1'000'000'000 == exchanging_seeds);
  ASSERT_TRUE(compiles);
  for (; compared < count && differences < most_differences; ++seed) {
    if (shows) fmt::print(stderr, "seed {}\n", seed);
    const Nest nest = generate(seed);
    const Verdict verdict = compare(nest);
    if (!verdict.fits) {
      ++unfit;
      continue;
    }
    ++compared;
    if (!verdict.difference.empty()) {
      ++differences;
      tell(nest, verdict.difference);
    }
    if (compared % nests_between_reports == 0 || compared == count) {
      fmt::print("up to seed {}: {} nests compared, {} differ, {} too long and drawn anew\n", seed,
                 compared, differences, unfit);
      std::fflush(stdout);
    }
  }
}

// Seeds that once differed.
TEST(PastSeeds, ComputeWhatTheInterpreterComputes) {
  for (const uint64_t seed :
       {100'187u, 100'375u, 1'000'100'357u, 1'000'200'216u, 1'020'003'621u, 2'000'001'747u,
        2'007'100'588u, 2'020'014'428u, 2'020'027'264u, 2'020'029'261u, 2'020'030'048u}) {
    const Verdict verdict = compare(generate(seed));
    EXPECT_TRUE(verdict.fits) << seed;
    EXPECT_EQ(verdict.difference, "") << seed;
  }
}

// Two seeds of nests whose threads once raced, and some others: what the last thread first computes
// is the same.
TEST(RandomNestsThemselves, DoNotRace) {
  for (const uint64_t seed : {2'020'240'438u, 2'020'256'092u})
    EXPECT_FALSE(races(generate(seed))) << seed;
  for (uint64_t shard = 0; shard < shards; ++shard) {
    for (uint64_t seed = 1; seed <= 40; ++seed)
      EXPECT_FALSE(races(generate(shard * 1'000'000'000 + seed))) << shard << ' ' << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomNests, testing::Range<uint64_t>(0, shards));

}  // namespace
}  // namespace sluice::nests
