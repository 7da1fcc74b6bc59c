// Bytes gathered in any order and many times over, near and far, negative offsets too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/check/byte_runs.hpp"

namespace sluice::analysis::random {

class ByteCollector {
 public:
  void add(int64_t first, int64_t end) {
    if (!runs_.empty() && first >= runs_.back().begin && first <= runs_.back().end) {
      runs_.back().end = std::max(runs_.back().end, end);
      return;
    }
    if (runs_.size() == limit_) {
      join_ranges(runs_);
      limit_ = std::max(first_limit, 2 * runs_.size());
    }
    runs_.push_back({first, end});
  }

  // take() is what was added, normalised; the collector is empty then.
  ByteRuns take() {
    join_ranges(runs_);
    return std::exchange(runs_, {});
  }

 private:
  static constexpr size_t first_limit = 4096;

  ByteRuns runs_;  // in no order
  size_t limit_ = first_limit;
};

}  // namespace sluice::analysis::random
