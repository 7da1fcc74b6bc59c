// Which accesses of a block's threads are told of as conflicts, after many that are not.
#include "hostcuda/driver/thread_watch/touched_bytes.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::hostcuda {
namespace {

constexpr uint32_t threads = 96;
constexpr uint32_t reads = access_kind::reads, writes = access_kind::writes;

class TouchedBytesTest : public ::testing::Test {
 protected:
  TouchedBytesTest() { begin_block(); }

  void begin_block() {
    clocks_.begin_block();
    touched_.begin_block();
  }
  void touch(uint32_t thread, uint32_t kind, size_t word, size_t bytes = 4) {
    const auto address = reinterpret_cast<uint64_t>(&memory_[word]);
    touched_.touch({.address = address, .bytes = bytes, .kind = kind, .thread = thread}, false);
  }
  void all_meet() {
    for (uint32_t thread = 0; thread < threads; ++thread)
      clocks_.meets({.kind = ThreadMeeting::Kind::barrier, .thread = thread});
  }
  // read_by() has so many threads read a word again and again.
  void read_by(uint32_t first, uint32_t count, size_t word) {
    for (int again = 0; again < 3; ++again) {
      for (uint32_t thread = first; thread < first + count; ++thread)
        touch(thread, reads, word);
    }
  }

  std::array<uint32_t, 1 << 16> memory_{};
  std::vector<Conflict> told_;
  ThreadClocks clocks_{threads};
  TouchedBytes touched_{clocks_, [this](const Conflict& conflict) { told_.push_back(conflict); }};
};

TEST_F(TouchedBytesTest, AWriteMeetsTheReadsBeforeIt) {
  read_by(0, 32, 5);
  EXPECT_TRUE(told_.empty());
  touch(40, writes, 5);
  EXPECT_FALSE(told_.empty());
}

TEST_F(TouchedBytesTest, AReadOfAnotherWarpCountsToo) {
  read_by(0, 3, 5);
  touch(70, reads, 5);
  told_.clear();
  touch(0, writes, 5);  // which has read it itself
  EXPECT_FALSE(told_.empty());
}

TEST_F(TouchedBytesTest, AReadMeetsTheWriteBehindOtherReads) {
  read_by(0, 96, 5);
  touch(1, writes, 5);
  told_.clear();
  touch(80, reads, 5);
  EXPECT_FALSE(told_.empty());
}

TEST_F(TouchedBytesTest, APartOfAWordIsNoLess) {
  read_by(0, 96, 5);
  touch(50, writes, 5, 1);
  EXPECT_FALSE(told_.empty());
}

TEST_F(TouchedBytesTest, ABarrierEndsWhatWasKnown) {
  read_by(0, 96, 5);
  all_meet();
  touch(50, writes, 5);
  EXPECT_TRUE(told_.empty());
  touch(51, reads, 5);
  EXPECT_FALSE(told_.empty());
}

// More memory than is kept in mind from block to block.
TEST_F(TouchedBytesTest, EarlierBlocksSayNothingOfLaterOnes) {
  for (uint32_t thread = 0; thread < 3; ++thread) {
    begin_block();
    for (size_t word = 0; word < memory_.size(); ++word)
      touch(thread, word % 2 == 0 ? reads : writes, word);
  }
  EXPECT_TRUE(told_.empty());
  begin_block();
  touch(0, reads, 7);
  touch(1, writes, 7);
  EXPECT_EQ(told_.size(), 1U);
}

}  // namespace
}  // namespace sluice::hostcuda
