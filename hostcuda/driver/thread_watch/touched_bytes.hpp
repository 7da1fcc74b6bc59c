// Who has touched each byte since the block's threads last met.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "hostcuda/driver/thread_watch/thread_clocks.hpp"

namespace sluice::hostcuda {

// Conflict is two accesses of two threads to common bytes, one of them writing, which nothing
// orders. The earlier one ran first here.
struct Conflict {
  ThreadAccess earlier, later;  // of the earlier one thread, kind and line are known
  uint64_t begin = 0, end = 0;  // the bytes
};

// TouchedBytes finds the conflicts of one block's threads. Not thread-safe.
//
// A store of what the memory holds already, and not by a chance of the data, conflicts with no
// earlier access, and with none that reads later: whatever the order, all see the same.
//
// Of the reads of a byte two suffice where nothing but barriers orders threads, of two warps where
// nothing orders warps: whoever writes races with one of them. Else all are kept.
class TouchedBytes {
 public:
  using Tell = std::function<void(const Conflict& conflict)>;
  TouchedBytes(ThreadClocks& clocks, Tell tell) : clocks_(clocks), tell_(std::move(tell)) {}

  // touch() notes an access that is about to happen, and tells of its conflicts. Shared memory
  // holds nothing before the block has written it.
  void touch(const ThreadAccess& access, bool is_shared) {
    clocks_.comes(access);
    if (!says_nothing_new(access)) note(access, is_shared);
  }
  // tell() tells of a conflict that somebody else has found.
  void tell(const Conflict& conflict) const { tell_(conflict); }
  // begin_block() comes after the clocks'.
  void begin_launch() { depends_on_values_ = false; }
  void begin_block();
  // depends_on_values() is true where a store that changed nothing has made a difference since the
  // launch began.
  bool depends_on_values() const { return depends_on_values_; }

 private:
  static constexpr uint32_t nobody = UINT32_MAX;
  struct Touch {
    uint32_t thread = nobody;
    uint32_t time = 0;
    uint32_t line = 0;
    uint32_t kind = 0;
  };
  // Cell is a word, or one byte of a word that was touched in parts. What most accesses look at
  // comes first.
  struct Cell {
    uint64_t phase = 0;
    uint32_t more_reads = 0;  // 1 + the place in more_reads_
    bool is_silent = false;   // the write changed nothing
    bool is_split = false;
    bool has_two_warps = false;  // the two reads are of two warps, and say all
    Touch write, read, other_read;
    uint64_t written = 0;  // the phase of the last write
  };
  static constexpr uint64_t word_bytes = 4, page_words = 64;
  struct Page {
    // What says_nothing_new() has found, as settled() writes it: 8 words fill a line of the cache,
    // of which a cell takes more than one.
    std::array<uint64_t, page_words> settled{};
    std::array<Cell, page_words> cells;
  };
  // KnownPage is one that was found lately.
  struct KnownPage {
    uint64_t number = UINT64_MAX;
    Page* page = nullptr;
  };

  Page& page(uint64_t number) {
    const KnownPage& known = known_pages_[number % known_pages_.size()];
    return *(known.number == number ? known.page : find_page(number));
  }
  // settled() is that reads of a warp (0: of all, else its number and one) are of no more interest
  // in this phase.
  static constexpr uint64_t warp_bits = 8;
  uint64_t settled(uint64_t warp) const { return clocks_.phase() << warp_bits | warp; }
  Cell& word(uint64_t number);
  Page* find_page(uint64_t number);
  void renew(Cell& cell) const;
  void note(const ThreadAccess& access, bool is_shared);
  void split(Cell& cell, uint64_t address);
  void meet(Cell& cell, const ThreadAccess& access, const Moment& moment, bool is_silent,
            uint64_t begin, uint64_t end);
  // says_nothing_new() is true of most reads: of a word that nobody else has written and of whose
  // reads enough are known.
  bool says_nothing_new(const ThreadAccess& access) {
    constexpr uint32_t others = access_kind::writes | access_kind::is_strong;
    const bool is_word = access.bytes == word_bytes && access.address % word_bytes == 0;
    if ((access.kind & others) != 0 || !is_word) return false;
    const uint64_t number = access.address / word_bytes;
    const uint64_t known = page(number / page_words).settled[number % page_words];
    if (known == settled(0)) return true;
    const uint64_t warp = access.thread / ThreadClocks::lanes + 1;
    if (known == settled(warp) && !clocks_.orders_threads()) return true;
    return has_enough(access, number);
  }
  bool has_enough(const ThreadAccess& access, uint64_t number);
  void look_at(const Cell& cell, const Touch& earlier, const Conflict& bytes);
  void add_read(Cell& cell, const Touch& touch);
  void add_to_list(Cell& cell, const Touch& touch);

  ThreadClocks& clocks_;
  const Tell tell_;
  // What earlier blocks have left in a page is of phases that are over: pages of memory that is no
  // more in use serve other memory as they are.
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::vector<std::unique_ptr<Page>> spare_pages_;
  std::array<KnownPage, 1024> known_pages_{};
  std::unordered_map<uint64_t, Cell> bytes_;
  uint64_t block_began_ = 0;  // the phase
  uint64_t reads_phase_ = 0;
  bool depends_on_values_ = false;
  std::vector<std::vector<Touch>> more_reads_;
};

}  // namespace sluice::hostcuda
