// Sets of bytes as sorted runs: what the footprint check compares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/number/range.hpp"

namespace sluice::runtime {

uint64_t count_bytes(const ByteRuns& runs);
// common_bytes() counts the bytes of `runs` + `shift` that are in `others`.
uint64_t common_bytes(const ByteRuns& runs, int64_t shift, const ByteRuns& others);

// first_missing() is the first byte of `runs` + `shift` that is not in `others`, as it stands in
// `runs`; `end` of the last run where none is missing.
int64_t first_missing(const ByteRuns& runs, int64_t shift, const ByteRuns& others);

// ByteSearch finds runs fast where look-ups come back to the same few runs.
class ByteSearch {
 public:
  explicit ByteSearch(ByteRuns runs) : runs_(std::move(runs)) {}

  // covers() is true where all of [first, end) lies in one run.
  bool covers(int64_t first, int64_t end);

 private:
  static constexpr size_t remembered = 64;

  ByteRuns runs_;
  std::array<uint32_t, remembered> run_of_page_{};  // by a page's low bits; a guess
};

// ByteCollector gathers touched bytes, in any order and many times over: a bit for each byte of
// the pages that were touched at all.
class ByteCollector {
 public:
  void add(int64_t first, int64_t end);
  // take() returns what was added since the last take(), normalised.
  ByteRuns take();

 private:
  static constexpr int64_t page_bytes = 4096;
  static constexpr int64_t word_bits = 64;
  static constexpr size_t remembered = 64;
  using Page = std::array<uint64_t, page_bytes / word_bits>;
  struct Known {
    int64_t number = -1;
    Page* page = nullptr;
  };

  Page& page_of(int64_t number);

  std::unordered_map<int64_t, Page> pages_;  // by address / page_bytes
  std::array<Known, remembered> known_{};
};

}  // namespace sluice::runtime
