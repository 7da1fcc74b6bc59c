// Large copies and fills, which the device's threads share.
#include "hostcuda/driver/memory/box_pieces.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "hostcuda/driver/memory/copy_box.hpp"

namespace sluice::hostcuda {
namespace {

constexpr size_t mebi = size_t{1} << 20;

// The pool's threads never end, so it doesn't either.
BlockPool* pool() {
  static auto* const threads = new BlockPool(4);
  return threads;
}

uintptr_t address(const void* memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

std::vector<uint8_t> pattern(size_t bytes) {
  std::vector<uint8_t> values(bytes);
  for (size_t i = 0; i < bytes; ++i)
    values[i] = static_cast<uint8_t>(i * 31 + i / 256);
  return values;
}

struct Extent {
  size_t rows, row_bytes;
};

class BoxPiecesTest : public testing::TestWithParam<Extent> {};

TEST_P(BoxPiecesTest, HaveEachByteOnce) {
  const auto [rows, row_bytes] = GetParam();
  std::vector<uint8_t> visits(rows * row_bytes);
  BoxPieces(rows, row_bytes)
      .visit_all(
          [&, row_bytes = row_bytes](size_t row, size_t from, size_t bytes) {
            for (size_t i = from; i < from + bytes; ++i)
              ++visits[row * row_bytes + i];
          },
          pool());
  EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), visits.size());
}

INSTANTIATE_TEST_SUITE_P(Extents, BoxPiecesTest,
                         testing::Values(Extent{1, 4 * mebi}, Extent{1, 9 * mebi + 3},
                                         Extent{3, 5 * mebi + 1}, Extent{5, 2 * mebi},
                                         Extent{3, 2 * mebi - 1}, Extent{1000, 4099},
                                         Extent{70'001, 100}, Extent{5 * mebi, 1}, Extent{7, 1},
                                         Extent{1, 1}, Extent{0, 10}, Extent{10, 0}));

// A box of 3 planes of 50 rows, with room behind each row and plane.
TEST(LargeBoxes, AreCopiedAsByOneThread) {
  constexpr size_t width = 40'000, from_pitch = width + 3, to_pitch = width + 100, height = 50;
  const std::vector<uint8_t> source = pattern(3 * (height + 2) * from_pitch);
  Copy copy;
  copy.width = width;
  copy.height = height;
  copy.depth = 3;
  copy.source = {address(source.data()), from_pitch, (height + 2) * from_pitch};
  std::vector<uint8_t> alone(3 * (height + 1) * to_pitch, 7), shared = alone;
  copy.destination = {address(alone.data()), to_pitch, (height + 1) * to_pitch};
  perform(copy);
  copy.destination.address = address(shared.data());
  perform(copy, pool());
  EXPECT_EQ(alone, shared);
  EXPECT_EQ(shared[2 * (height + 1) * to_pitch + 3 * to_pitch + 5],
            source[2 * (height + 2) * from_pitch + 3 * from_pitch + 5]);
}

TEST(LargeBoxes, MayOverlap) {
  for (const auto& [to, from] : {Extent{0, 1000}, Extent{1000, 0}}) {
    std::vector<uint8_t> values = pattern(9 * mebi), expected = values;
    const size_t bytes = values.size() - 1000;
    std::memmove(expected.data() + to, values.data() + from, bytes);
    Copy copy;
    copy.width = bytes;
    copy.destination.address = address(values.data() + to);
    copy.source.address = address(values.data() + from);
    perform(copy, pool());
    EXPECT_EQ(values, expected);
  }
}

TEST(LargeBoxes, AreFilledWithElementsOfEachSize) {
  constexpr size_t rows = 3, pitch = 5 * mebi, row_bytes = pitch - 64;
  for (const size_t element : {1, 2, 4}) {
    std::vector<uint8_t> alone(rows * pitch, 9), shared = alone;
    Fill fill{address(alone.data()), pitch, 0x12345678, element, row_bytes / element, rows};
    perform(fill);
    fill.address = address(shared.data());
    perform(fill, pool());
    EXPECT_EQ(alone, shared);
    EXPECT_EQ(shared[element - 1], element == 1 ? 0x78 : element == 2 ? 0x56 : 0x12);
    EXPECT_EQ(shared[row_bytes], 9);
  }
}

// Some programs learn by a fault that a page of theirs is wanted.
TEST(LargeBoxes, HandFaultsOfTheProgramsMemoryToItsHandler) {
  constexpr size_t bytes = 64 * mebi;
  void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  struct sigaction action = {}, before = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    const uintptr_t page = address(info->si_addr) / mebi * mebi;
    mprotect(reinterpret_cast<void*>(page), mebi, PROT_READ | PROT_WRITE);
  };
  ASSERT_EQ(sigaction(SIGSEGV, &action, &before), 0);
  const std::vector<uint8_t> source = pattern(bytes);
  Copy copy;
  copy.width = bytes;
  copy.destination.address = address(memory);
  copy.source.address = address(source.data());
  perform(copy, pool());
  sigaction(SIGSEGV, &before, nullptr);
  EXPECT_EQ(std::memcmp(memory, source.data(), bytes), 0);
  munmap(memory, bytes);
}

}  // namespace
}  // namespace sluice::hostcuda
