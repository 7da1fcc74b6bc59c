#include "hostcuda/memory/device_memory.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sluice::hostcuda {
namespace {

constexpr size_t margin = DeviceMemory::chunk_margin;
constexpr size_t chunk = DeviceMemory::chunk_bytes + 2 * margin;

uintptr_t as_number(const void* memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

// is_readable() asks the kernel, which says so instead of faulting.
bool is_readable(uintptr_t address) {
  int ends[2] = {};
  if (pipe(ends) != 0) return false;
  const ssize_t written = write(ends[1], reinterpret_cast<const void*>(address), 1);
  close(ends[0]);
  close(ends[1]);
  return written == 1;
}

bool is_zero(const void* memory, size_t bytes) {
  const auto* first = static_cast<const char*>(memory);
  return std::all_of(first, first + bytes, [](char byte) { return byte == 0; });
}

TEST(DeviceMemory, PutsSmallPiecesSideBySideAtMultiplesOfAGranule) {
  DeviceMemory memory;
  const uintptr_t first = as_number(memory.allocate(100));
  EXPECT_EQ(first % 512, 0u);
  EXPECT_EQ(as_number(memory.allocate(513)), first + 512);
  EXPECT_EQ(as_number(memory.allocate(1)), first + 3 * 512);
  EXPECT_EQ(memory.committed_bytes(), chunk);
}

TEST(DeviceMemory, SmallPiecesMayBeReadByARowBeforeTheFirst) {
  DeviceMemory memory;
  const uintptr_t first = as_number(memory.allocate(100));
  for (size_t distance = 4096; distance <= margin; distance += 4096)
    EXPECT_TRUE(is_readable(first - distance)) << distance;
  EXPECT_FALSE(is_readable(first - margin - 1));
  const uintptr_t end = first + DeviceMemory::chunk_bytes;
  EXPECT_TRUE(is_readable(end + margin - 1));
  EXPECT_FALSE(is_readable(end + margin));
}

TEST(DeviceMemory, LargePiecesEndAtTheirLastPage) {
  DeviceMemory memory;
  constexpr size_t bytes = (size_t{1} << 20) + 4096;
  const uintptr_t first = as_number(memory.allocate(bytes));
  EXPECT_TRUE(is_readable(first) && is_readable(first + bytes - 1));
  for (size_t distance = 1; distance <= DeviceMemory::guard_bytes; distance += 4096) {
    EXPECT_FALSE(is_readable(first - distance)) << distance;
    EXPECT_FALSE(is_readable(first + bytes - 1 + distance)) << distance;
  }
}

TEST(DeviceMemory, AlignsWhatIsWorthHugePagesToThem) {
  DeviceMemory memory;
  memory.allocate(size_t{3} << 20);
  EXPECT_EQ(as_number(memory.allocate(size_t{5} << 20)) % (size_t{2} << 20), 0u);
}

TEST(DeviceMemory, IsZeroAgainAtTheSameAddress) {
  DeviceMemory memory;
  for (const size_t bytes : {size_t{700}, size_t{3} << 20}) {
    memory.allocate(bytes);
    void* piece = memory.allocate(bytes);
    memory.allocate(bytes);
    std::memset(piece, 1, bytes);
    memory.free(piece, bytes);
    ASSERT_EQ(memory.allocate(bytes), piece);
    EXPECT_TRUE(is_zero(piece, bytes));
  }
}

// What was freed faults, or is other device memory: never the host's.
TEST(DeviceMemory, FreedLargePiecesCannotBeReachedAndStayReserved) {
  DeviceMemory memory;
  constexpr size_t bytes = size_t{8} << 20;
  void* piece = memory.allocate(bytes);
  memory.free(piece, bytes);
  EXPECT_FALSE(is_readable(as_number(piece)));
  EXPECT_EQ(mmap(piece, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
            MAP_FAILED);
}

TEST(DeviceMemory, NothingElseLiesWithinReachOfAnIndex) {
  DeviceMemory memory;
  const uintptr_t piece = as_number(memory.allocate(100));
  constexpr size_t reach = size_t{1} << 36;
  std::ifstream maps("/proc/self/maps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    size_t end_of_first = 0;
    const uintptr_t first = std::stoull(line, &end_of_first, 16);
    const uintptr_t end = std::stoull(line.substr(end_of_first + 1), nullptr, 16);
    if (end <= piece - reach || first >= piece + reach) continue;
    const bool is_chunk = first <= piece && piece < end;
    found = found || is_chunk;
    if (is_chunk) {
      EXPECT_EQ(end - first, chunk) << line;
    } else {
      EXPECT_NE(line.find(" ---p "), std::string::npos) << line;
    }
  }
  EXPECT_TRUE(found);
}

TEST(DeviceMemory, GivesFreeChunksBackButForAFew) {
  DeviceMemory memory;
  constexpr size_t bytes = 40'000;
  std::vector<void*> pieces;
  while (memory.committed_bytes() <= 100 * chunk)
    pieces.push_back(memory.allocate(bytes));
  for (void* piece : pieces)
    memory.free(piece, bytes);
  EXPECT_LE(memory.committed_bytes(), 5 * chunk);
  EXPECT_GT(memory.committed_bytes(), 0u);
}

TEST(DeviceMemory, AMillionAllocationsNeedNoMoreThanWhatIsInUse) {
  DeviceMemory memory;
  std::minstd_rand random(1);
  struct Piece {
    void* memory = nullptr;
    size_t bytes = 0;
  };
  std::vector<Piece> pieces(1000);
  size_t used = 0;
  size_t most_used = 0;
  size_t most_committed = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    Piece& piece = pieces[random() % pieces.size()];
    if (piece.memory != nullptr) memory.free(piece.memory, piece.bytes);
    used -= piece.bytes;
    piece.bytes = 1 + random() % 3000;
    piece.memory = memory.allocate(piece.bytes);
    ASSERT_NE(piece.memory, nullptr);
    used += piece.bytes;
    most_used = std::max(most_used, used);
    most_committed = std::max(most_committed, memory.committed_bytes());
  }
  EXPECT_LE(most_committed, 2 * most_used + 5 * chunk);
}

TEST(DeviceMemory, RefusesWhatThereIsNotAndGoesOn) {
  DeviceMemory memory;
  EXPECT_EQ(memory.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(memory.allocate(size_t{1} << 50), nullptr);
  EXPECT_NE(memory.allocate(100), nullptr);
}

TEST(DeviceMemory, ServesThreadsSideBySide) {
  DeviceMemory memory;
  constexpr size_t threads = 4;
  bool right[threads] = {};
  std::vector<std::thread> running;
  for (size_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&memory, &result = right[thread], thread] {
      std::minstd_rand random(static_cast<unsigned>(thread + 1));
      result = true;
      for (int i = 0; i < 3000; ++i) {
        const size_t bytes = 1 + random() % (i % 100 == 0 ? 3 << 20 : 5000);
        auto* piece = static_cast<unsigned char*>(memory.allocate(bytes));
        const bool fresh = is_zero(piece, bytes);
        std::memset(piece, static_cast<int>(thread) + 1, bytes);
        const bool kept = std::all_of(piece, piece + bytes,
                                      [&](unsigned char byte) { return byte == thread + 1; });
        memory.free(piece, bytes);
        result = result && fresh && kept;
      }
    });
  }
  for (std::thread& thread : running)
    thread.join();
  for (const bool each : right)
    EXPECT_TRUE(each);
}

size_t address_space_in_use() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(getpagesize());
}

// use_within_limit() exits with the number of the step that went wrong, 0 where all went right.
[[noreturn]] void use_within_limit() {
  const rlim_t limit = address_space_in_use() + (size_t{256} << 20);
  const rlimit limits{limit, limit};
  if (setrlimit(RLIMIT_AS, &limits) != 0) _exit(1);
  DeviceMemory memory;
  if (memory.allocate(100) == nullptr) _exit(2);
  for (size_t megabytes = 1; megabytes < 40; ++megabytes) {
    const size_t bytes = megabytes << 20;
    void* piece = memory.allocate(bytes);
    if (piece == nullptr || !is_zero(piece, bytes)) _exit(3);
    memory.free(piece, bytes);
  }
  if (memory.allocate(size_t{1} << 30) != nullptr) _exit(4);
  if (memory.allocate(size_t{50} << 20) == nullptr) _exit(5);
  _exit(0);
}

TEST(DeviceMemoryDeathTest, TakesWhatItNeedsWhereAddressesAreLimited) {
  EXPECT_EXIT(use_within_limit(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sluice::hostcuda
