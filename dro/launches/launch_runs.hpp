// A list of launch numbers that takes little room where they come in even steps, as the launches
// of a loop do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/number/divide_up.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

class LaunchRuns {
 public:
  bool empty() const { return size_ == 0; }
  uint64_t size() const { return size_; }
  size_t run_count() const { return earlier_.size() + 1; }  // what takes room

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

  // drop_before() drops from the front what is below `number`, up to the first that is not.
  void drop_before(LaunchNumber number) {
    while (size_ > 0) {
      const Run& front = earlier_.empty() ? last_ : earlier_.front();
      if (front.first >= number) return;
      const uint64_t below =
          front.step == 0 ? front.count : divide_up(number - front.first, front.step);
      keep_last(size_ - std::min(front.count, below));
    }
  }

  // shift() adds `by` to each number.
  void shift(uint64_t by) {
    for (Run& run : earlier_)
      run.first += by;
    if (size_ != 0) last_.first += by;
  }
  // is_shift_of() is whether these are the others' numbers with `by` added, added_since() what was
  // add()ed to be what it is now; nothing where these don't begin with the others. Both may say no
  // where the same numbers came in other runs.
  bool is_shift_of(const LaunchRuns& others, uint64_t by) const {
    return size_ == others.size_ && earlier_.size() == others.earlier_.size() &&
           std::ranges::equal(earlier_, others.earlier_,
                              [by](const Run& a, const Run& b) { return is_shift(a, b, by); }) &&
           is_shift(last_, others.last_, by);
  }
  std::optional<std::vector<LaunchNumber>> added_since(const LaunchRuns& others) const {
    const size_t common = others.earlier_.size();
    if (size_ < others.size_ || earlier_.size() < common || others.empty()) return std::nullopt;
    for (size_t i = 0; i < common; ++i)
      if (!is_shift(earlier_[i], others.earlier_[i], 0)) return std::nullopt;
    const Run& grown = earlier_.size() == common ? last_ : earlier_[common];
    const Run& before = others.last_;
    if (grown.first != before.first || grown.count < before.count ||
        (before.count > 1 && grown.step != before.step)) {
      return std::nullopt;
    }
    std::vector<LaunchNumber> added;
    for (uint64_t i = before.count; i < grown.count; ++i)
      added.push_back(grown.first + grown.step * i);
    const auto add_all = [&](const Run& run) {
      visit_run(run, [&](LaunchNumber number) { added.push_back(number); });
    };
    for (size_t i = common + 1; i < earlier_.size(); ++i)
      add_all(earlier_[i]);
    if (earlier_.size() > common) add_all(last_);
    return added;
  }
  // meets() is whether one of the numbers, in ascending order, is among these.
  bool meets(std::span<const LaunchNumber> numbers) const {
    const auto is_in = [&](const Run& run) {
      if (run.count == 0) return false;
      const LaunchNumber last = run.first + run.step * (run.count - 1);
      auto number = std::ranges::lower_bound(numbers, run.first);
      for (; number != numbers.end() && *number <= last; ++number)
        if (run.step == 0 || (*number - run.first) % run.step == 0) return true;
      return false;
    };
    return std::ranges::any_of(earlier_, is_in) || is_in(last_);
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

  static bool is_shift(const Run& a, const Run& b, uint64_t by) {
    return a.count == b.count &&
           (a.count == 0 || (a.first == b.first + by && (a.count == 1 || a.step == b.step)));
  }
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
