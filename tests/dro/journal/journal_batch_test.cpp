// What waits for the journal comes out whole and in order, however much of it there is.
#include "dro/journal/journal_batch.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::dro {
namespace {

Dro dro(DroId id) {
  Dro made;
  made.id = id;
  return made;
}

// Adds launches of none to `most` dependences in turn, each with a record behind it, and returns
// what the numbers of dependences were.
std::vector<uint64_t> add_launches(JournalBatch& batch, LaunchNumber first, uint64_t count,
                                   uint64_t most, const Dro& waited_for) {
  std::vector<uint64_t> added;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t wanted = i % (most + 1);
    std::vector<Dependence> dependences;
    for (uint64_t d = 0; d < wanted; ++d)
      dependences.push_back({.master = d, .dro = &waited_for});
    if (i < 2 || !batch.add_repeat(first + i, 2, dependences))
      batch.add(record_of({first + i, 1, {}}, {}, 2, dependences));
    batch.add(FreeRecord{first + i});
    added.push_back(wanted);
  }
  return added;
}

void expect_launches(JournalBatch& batch, LaunchMiddles& middles, LaunchNumber first,
                     const std::vector<uint64_t>& dependences) {
  uint64_t lines = 0;
  batch.for_each_line(middles, [&](const std::string& line) {
    const uint64_t at = lines++ / 2;
    ASSERT_LT(at, dependences.size());
    if (lines % 2 == 0) {
      EXPECT_EQ(line, text_of(FreeRecord{first + at}));
      return;
    }
    const nlohmann::json launch = nlohmann::json::parse(line);
    EXPECT_EQ(launch["number"], first + at);
    ASSERT_EQ(launch["dependences"].size(), dependences[at]) << "launch " << first + at;
    for (uint64_t d = 0; d < dependences[at]; ++d)
      EXPECT_EQ(launch["dependences"][d], nlohmann::json::array({d, 9}));
  });
  EXPECT_EQ(lines, 2 * dependences.size());
}

TEST(JournalBatch, KeepsLaunchesOfAnyLength) {
  const Dro waited_for = dro(9);
  for (const uint64_t most : {0U, 1U, 3U, 700U}) {
    SCOPED_TRACE(most);
    JournalBatch batch;
    LaunchMiddles middles;
    const std::vector<uint64_t> added = add_launches(batch, 1000, 1500, most, waited_for);
    EXPECT_GE(batch.size(), 1500U);
    expect_launches(batch, middles, 1000, added);
  }
}

TEST(JournalBatch, IsTakenWholeAndFilledAgain) {
  const Dro waited_for = dro(9);
  JournalBatch waiting, taken;
  LaunchMiddles middles;
  EXPECT_TRUE(waiting.empty());
  for (LaunchNumber first = 0; first < 3000; first += 300) {
    const std::vector<uint64_t> added = add_launches(waiting, first, 300, 2, waited_for);
    taken.take(waiting);
    EXPECT_TRUE(waiting.empty());
    expect_launches(taken, middles, first, added);
    taken.clear();
    EXPECT_TRUE(taken.empty());
  }
}

}  // namespace
}  // namespace sluice::dro
