// The journal's writer: several threads, programs that are killed, footprints of a family.
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dro/journal/checksum.hpp"
#include "dro/journal/journal_fixture.hpp"
#include "dro/journal/journal_reader.hpp"
#include "dro/recorded/summary.hpp"

namespace sluice::dro::testing {
namespace {

TEST_F(JournalTest, SeveralThreadsAppendWholeRecords) {
  constexpr uint64_t threads = 4, of_each = 2000;
  {
    auto journal = JournalWriter::open(path_, Rule::exact, "program");
    ASSERT_TRUE(journal);
    std::vector<std::thread> appenders;
    for (uint64_t thread = 0; thread < threads; ++thread) {
      appenders.emplace_back([&, thread] {
        for (uint64_t i = 0; i < of_each; ++i)
          (*journal)->note(BufferRecord{1 + thread * of_each + i, 64});
      });
    }
    for (std::thread& appender : appenders)
      appender.join();
  }
  auto reader = JournalReader::open(path_);
  ASSERT_TRUE(reader);
  std::set<uint64_t> seen;
  std::vector<uint64_t> last(threads, 0);
  const Status read = reader->each([&](const JournalRecord& record) -> Status {
    const uint64_t id = std::get<BufferRecord>(record.value).id;
    EXPECT_TRUE(seen.insert(id).second);
    uint64_t& before = last[(id - 1) / of_each];
    EXPECT_LT(before, id);  // each thread's records stand in its order
    before = id;
    return {};
  });
  ASSERT_TRUE(read) << read.error().line();
  EXPECT_EQ(seen.size(), threads * of_each);
  EXPECT_EQ(reader->note(), "");
}

TEST(Checksum, IsThatOfCastagnoliOnAnyProcessor) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  std::string text;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(crc32c(text), crc32c_by_table(text)) << i;
    text += static_cast<char>(37 * i);
  }
}

// A repeat launch is noted in few words; its line says no less than that of the first.
TEST_F(JournalTest, RepeatLaunchesAreWrittenInFull) {
  const StreamName streams[] = {{0}, {0}, {0}, {3}, {3}, {3, 1}, {3, 1}, {0}};
  {
    auto journal = JournalWriter::open(path_, Rule::exact, "program");
    ASSERT_TRUE(journal);
    Driver driver(Rule::exact, journal->get());
    const BufferId a = driver.buffer(64 * 64 * 4), b = driver.buffer(64 * 64 * 4);
    const Footprint step = stencil(64, 16);
    for (const StreamName& stream : streams) {
      const bool odd = driver.launches() % 2 != 0;
      (*journal)->describe_launch({.kernel = "step \"dependences\":[",
                                   .grid = step.shape.grid,
                                   .block = step.shape.block,
                                   .stream = stream});
      driver.launch(step, {{odd ? b : a, 0}, {odd ? a : b, 0}});
    }
  }
  auto reader = JournalReader::open(path_);
  ASSERT_TRUE(reader);
  uint64_t launches = 0;
  const Status read = reader->each([&](const JournalRecord& record) -> Status {
    const auto* launch = std::get_if<LaunchRecord>(&record.value);
    if (launch == nullptr) return {};
    ++launches;
    EXPECT_EQ(launch->number, launches);
    EXPECT_EQ(launch->details.kernel, "step \"dependences\":[");
    EXPECT_EQ(launch->details.stream, streams[launches - 1]);
    EXPECT_EQ(launch->arguments.at(0).buffer, launches % 2 != 0 ? 1u : 2u);
    EXPECT_EQ(launch->dependences.size(), launches == 1 ? 0u : 1u);
    for (const auto& [master, dro] : launch->dependences)
      EXPECT_EQ(master, launches - 1);
    return {};
  });
  ASSERT_TRUE(read) << read.error().line();
  EXPECT_EQ(launches, std::size(streams));
}

// A child launches until it is killed; whatever reached the file is whole, in order and replays.
TEST_F(JournalTest, OfAProgramThatIsKilledIsReadableUpToTheLastWholeRecord) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto journal = JournalWriter::open(path_, Rule::exact, "program");
    Driver driver(Rule::exact, journal->get());
    const BufferId a = driver.buffer(64 * 64 * 4), b = driver.buffer(64 * 64 * 4);
    const Footprint step = stencil(64, 16);
    for (uint64_t number = 0;; ++number) {
      (*journal)->describe_launch({step.kernel, step.shape.grid, step.shape.block, {}});
      driver.launch(step, {{number % 2 == 0 ? a : b, 0}, {number % 2 == 0 ? b : a, 0}});
      if (number == 20'000) (*journal)->flush();
      if (number == 20'000 && write(ready[1], "", 1) != 1) _exit(1);
    }
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  close(ready[0]);
  close(ready[1]);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto summary = summarise(path_);
  ASSERT_TRUE(summary) << summary.error().line();
  EXPECT_GE(summary->launches.size(), 20'001u);
  EXPECT_EQ(error_of_replay(), "");
}

TEST_F(JournalTest, FootprintsOfAFamilyReplayFromTheirSymbols) {
  const std::string below =
      "[p] -> { B[x, y, z] -> A[o] : 0 <= x < 16 and y = 0 and z = 0 and x > p and 64 x <= o < 64 "
      "x "
      "+ 64 }";
  const std::string pivot =
      "[p] -> { B[x, y, z] -> A[o] : 0 <= x < 16 and y = 0 and z = 0 and x > p and 64 p <= o < 64 "
      "p "
      "+ 64 }";
  std::vector<uint64_t> edges;
  {
    auto journal = JournalWriter::open(path_, Rule::exact, "program");
    ASSERT_TRUE(journal);
    Driver driver(Rule::exact, journal->get());
    const BufferId matrix = driver.buffer(1024);
    Footprint step = footprint("step", {16}, {writes(below), reads(pivot)});
    for (int64_t p = 0; p < 15; ++p) {
      step.symbols = {{"p", p}};
      (*journal)->describe_launch({step.kernel, step.shape.grid, step.shape.block, {}});
      edges.push_back(0);
      for (const Dependence& found : driver.launch(step, {{matrix, 0}, {matrix, 0}}))
        edges.back() += driver.tracker().edge_table(found.dro->edges).edge_count;
    }
  }
  // Step p has the rows below p. It overwrites them after step p - 1 did and reads the pivot that
  // step p - 1 wrote: one edge to its own row's block and one to the pivot's, from each block.
  ASSERT_EQ(edges.size(), 15u);
  EXPECT_EQ(edges[0], 0u);
  for (uint64_t p = 1; p < 15; ++p)
    EXPECT_EQ(edges[p], 2 * (15 - p)) << "step " << p;
  EXPECT_EQ(error_of_replay(), "");
}

}  // namespace
}  // namespace sluice::dro::testing
