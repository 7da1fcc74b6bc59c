// `sluice run --trace` and `sluice inspect --trace`: every task of the run, once, after all tasks
// that it waits for.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

using nlohmann::json;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

int64_t nanoseconds(const json& number) {
  EXPECT_TRUE(number.is_number());
  return std::llround(number.get<double>() * 1000);
}

// Slice is one task.
struct Slice {
  int worker = 0;
  int64_t begin = 0, end = 0;
  int launch = 0, first_block = 0, last_block = 0;
};

class Trace : public testing::Test {
 protected:
  void record(const std::string& command) {
    const Outcome outcome = sluice_run({"--journal", journal_, "--trace"}, sample_command(command));
    sample_checksum(outcome);
    const Outcome written = inspect();
    ASSERT_EQ(written.status, 0) << written.errors;
    trace_ = json::parse(text_of(trace_file_));
    for (const json& event : trace_["traceEvents"])
      take(event);
  }
  Outcome inspect() const {
    return run({build_path("bin/sluice"), "inspect", journal_, "--trace", trace_file_});
  }

  void take(const json& event) {
    EXPECT_EQ(event.at("pid"), 1);
    EXPECT_TRUE(event.at("tid").is_number_unsigned());
    EXPECT_TRUE(event.at("name").is_string());
    const std::string kind = event.at("ph");
    if (kind == "X") {
      const json& about = event.at("args");
      const int64_t begin = nanoseconds(event.at("ts"));
      const int64_t length = nanoseconds(event.at("dur"));
      EXPECT_GE(begin, 0);
      EXPECT_GE(length, 0);
      EXPECT_GE(nanoseconds(about.at("waited_us")), 0);
      slices_.push_back({event["tid"], begin, begin + length, about.at("launch"),
                         about.at("first_block"), about.at("last_block")});
    } else if (kind == "s" || kind == "f") {
      EXPECT_TRUE(flows_[event.at("id")].emplace(kind, event).second) << event;
    } else {
      EXPECT_EQ(kind, "M");
    }
  }
  // slice_of() is the task that ran a block.
  const Slice& slice_of(int launch, int block) const {
    for (const Slice& slice : slices_) {
      if (slice.launch == launch && slice.first_block <= block && block <= slice.last_block) {
        return slice;
      }
    }
    ADD_FAILURE() << "launch " << launch << ", block " << block << " is in no task";
    return slices_.front();
  }

  ScratchFolder scratch_;
  std::string journal_ = scratch_.file("journal");
  std::string trace_file_ = scratch_.file("trace.json");
  json trace_;
  std::vector<Slice> slices_;
  std::map<int, std::map<std::string, json>> flows_;
};

TEST_F(Trace, HoldsEachBlockOnceAndNoWorkerDoesTwoThingsAtATime) {
  record("stencil --size 512 --iterations 10 --block 16,16");
  std::map<std::pair<int, int>, int> times_run;
  std::map<int, std::map<int64_t, int64_t>> busy;  // by worker: begin and end
  for (const Slice& slice : slices_) {
    for (int block = slice.first_block; block <= slice.last_block; ++block)
      ++times_run[{slice.launch, block}];
    EXPECT_TRUE(busy[slice.worker].emplace(slice.begin, slice.end).second);
  }
  EXPECT_EQ(times_run.size(), 10u * 1024);
  for (const auto& [block, times] : times_run)
    ASSERT_EQ(times, 1) << "launch " << block.first << ", block " << block.second;
  for (const auto& [worker, spans] : busy) {
    int64_t free = 0;
    for (const auto& [begin, end] : spans) {
      EXPECT_LE(free, begin) << "worker " << worker;
      free = end;
    }
  }
}

TEST_F(Trace, ShowsEachBlockAfterTheNeighboursItWaitsFor) {
  record("stencil --size 512 --iterations 6 --block 16,16");
  for (int launch = 2; launch <= 6; ++launch) {
    for (int block = 0; block < 1024; block += 7) {
      const Slice& slave = slice_of(launch, block);
      for (const auto& [x, y] : {std::pair{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        const int column = block % 32 + x, row = block / 32 + y;
        if (column < 0 || row < 0 || column >= 32 || row >= 32) continue;
        ASSERT_LE(slice_of(launch - 1, 32 * row + column).end, slave.begin)
            << "launch " << launch << ", block " << block;
      }
    }
  }
}

TEST_F(Trace, ArrowsLeadFromTheEndOfATaskToTheBeginningOfOneThatWaitsForIt) {
  record("residual --blocks 16 --block 64 --layers 20");
  for (const auto& [id, ends] : flows_) {
    ASSERT_EQ(ends.size(), 2u) << "flow " << id;
    const json &start = ends.at("s"), &finish = ends.at("f");
    EXPECT_EQ(finish.at("bp"), "e");
    const Slice *master = nullptr, *slave = nullptr;
    for (const Slice& slice : slices_) {
      const int64_t from = nanoseconds(start.at("ts")), to = nanoseconds(finish.at("ts"));
      if (slice.worker == start.at("tid") && slice.begin <= from && from <= slice.end)
        master = &slice;
      if (slice.worker == finish.at("tid") && slice.begin == to) slave = &slice;
    }
    ASSERT_TRUE(master != nullptr && slave != nullptr) << "flow " << id;
    EXPECT_LT(master->launch, slave->launch);
    EXPECT_LE(master->end, slave->begin);
  }
}

TEST_F(Trace, IsThereOnlyWhereItWasAskedFor) {
  sample_checksum(sluice_run({"--journal", journal_}, sample_command("residual")));
  EXPECT_EQ(text_of(journal_).find("\"record\":\"tasks\""), std::string::npos);
  const Outcome outcome = inspect();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(lines(outcome.errors).size(), 1u) << outcome.errors;
  EXPECT_NE(outcome.errors.find("sluice run --trace"), std::string::npos) << outcome.errors;
  EXPECT_FALSE(std::filesystem::exists(trace_file_));
}

TEST_F(Trace, NeedsAJournal) {
  const Outcome outcome = sluice_run({"--trace"}, sample_command("residual"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.errors.find("--journal"), std::string::npos) << outcome.errors;
}

}  // namespace
}  // namespace sluice::e2e
