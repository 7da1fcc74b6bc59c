// Which bytes outside of its blocks a launch has accessed, each found to be right once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/number/range.hpp"

namespace sluice::hostcuda {

// CheckedBytes keeps two bits for each byte. Not thread-safe.
class CheckedBytes {
 public:
  // is_known() is true where all of the bytes were added before, for whatever the access does.
  bool is_known(uintptr_t address, uint64_t bytes, bool reads, bool writes) {
    const uint64_t at = address % line_bytes;
    if (bytes > line_bytes - at) return false;
    const Line& line = line_of(address / line_bytes);
    const uint64_t bits = bits_of(at, bytes);
    return (!reads || (bits & ~line.reads) == 0) && (!writes || (bits & ~line.writes) == 0);
  }
  void add(uintptr_t address, uint64_t bytes, bool reads, bool writes);
  void clear();

  struct Ranges {
    std::vector<Range> reads, writes;  // addresses
  };
  // append() appends those of all pages, which come in any order.
  void append(Ranges& ranges) const;

 private:
  static constexpr uint64_t line_bytes = 64, page_lines = 64;
  struct Line {
    uint64_t reads = 0, writes = 0;  // a bit a byte
  };
  using Page = std::array<Line, page_lines>;
  // KnownPage is one that was found lately.
  struct KnownPage {
    uint64_t number = UINT64_MAX;
    Page* page = nullptr;
  };

  static uint64_t bits_of(uint64_t at, uint64_t bytes) {
    return (bytes == line_bytes ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1) << at;
  }
  Line& line_of(uint64_t number) {
    const uint64_t page = number / page_lines;
    const KnownPage& known = known_pages_[page % known_pages_.size()];
    return (*(known.number == page ? known.page : find_page(page)))[number % page_lines];
  }
  Page* find_page(uint64_t number);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::array<KnownPage, 1024> known_pages_{};
};

}  // namespace sluice::hostcuda
