// What is remembered of a launch's accesses, against a set of bytes; and of what was written.
#include "hostcuda/driver/memory_watch/checked_bytes.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "hostcuda/driver/memory_watch/written_bytes.hpp"

namespace sluice::hostcuda {
namespace {

std::set<int64_t> bytes_of(std::vector<Range> ranges) {
  std::set<int64_t> bytes;
  for (const Range& range : ranges) {
    for (int64_t byte = range.begin; byte < range.end; ++byte)
      EXPECT_TRUE(bytes.insert(byte).second) << byte;
  }
  return bytes;
}

TEST(CheckedBytes, AreThoseThatWereAdded) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    CheckedBytes checked;
    std::set<int64_t> reads, writes;
    for (int i = 0; i < 400; ++i) {
      const uintptr_t address = 0x7f0000000000 + random() % 9000;
      const uint64_t bytes = uint64_t{1} << random() % 8;
      const bool is_read = random() % 3 != 0, is_written = !is_read || random() % 3 == 0;
      const auto holds = [&](const std::set<int64_t>& all) {
        for (uint64_t byte = address; byte < address + bytes; ++byte)
          if (!all.contains(static_cast<int64_t>(byte))) return false;
        return true;
      };
      // Of those that cross a line it may say that it does not know.
      const bool is_in_line = address % 64 + bytes <= 64;
      const bool is_known = (!is_read || holds(reads)) && (!is_written || holds(writes));
      EXPECT_EQ(checked.is_known(address, bytes, is_read, is_written), is_known && is_in_line);
      checked.add(address, bytes, is_read, is_written);
      for (uint64_t byte = address; byte < address + bytes; ++byte) {
        if (is_read) reads.insert(static_cast<int64_t>(byte));
        if (is_written) writes.insert(static_cast<int64_t>(byte));
      }
    }
    CheckedBytes::Ranges ranges;
    checked.append(ranges);
    EXPECT_EQ(bytes_of(ranges.reads), reads);
    EXPECT_EQ(bytes_of(ranges.writes), writes);
  }
}

TEST(WrittenBytes, AreNoLongerCompleteWhereSomethingUnwrittenWasCopied) {
  const Range all[] = {{0, 100}}, part[] = {{10, 60}};
  WrittenBytes written(100), nothing(100);
  EXPECT_FALSE(written.are_all_written(part));
  written.write_all(part);
  EXPECT_TRUE(written.are_all_written(part));
  EXPECT_FALSE(written.are_all_written(all));
  written.write_all(all);
  EXPECT_TRUE(written.are_all_written(all));
  written.copy(30, 5, &nothing, 0);
  EXPECT_FALSE(written.are_all_written(all));
  EXPECT_EQ(written.missing(0, 100), 30);
  written.write_all(all);
  written.forget();
  EXPECT_EQ(written.missing(0, 100), 0);
}

}  // namespace
}  // namespace sluice::hostcuda
