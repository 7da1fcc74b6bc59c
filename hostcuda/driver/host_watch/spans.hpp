// Sets of addresses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace sluice::hostcuda {

// Span is the addresses [begin, end).
struct Span {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  bool overlaps(const Span& other) const { return begin < other.end && other.begin < end; }
};

// Spans are in order and apart where joined() made them.
using Spans = std::vector<Span>;

inline Spans joined(Spans spans) {
  std::erase_if(spans, [](const Span& span) { return span.begin >= span.end; });
  std::ranges::sort(spans, {}, &Span::begin);
  Spans result;
  for (const Span& span : spans) {
    if (!result.empty() && span.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, span.end);
    } else {
      result.push_back(span);
    }
  }
  return result;
}

// find() is the span of a joined set that holds the address, null where none does.
inline const Span* find(const Spans& spans, uintptr_t address) {
  const auto next = std::ranges::upper_bound(spans, address, {}, &Span::begin);
  if (next == spans.begin()) return nullptr;
  const Span& before = *std::prev(next);
  return address < before.end ? &before : nullptr;
}

// without() is what of a joined set lies outside another.
inline Spans without(const Spans& spans, const Spans& others) {
  Spans result;
  auto other = others.begin();
  for (Span rest : spans) {
    while (other != others.end() && other->end <= rest.begin)
      ++other;
    for (auto cut = other; cut != others.end() && cut->begin < rest.end; ++cut) {
      if (rest.begin < cut->begin) result.push_back({rest.begin, cut->begin});
      rest.begin = std::max(rest.begin, cut->end);
    }
    if (rest.begin < rest.end) result.push_back(rest);
  }
  return result;
}

}  // namespace sluice::hostcuda
