#include "hostcuda/driver/memory_watch/checked_bytes.hpp"

#include <algorithm>
#include <bit>

namespace sluice::hostcuda {
namespace {

// append_runs() appends the runs of ones, from where the line begins.
void append_runs(uint64_t bits, uint64_t line, std::vector<Range>& ranges) {
  while (bits != 0) {
    const int first = std::countr_zero(bits);
    const int count = std::countr_one(bits >> first);
    const auto begin = static_cast<int64_t>(line + static_cast<unsigned>(first));
    if (!ranges.empty() && ranges.back().end == begin) {
      ranges.back().end += count;
    } else {
      ranges.push_back({begin, begin + count});
    }
    bits = first + count == 64 ? 0 : bits >> (first + count) << (first + count);
  }
}

}  // namespace

CheckedBytes::Page* CheckedBytes::find_page(uint64_t number) {
  std::unique_ptr<Page>& found = pages_[number];
  if (found == nullptr) found = std::make_unique<Page>();
  known_pages_[number % known_pages_.size()] = {number, found.get()};
  return found.get();
}

void CheckedBytes::add(uintptr_t address, uint64_t bytes, bool reads, bool writes) {
  while (bytes != 0) {
    const uint64_t at = address % line_bytes, count = std::min(bytes, line_bytes - at);
    Line& line = line_of(address / line_bytes);
    if (reads) line.reads |= bits_of(at, count);
    if (writes) line.writes |= bits_of(at, count);
    address += count;
    bytes -= count;
  }
}

void CheckedBytes::clear() {
  pages_.clear();
  known_pages_ = {};
}

void CheckedBytes::append(Ranges& ranges) const {
  for (const auto& [number, page] : pages_) {
    for (uint64_t i = 0; i < page_lines; ++i) {
      const uint64_t line = (number * page_lines + i) * line_bytes;
      append_runs((*page)[i].reads, line, ranges.reads);
      append_runs((*page)[i].writes, line, ranges.writes);
    }
  }
}

}  // namespace sluice::hostcuda
