// A list of launch numbers that takes little room where they come in even steps, as the launches
// of a loop do.
#pragma once

#include <algorithm>
#include <cstdint>

#include <boost/container/small_vector.hpp>

#include "dro/types.hpp"

namespace sluice::dro {

class LaunchRuns {
 public:
  bool empty() const { return runs_.empty(); }
  uint64_t size() const { return size_; }

  void clear() {
    runs_.clear();
    size_ = 0;
  }
  void add(LaunchNumber number) { add_run({number, 0, 1}); }
  void add(const LaunchRuns& others) {
    for (const Run& run : others.runs_)
      add_run(run);
  }

  // keep_last() drops from the front until at most `count` are left.
  void keep_last(uint64_t count) {
    while (size_ > count) {
      Run& front = runs_.front();
      const uint64_t drop = std::min(front.count, size_ - count);
      front.first += front.step * drop;
      front.count -= drop;
      size_ -= drop;
      if (front.count == 0) runs_.erase(runs_.begin());
    }
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Run& run : runs_) {
      for (uint64_t i = 0; i < run.count; ++i)
        visit(run.first + run.step * i);
    }
  }

 private:
  struct Run {
    LaunchNumber first;
    uint64_t step;
    uint64_t count;
  };

  void add_run(const Run& run) {
    size_ += run.count;
    if (!runs_.empty() && run.count == 1) {
      Run& last = runs_.back();
      if (last.count == 1 && run.first > last.first) last.step = run.first - last.first;
      if (last.step != 0 && run.first == last.first + last.step * last.count) {
        ++last.count;
        return;
      }
    }
    runs_.push_back(run);
  }

  boost::container::small_vector<Run, 1> runs_;  // one run needs no memory of its own
  uint64_t size_ = 0;
};

}  // namespace sluice::dro
