#include "runtime/check/byte_runs.hpp"

#include <algorithm>
#include <utility>

namespace sluice::runtime {

void normalise(ByteRuns& runs) {
  std::sort(runs.begin(), runs.end(),
            [](const ByteRun& a, const ByteRun& b) { return a.first < b.first; });
  size_t kept = 0;
  for (const ByteRun& run : runs) {
    if (run.first >= run.end) continue;
    if (kept > 0 && run.first <= runs[kept - 1].end) {
      runs[kept - 1].end = std::max(runs[kept - 1].end, run.end);
    } else {
      runs[kept++] = run;
    }
  }
  runs.resize(kept);
}

uint64_t count_bytes(const ByteRuns& runs) {
  uint64_t bytes = 0;
  for (const ByteRun& run : runs)
    bytes += static_cast<uint64_t>(run.end - run.first);
  return bytes;
}

uint64_t common_bytes(const ByteRuns& runs, int64_t shift, const ByteRuns& others) {
  uint64_t bytes = 0;
  size_t next = 0;
  for (const ByteRun& run : runs) {
    const int64_t first = run.first + shift;
    const int64_t end = run.end + shift;
    while (next < others.size() && others[next].end <= first)
      ++next;
    for (size_t i = next; i < others.size() && others[i].first < end; ++i) {
      bytes +=
          static_cast<uint64_t>(std::min(end, others[i].end) - std::max(first, others[i].first));
    }
  }
  return bytes;
}

int64_t first_missing(const ByteRuns& runs, int64_t shift, const ByteRuns& others) {
  size_t next = 0;
  for (const ByteRun& run : runs) {
    const int64_t first = run.first + shift;
    while (next < others.size() && others[next].end <= first)
      ++next;
    if (next == others.size() || others[next].first > first) return run.first;
    if (others[next].end < run.end + shift) return others[next].end - shift;
  }
  return runs.empty() ? 0 : runs.back().end;
}

bool ByteSearch::covers(int64_t first, int64_t end) {
  if (runs_.empty()) return false;
  const ByteRun& known = runs_[last_];
  if (first >= known.first && end <= known.end) return true;
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), first,
                       [](int64_t byte, const ByteRun& run) { return byte < run.first; });
  if (after == runs_.begin()) return false;
  last_ = static_cast<size_t>(after - runs_.begin()) - 1;
  return end <= runs_[last_].end;
}

void ByteCollector::add(int64_t first, int64_t end) {
  if (!runs_.empty()) {
    ByteRun& last = runs_.back();
    if (first >= last.first && end <= last.end) return;
    if (first == last.end) {
      last.end = end;
      return;
    }
  }
  if (runs_.size() >= limit_) {
    normalise(runs_);
    limit_ = std::max(first_limit, 2 * runs_.size());
  }
  runs_.push_back({first, end});
}

ByteRuns ByteCollector::take() {
  ByteRuns taken = std::exchange(runs_, {});
  normalise(taken);
  limit_ = first_limit;
  return taken;
}

}  // namespace sluice::runtime
