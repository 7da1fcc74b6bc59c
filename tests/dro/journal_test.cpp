// The journal: what is written is read, replayed and summed up; what was damaged is named.
#include "dro/journal.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dro/handwritten.hpp"
#include "dro/journal_format.hpp"
#include "dro/journal_reader.hpp"
#include "dro/replay.hpp"
#include "dro/summary.hpp"

namespace sluice::dro::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("sluice_journal_" + std::string(test->name()) + "_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "journal";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // write_stencil() journals `launches` ping-pong launches on a grid of 4 x 4 blocks.
  void write_stencil(uint32_t launches) {
    auto journal = JournalWriter::open(path_, Rule::exact, "stencil --size 64");
    ASSERT_TRUE(journal);
    Driver driver(Rule::exact, journal->get());
    const BufferId a = driver.buffer(64 * 64 * 4), b = driver.buffer(64 * 64 * 4);
    driver.tracker().host_write(a, 0, 64 * 64 * 4);
    const Footprint step = stencil(64, 16);
    for (uint32_t t = 0; t < launches; ++t) {
      (*journal)->describe_launch({step.kernel, step.shape.grid, step.shape.block, 0, {}});
      const BufferId from = t % 2 == 0 ? a : b;
      driver.launch(step, {{from, 0}, {a + b - from, 0}});
    }
    driver.tracker().buffer_destroyed(a);
  }

  std::vector<std::string> lines() const {
    std::ifstream file(path_);
    std::vector<std::string> result;
    for (std::string line; std::getline(file, line);)
      result.push_back(line);
    return result;
  }
  void write_lines(const std::vector<std::string>& lines) const {
    std::ofstream file(path_);
    for (const std::string& line : lines)
      file << line << '\n';
  }
  // line_of() is the index of the first line of a kind.
  size_t line_of(const std::string& kind) const {
    const auto all = lines();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].find("\"record\":\"" + kind + "\"") != std::string::npos) return i;
    }
    ADD_FAILURE() << "no record of kind " << kind;
    return 0;
  }
  // change() replaces text in one line; with `reseal` the line's seal is made right again.
  void change(size_t index, const std::string& from, const std::string& to, bool reseal) {
    auto all = lines();
    std::string& line = all[index];
    const size_t place = line.find(from);
    ASSERT_NE(place, std::string::npos);
    std::string text = *unsealed(line);
    text.replace(place, from.size(), to);
    line = reseal ? sealed(text) : line.replace(place, from.size(), to);
    write_lines(all);
  }
  std::string error_of_replay() const {
    const auto result = replay(path_);
    return result ? result->difference : result.error().line();
  }

  std::filesystem::path folder_;
  std::string path_;
};

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

TEST_F(JournalTest, AChangedByteOfAFootprintIsFoundAndNamed) {
  write_stencil(3);
  const size_t index = line_of("footprint");
  change(index, "64", "63", false);
  const std::string expected =
      path_ + ":" + std::to_string(index + 1) +
      " (footprint 0): seal does not match: the record was changed or damaged";
  EXPECT_EQ(error_of_replay(), expected);
  const auto summary = summarise(path_);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().line(), expected);
}

TEST_F(JournalTest, AnyChangedByteOfAnyLineIsFound) {
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

TEST_F(JournalTest, ATamperedFootprintWithARightSealGivesOtherEdges) {
  write_stencil(3);
  // The last rows of reads move by one row: every DRO that follows differs.
  change(line_of("footprint"), "*(j + -1) + i", "*(j + -40) + i", true);
  EXPECT_THAT(error_of_replay(), HasSubstr("(edges 0): the journal says"));
}

TEST_F(JournalTest, ATamperedResultWithARightSealIsNamed) {
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

TEST_F(JournalTest, AMissingOrAddedRecordIsADifference) {
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

TEST_F(JournalTest, RecordsThatOnlyATamperedJournalHoldsAreErrors) {
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

TEST_F(JournalTest, ALineThatACrashCutOffIsNoted) {
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

TEST_F(JournalTest, PassedThroughLaunchesAreCountedByReason) {
  {
    auto journal = JournalWriter::open(path_, Rule::exact, "program");
    ASSERT_TRUE(journal);
    Driver driver(Rule::exact, journal->get());
    const BufferId x = driver.buffer(256);
    const Footprint write = footprint("w", {1}, {writes(range(1, 0, 256))});
    for (int i = 0; i < 2; ++i) {
      (*journal)->describe_launch({"w", {1}, {1}, 0, i == 0 ? "" : "the device has no block code"});
      driver.launch(write, {{x, 0}});
      (*journal)->describe_launch({"odd\"name\xff", {2}, {32}, 1, {}});
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
    (*journal)->on_buffer_created(buffer, 64);
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
  EXPECT_EQ(line(), path_ + ": the journal has version 99, and this program reads version 1");
  path_ = folder_;
  EXPECT_EQ(line(), path_ + ": cannot read: it is a directory");
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
  (*journal)->on_buffer_created(1, 64);
  (*journal)->flush();
  (*journal)->on_buffer_created(2, 64);
  (*journal)->flush();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("journal /dev/full: cannot write: No space left on device"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

}  // namespace
}  // namespace sluice::dro::testing
