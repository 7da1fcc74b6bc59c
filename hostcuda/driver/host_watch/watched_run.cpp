#include "hostcuda/driver/host_watch/watched_run.hpp"

#include <algorithm>

#include "hostcuda/block_abi.h"

namespace sluice::hostcuda {

void AccessRecord::heard(void* record, uint64_t address, uint64_t bytes, uint32_t kind,
                         uint32_t /*line*/) {
  auto& self = *static_cast<AccessRecord*>(record);
  if (find(self.memory_, address) == nullptr) return;
  const Span span{address, address + bytes};
  if ((kind & SLUICE_ACCESS_READ) != 0) add(self.reads_, span);
  if ((kind & SLUICE_ACCESS_WRITE) != 0) add(self.writes_, span);
}

// Neighbouring threads mostly access neighbouring memory, through a few pointers by turns.
void AccessRecord::add(Spans& spans, const Span& span) {
  constexpr size_t looked_at = 4;
  constexpr size_t most_spans = size_t{1} << 20;
  for (size_t i = spans.size(); i > 0 && i + looked_at > spans.size(); --i) {
    Span& last = spans[i - 1];
    if (span.begin < last.begin || span.begin > last.end) continue;
    last.end = std::max(last.end, span.end);
    return;
  }
  if (spans.size() == most_spans) spans = joined(std::move(spans));
  spans.push_back(span);
}

}  // namespace sluice::hostcuda
