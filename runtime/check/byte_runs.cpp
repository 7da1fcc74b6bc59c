#include "runtime/check/byte_runs.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace sluice::runtime {

uint64_t count_bytes(const ByteRuns& runs) {
  uint64_t bytes = 0;
  for (const Range& run : runs)
    bytes += static_cast<uint64_t>(run.size());
  return bytes;
}

uint64_t common_bytes(const ByteRuns& runs, int64_t shift, const ByteRuns& others) {
  uint64_t bytes = 0;
  size_t next = 0;
  for (const Range& run : runs) {
    const int64_t first = run.begin + shift;
    const int64_t end = run.end + shift;
    while (next < others.size() && others[next].end <= first)
      ++next;
    for (size_t i = next; i < others.size() && others[i].begin < end; ++i) {
      bytes +=
          static_cast<uint64_t>(std::min(end, others[i].end) - std::max(first, others[i].begin));
    }
  }
  return bytes;
}

int64_t first_missing(const ByteRuns& runs, int64_t shift, const ByteRuns& others) {
  size_t next = 0;
  for (const Range& run : runs) {
    const int64_t first = run.begin + shift;
    while (next < others.size() && others[next].end <= first)
      ++next;
    if (next == others.size() || others[next].begin > first) return run.begin;
    if (others[next].end < run.end + shift) return others[next].end - shift;
  }
  return runs.empty() ? 0 : runs.back().end;
}

bool ByteSearch::covers(int64_t first, int64_t end) {
  if (runs_.empty()) return false;
  constexpr unsigned page_shift = 12;
  uint32_t& guess = run_of_page_[(static_cast<uint64_t>(first) >> page_shift) % remembered];
  const Range& known = runs_[guess];
  if (first >= known.begin && end <= known.end) return true;
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), first,
                       [](int64_t byte, const Range& run) { return byte < run.begin; });
  if (after == runs_.begin()) return false;
  guess = static_cast<uint32_t>(after - runs_.begin()) - 1;
  return end <= runs_[guess].end;
}

ByteCollector::Page& ByteCollector::page_of(int64_t number) {
  Known& known = known_[static_cast<uint64_t>(number) % remembered];
  if (known.number != number) known = {number, &pages_[number]};
  return *known.page;
}

void ByteCollector::add(int64_t first, int64_t end) {
  while (first < end) {
    const int64_t bit = first % page_bytes % word_bits;
    const int64_t bits = std::min(end - first, word_bits - bit);
    const uint64_t ones = bits == word_bits ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    const auto word = static_cast<size_t>(first % page_bytes / word_bits);
    page_of(first / page_bytes)[word] |= ones << bit;
    first += bits;
  }
}

ByteRuns ByteCollector::take() {
  std::vector<int64_t> numbers;
  for (const auto& [number, page] : pages_)
    numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  ByteRuns runs;
  const auto append = [&](int64_t first, int64_t end) {
    if (!runs.empty() && runs.back().end == first) {
      runs.back().end = end;
    } else {
      runs.push_back({first, end});
    }
  };
  for (const int64_t number : numbers) {
    const Page& page = pages_.at(number);
    for (size_t i = 0; i < page.size(); ++i) {
      const int64_t base = number * page_bytes + static_cast<int64_t>(i) * word_bits;
      for (uint64_t word = page[i]; word != 0;) {
        const int bit = std::countr_zero(word);
        const int ones = std::countr_one(word >> bit);
        append(base + bit, base + bit + ones);
        word = bit + ones == word_bits ? 0 : word & (~uint64_t{0} << (bit + ones));
      }
    }
  }
  pages_.clear();
  known_.fill({});
  return runs;
}

}  // namespace sluice::runtime
