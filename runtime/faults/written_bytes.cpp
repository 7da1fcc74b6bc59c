#include "runtime/faults/written_bytes.hpp"

#include <algorithm>
#include <utility>

namespace sluice::runtime {

namespace {

// A buffer of which more pieces are written counts as written between them.
constexpr size_t most_ranges = 1 << 16;

}  // namespace

void WrittenBytes::add(dro::BufferId buffer, std::vector<Range> bytes) {
  ByteIntervals& written = written_[buffer];
  written = written.with(ByteIntervals(std::move(bytes)));
  if (written.ranges().size() > most_ranges)
    written = ByteIntervals(std::vector<Range>{*written.hull()});
}

bool WrittenBytes::holds(dro::BufferId buffer, const Range& bytes) const {
  const auto found = written_.find(buffer);
  if (found == written_.end()) return bytes.empty();
  const std::vector<Range>& ranges = found->second.ranges();
  const auto after = std::ranges::upper_bound(ranges, bytes.begin, {}, &Range::begin);
  return bytes.empty() || (after != ranges.begin() && std::prev(after)->end >= bytes.end);
}

ByteIntervals WrittenBytes::missing(dro::BufferId buffer, const ByteIntervals& bytes) const {
  const auto found = written_.find(buffer);
  return found == written_.end() ? bytes : bytes.without(found->second);
}

}  // namespace sluice::runtime
