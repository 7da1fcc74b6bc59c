// A list of launch numbers that takes little room where they come in even steps, as the launches
// of a loop do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "dro/types.hpp"

namespace sluice::dro {

class LaunchRuns {
 public:
  bool empty() const { return size_ == 0; }
  uint64_t size() const { return size_; }

  void clear() {
    earlier_.clear();
    last_ = {};
    size_ = 0;
  }
  void add(LaunchNumber number) { add_run({number, 0, 1}); }
  void add(LaunchRuns&& others) {
    if (empty()) return std::swap(*this, others);
    for (const Run& run : others.earlier_)
      add_run(run);
    if (!others.empty()) add_run(others.last_);
  }

  // keep_last() drops from the front until at most `count` are left.
  void keep_last(uint64_t count) {
    while (size_ > count) {
      Run& front = earlier_.empty() ? last_ : earlier_.front();
      const uint64_t drop = std::min(front.count, size_ - count);
      front.first += front.step * drop;
      front.count -= drop;
      size_ -= drop;
      if (front.count == 0 && !earlier_.empty()) earlier_.erase(earlier_.begin());
    }
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Run& run : earlier_)
      visit_run(run, visit);
    visit_run(last_, visit);
  }

 private:
  struct Run {
    LaunchNumber first = 0;
    uint64_t step = 0;
    uint64_t count = 0;
  };

  template <class Visit>
  static void visit_run(const Run& run, Visit&& visit) {
    for (uint64_t i = 0; i < run.count; ++i)
      visit(run.first + run.step * i);
  }

  void add_run(const Run& run) {
    size_ += run.count;
    if (last_.count != 0 && run.count == 1) {
      if (last_.count == 1 && run.first > last_.first) last_.step = run.first - last_.first;
      if (last_.step != 0 && run.first == last_.first + last_.step * last_.count) {
        ++last_.count;
        return;
      }
    }
    if (last_.count != 0) earlier_.push_back(last_);
    last_ = run;
  }

  // Most lists are one run, which needs no memory of its own.
  Run last_;  // no launches: the list is empty
  std::vector<Run> earlier_;
  uint64_t size_ = 0;
};

}  // namespace sluice::dro
