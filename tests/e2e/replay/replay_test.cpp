// Replaying a journal gives the same result, or says which record differs.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

class Replay : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome outcome = sluice_run(
        {"--journal", journal_},
        {build_path("samples/stencil"), "--size", "100", "--iterations", "20", "--block", "16,16"});
    ASSERT_EQ(outcome.status, 0) << outcome.output << outcome.errors;
  }

  Outcome replay() const { return run({build_path("bin/sluice"), "replay", journal_}); }

  std::string read() const {
    std::ifstream file(journal_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void write(const std::string& text) const {
    std::ofstream(journal_, std::ios::binary | std::ios::trunc) << text;
  }

  ScratchFolder scratch_;
  std::string journal_ = scratch_.file("journal");
};

TEST_F(Replay, SaysIdentical) {
  const Outcome outcome = replay();
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "identical\n");
}

TEST_F(Replay, NamesTheFootprintRecordInWhichAByteWasChanged) {
  const std::string whole = read();
  const size_t record = whole.find("\"record\":\"footprint\"");
  ASSERT_NE(record, std::string::npos);
  const size_t begin = whole.rfind('\n', record) + 1;
  const size_t end = whole.find('\n', record);
  // The record's line always names it; its kind and number too, unless they are what was changed.
  const std::string name =
      journal_ + ":" + std::to_string(std::count(whole.begin(), whole.begin() + begin, '\n') + 1);
  // Every seventh byte of the record, so that text, numbers, names and the seal all have a turn.
  for (size_t place = begin; place < end; place += 7) {
    std::string changed = whole;
    changed[place] = static_cast<char>(changed[place] ^ 1);
    write(changed);
    const Outcome outcome = replay();
    EXPECT_EQ(outcome.status, 1) << "byte " << place - begin;
    const std::string told = outcome.output + outcome.errors;
    EXPECT_EQ(lines(told).size(), 1) << told;
    EXPECT_NE(told.find(name), std::string::npos) << told;
  }
}

}  // namespace
}  // namespace sluice::e2e
