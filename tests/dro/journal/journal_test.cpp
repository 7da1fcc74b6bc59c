// The journal: what is written is read, replayed and summed up.
#include "dro/journal/journal.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "dro/journal/journal_fixture.hpp"
#include "dro/recorded/summary.hpp"

namespace sluice::dro::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(JournalTest, HoldsOneLineForEachLaunchAndOneForEachThingFound) {
  write_stencil(1000);
  std::map<std::string, int> kinds;
  for (const std::string& line : lines()) {
    ++kinds[nlohmann::json::parse(line).value("record", "header")];
  }
  const std::map<std::string, int> expected = {{"header", 1},    {"buffer", 2}, {"host_write", 1},
                                               {"footprint", 1}, {"edges", 1},  {"dro", 2},
                                               {"launch", 1000}, {"free", 1}};
  EXPECT_EQ(kinds, expected);
}

TEST_F(JournalTest, ReplayIsIdentical) {
  write_stencil(50);
  const auto result = replay(path_);
  ASSERT_TRUE(result) << result.error().line();
  EXPECT_EQ(result->difference, "");
  EXPECT_EQ(result->records, lines().size() - 1);
}

TEST_F(JournalTest, SummaryCountsWhatWasFound) {
  write_stencil(1000);
  const auto summary = summarise(path_);
  ASSERT_TRUE(summary) << summary.error().line();
  std::ostringstream out;
  write_summary_json(*summary, out);
  const auto object = nlohmann::json::parse(out.str());
  EXPECT_EQ(object["launches"], 1000);
  EXPECT_EQ(object["passed_through"]["count"], 0);
  EXPECT_EQ(object["footprints"], 1);
  EXPECT_EQ(object["footprint_hits"], 999);
  EXPECT_EQ(object["dros"], 2);
  EXPECT_EQ(object["dro_hits"], 997);
  EXPECT_EQ(object["resolved"], 999);
  EXPECT_EQ(object["edge_tables"], 1);
  EXPECT_EQ(object["edges"], 999 * 64);
  EXPECT_EQ(object["rule"], "exact");
  EXPECT_EQ(object["program"], "stencil --size 64");
}

TEST_F(JournalTest, SummaryReadsWell) {
  write_stencil(3);
  const auto summary = summarise(path_);
  ASSERT_TRUE(summary);
  std::ostringstream text, launches, dros, dros_json;
  write_summary(*summary, text);
  write_launches(*summary, false, launches);
  write_dros(*summary, false, dros);
  write_dros(*summary, true, dros_json);
  EXPECT_EQ(text.str(),
            "stencil --size 64, dependence rule: exact\n"
            "3 launches: 3 as tasks, 0 passed through\n"
            "1 footprint computed, 2 reused\n"
            "2 dependences resolved by 2 DROs, 0 reused; 128 edges of blocks in 1 edge table\n"
            "\n"
            "launches\n"
            "  kernel   grid  block  launches  as tasks\n"
            "  stencil  4x4   16x16  3         3\n"
            "\n"
            "DROs\n"
            "  dro  master -> slave           buffers  hazards  edges  form                  used\n"
            "  0    stencil #1 -> stencil #2  1,2      raw+war  64     neighbours (table 0)  1\n"
            "  1    stencil #2 -> stencil #3  1,2      raw+war  64     neighbours (table 0)  1\n");
  EXPECT_EQ(launches.str(),
            "#1 stencil grid 4x4 block 16x16 stream 0 footprint 0 tasks\n"
            "#2 stencil grid 4x4 block 16x16 stream 0 footprint 0 tasks, after #1 (dro 0)\n"
            "#3 stencil grid 4x4 block 16x16 stream 0 footprint 0 tasks, after #2 (dro 1)\n");
  EXPECT_THAT(dros.str(),
              HasSubstr("dro 1: stencil #2 -> stencil #3, buffers 1,2, raw+war, 64 edges"));
  const auto first = nlohmann::json::parse(dros_json.str().substr(0, dros_json.str().find('\n')));
  EXPECT_EQ(first["edges"], 64);
  EXPECT_EQ(first["master"]["kernel"], "stencil");
  EXPECT_EQ(first["slave"]["launch"], 2);
  EXPECT_THAT(first["hazards"], ElementsAre("raw", "war"));
}

TEST_F(JournalTest, PassedThroughLaunchesAreCountedByReason) {
  {
    auto journal = JournalWriter::open(path_, Rule::exact, "program");
    ASSERT_TRUE(journal);
    Driver driver(Rule::exact, journal->get());
    const BufferId x = driver.buffer(256);
    const Footprint write = footprint("w", {1}, {writes(range(1, 0, 256))});
    for (int i = 0; i < 2; ++i) {
      (*journal)->describe_launch(
          {"w", {1}, {1}, {}, i == 0 ? "" : "the device has no block code"});
      driver.launch(write, {{x, 0}});
      (*journal)->describe_launch({"odd\"name\xff", {2}, {32}, {1}});
      driver.tracker().opaque_launch(driver.next_number(), "it has no PTX");
    }
  }
  EXPECT_EQ(error_of_replay(), "");
  const auto summary = summarise(path_);
  ASSERT_TRUE(summary) << summary.error().line();
  EXPECT_EQ(summary->launches.size(), 4u);
  EXPECT_EQ(summary->tracked, 2u);
  EXPECT_EQ(summary->footprint_hits(), 1u);
  EXPECT_EQ(summary->resolved, 0u);
  const std::map<std::string, uint64_t> expected = {{"it has no PTX", 2},
                                                    {"the device has no block code", 1}};
  EXPECT_EQ(summary->passed_through, expected);
  std::ostringstream text;
  write_summary(*summary, text);
  EXPECT_THAT(text.str(), HasSubstr("4 launches: 1 as tasks, 3 passed through"));
  EXPECT_THAT(text.str(), HasSubstr("  2  it has no PTX\n"));
}

TEST_F(JournalTest, FlushMakesEverythingReadable) {
  auto journal = JournalWriter::open(path_, Rule::buffer, "program");
  ASSERT_TRUE(journal);
  for (BufferId buffer = 1; buffer <= 1000; ++buffer)
    (*journal)->note(BufferRecord{buffer, 64});
  (*journal)->flush();
  const auto summary = summarise(path_);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->buffers.size(), 1000u);
  EXPECT_EQ(summary->rule, Rule::buffer);
}

TEST_F(JournalTest, FilesThatAreNoJournalsGiveOneClearLine) {
  const auto line = [&] { return summarise(path_).error().line(); };
  EXPECT_EQ(line(), path_ + ": cannot read: No such file or directory");
  std::ofstream(path_).close();
  EXPECT_EQ(line(), path_ + ": the journal is empty");
  std::ofstream(path_) << "hello\n";
  EXPECT_EQ(line(), path_ + ": this is no journal of Sluice");
  std::ofstream(path_) << "{\"journal\":\"sluice\",\"version\":99}\n";
  EXPECT_EQ(line(), path_ + ": the journal has version 99, and this program reads version 7");
  path_ = scratch_.path();
  EXPECT_EQ(line(), path_ + ": cannot read: it is a directory");
}

// Opening it would wait for whoever is at its other end.
TEST_F(JournalTest, APipeIsNoJournal) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const auto summary = summarise(path_);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().line(), path_ + ": cannot read: it is no regular file");
  const auto journal = JournalWriter::open(path_, Rule::exact, "program");
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().line(), HasSubstr("cannot write the journal: No such device"));
}

TEST_F(JournalTest, APathThatCannotBeWrittenGivesOneClearLine) {
  const auto journal = JournalWriter::open("/no/such/folder/journal", Rule::exact, "program");
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().line(),
            "/no/such/folder/journal: cannot write the journal: No such file or directory; "
            "give a path that can be written");
}

TEST_F(JournalTest, AFullDiskEndsTheJournalAndNotTheProgram) {
  ::testing::internal::CaptureStderr();  // first: the header may be written at once
  auto journal = JournalWriter::open("/dev/full", Rule::exact, "program");
  ASSERT_TRUE(journal);
  (*journal)->note(BufferRecord{1, 64});
  (*journal)->flush();
  (*journal)->note(BufferRecord{2, 64});
  (*journal)->flush();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("journal /dev/full: cannot write: No space left on device"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

TEST_F(JournalTest, NothingIsReusedWhereACrashLeftFootprintsAndDrosWithoutTheirLaunch) {
  write_stencil(2);
  const auto whole = lines();
  for (const char* kind : {"footprint", "dro"}) {
    write_lines(whole);
    auto cut = whole;
    cut.resize(line_of(kind) + 1);
    write_lines(cut);
    const auto summary = summarise(path_);
    ASSERT_TRUE(summary) << summary.error().line();
    EXPECT_EQ(summary->footprint_hits(), 0u) << kind;
    EXPECT_EQ(summary->dro_hits(), 0u) << kind;
  }
}

}  // namespace
}  // namespace sluice::dro::testing
