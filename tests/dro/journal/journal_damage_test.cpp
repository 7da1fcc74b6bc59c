// A journal that was damaged, changed or cut short: the record is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/journal/journal_fixture.hpp"
#include "dro/recorded/summary.hpp"

namespace sluice::dro::testing {
namespace {

using ::testing::HasSubstr;

using JournalDamage = JournalTest;

TEST_F(JournalDamage, AChangedByteOfAFootprintIsFoundAndNamed) {
  write_stencil(3);
  const size_t index = line_of("footprint");
  change(index, "64", "63", false);
  const std::string expected =
      path_ + ":" + std::to_string(index + 1) +
      " (footprint 0): seal does not match: the record was changed or damaged";
  EXPECT_EQ(error_of_replay(), expected);
  const auto summary = summarise(path_);
  ASSERT_TRUE(summary);
  EXPECT_TRUE(summary->end.is_damaged);
  EXPECT_EQ(summary->end.note, expected + "; what follows is left out");
}

TEST_F(JournalDamage, TheSummaryHoldsWhatStandsBeforeADamagedLine) {
  write_stencil(5);
  const size_t last = lines().size() - 2;  // a launch; then the buffer's end
  change(last, "\"stream\":0", "\"stream\":1", false);
  const auto summary = summarise(path_);
  ASSERT_TRUE(summary) << summary.error().line();
  EXPECT_TRUE(summary->end.is_damaged);
  EXPECT_EQ(summary->launches.size(), 4u);
  EXPECT_EQ(summary->dros.size(), 2u);
  EXPECT_THAT(summary->end.note, HasSubstr(":" + std::to_string(last + 1) + " (launch 5): seal"));
}

TEST_F(JournalDamage, AHeaderOfWrongTypesIsOneClearLine) {
  for (const char* header : {R"({"journal":"sluice","version":7,"rule":"exact","program":5})",
                             R"({"journal":"sluice","version":7,"rule":7,"program":"p"})",
                             R"({"journal":"sluice","version":7,"rule":"none","program":"p"})",
                             R"({"journal":"sluice","version":7})"}) {
    write_lines({sealed(header)});
    const auto summary = summarise(path_);
    ASSERT_FALSE(summary) << header;
    EXPECT_THAT(summary.error().line(),
                HasSubstr(":1 (header): the record is not as it should be"));
  }
}

TEST_F(JournalDamage, ANumberThatDoesNotFitIsAnError) {
  write_stencil(2);
  const auto whole = lines();
  const size_t launch = line_of("launch");
  for (const char* number : {"4294967296", "-1", "0.5", "\"0\"", "18446744073709551616"}) {
    write_lines(whole);
    change(launch, "\"interned\":0", std::string("\"interned\":") + number, true);
    const auto summary = summarise(path_);
    ASSERT_FALSE(summary) << number;
    EXPECT_THAT(summary.error().line(), HasSubstr("(launch 1): the record is not as it should be"));
  }
}

// Copying and printing such a value recursed as deep.
TEST_F(JournalDamage, AValueNestedDeepIsAnErrorAndTakesNoStack) {
  write_stencil(2);
  const auto whole = lines();
  constexpr size_t depth = 1'000'000;
  const std::string nested = std::string(depth, '[') + std::string(depth, ']');
  for (const std::string& line :
       {R"({"record":"free","id":)" + nested + "}", R"({"record":)" + nested + R"(,"id":1})"}) {
    write_lines({whole[0], sealed(line)});
    const auto summary = summarise(path_);
    ASSERT_FALSE(summary);
    EXPECT_THAT(summary.error().line(), HasSubstr("the record is not as it should be"));
  }
  for (const std::string& header :
       {R"({"journal":)" + nested + "}", R"({"journal":"sluice","version":)" + nested + "}"}) {
    write_lines({sealed(header)});
    EXPECT_FALSE(summarise(path_));
  }
}

TEST_F(JournalDamage, AnyChangedByteOfAnyLineIsFound) {
  write_stencil(2);
  const auto whole = lines();
  for (size_t i = 0; i < whole.size(); ++i) {
    for (size_t place = 0; place < whole[i].size(); place += 17) {
      auto changed = whole;
      changed[i][place] ^= 1;
      write_lines(changed);
      EXPECT_NE(error_of_replay(), "") << "line " << i + 1 << ", byte " << place;
    }
  }
}

TEST_F(JournalDamage, ATamperedFootprintWithARightSealGivesOtherEdges) {
  write_stencil(3);
  // Blocks no longer read the rows above and below them: every DRO that follows differs.
  change(line_of("footprint"), "[4159,64,4096,0,-1,0]", "[63,64,4096,0,-1,0]", true);
  change(line_of("footprint"), "[448,-64,-4096,0,1,0]", "[192,-64,-4096,0,1,0]", true);
  EXPECT_THAT(error_of_replay(), HasSubstr("(edges 0): the journal says"));
}

TEST_F(JournalDamage, ATamperedResultWithARightSealIsNamed) {
  write_stencil(3);
  const auto whole = lines();
  change(line_of("dro"), "raw+war", "raw", true);
  EXPECT_THAT(error_of_replay(), HasSubstr("(dro 0): the journal says"));
  write_lines(whole);
  change(line_of("edges"), "\"edge_count\":64", "\"edge_count\":60", true);
  EXPECT_THAT(error_of_replay(), HasSubstr("(edges 0): the journal says"));
  write_lines(whole);
  change(whole.size() - 2, "[[2,1]]", "[[1,1]]", true);
  EXPECT_THAT(error_of_replay(), HasSubstr("(launch 3): the journal says"));
}

TEST_F(JournalDamage, AMissingOrAddedRecordIsADifference) {
  write_stencil(3);
  const auto whole = lines();
  for (const char* kind : {"edges", "dro", "launch", "footprint", "buffer"}) {
    auto changed = whole;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(line_of(kind)));
    write_lines(changed);
    EXPECT_NE(error_of_replay(), "") << kind;
    changed = whole;
    const size_t index = (write_lines(whole), line_of(kind));
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(index), whole[index]);
    write_lines(changed);
    EXPECT_NE(error_of_replay(), "") << kind;
    write_lines(whole);
  }
}

TEST_F(JournalDamage, RecordsThatOnlyATamperedJournalHoldsAreErrors) {
  write_stencil(3);
  const auto whole = lines();
  const size_t launch = line_of("launch");
  const std::pair<const char*, const char*> changes[] = {
      {"\"footprint\":0", "\"footprint\":7"},
      {"\"arguments\":[[1,0],[2,0]]", "\"arguments\":[[1,0]]"},
      {"\"arguments\":[[1,0],[2,0]]", "\"arguments\":[[9,0],[2,0]]"},
      {"\"grid\":[4,4,1]", "\"grid\":[4,5,1]"},
      {"\"grid\":[4,4,1]", "\"grid\":[4]"},
      {"\"record\":\"launch\"", "\"record\":\"lunch\""},
      {"\"number\":1", "\"number\":0"}};
  for (const auto& [from, to] : changes) {
    write_lines(whole);
    change(launch, from, to, true);
    EXPECT_THAT(error_of_replay(), HasSubstr(path_ + ":" + std::to_string(launch + 1))) << to;
  }
}

TEST_F(JournalDamage, ALineThatACrashCutOffIsNoted) {
  write_stencil(5);
  const auto size = std::filesystem::file_size(path_);
  std::filesystem::resize_file(path_, size - 70);
  const auto result = replay(path_);
  ASSERT_TRUE(result) << result.error().line();
  EXPECT_TRUE(result->identical()) << result->difference;
  EXPECT_THAT(result->note, HasSubstr("the last line is not whole"));
  const auto summary = summarise(path_);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->launches.size(), 4u);
}

}  // namespace
}  // namespace sluice::dro::testing
