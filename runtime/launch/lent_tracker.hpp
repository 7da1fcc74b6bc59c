// The tracker, while it may be at work in the background.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <utility>

#include "dro/rule.hpp"
#include "dro/rule/tracker.hpp"
#include "runtime/background.hpp"

namespace sluice::runtime {

// LentTracker owns a tracker and lends it to work that may take long. What the tracker is told
// meanwhile it hears when it is back, in that order: so it hears the same, in the same order,
// whether it was lent or not. Not thread-safe.
class LentTracker {
 public:
  // `follows`: launches are followed. Where they are not a footprint gets an id and no more, which
  // the last `most_ids` footprints keep.
  LentTracker(Background& background, dro::Rule rule, dro::Observer* observer, bool follows = true)
      : background_(background), tracker_(rule, observer), follows_(follows) {}
  ~LentTracker() {
    if (away_.valid()) away_.wait();
  }
  LentTracker(const LentTracker&) = delete;
  LentTracker& operator=(const LentTracker&) = delete;

  // is_lent() is whether the tracker is away; where its work has just ended, it is back.
  bool is_lent();
  // tell() calls `input(tracker)`, now or when the tracker is back.
  template <class Input>
  void tell(Input&& input) {
    if (is_lent() && !is_full()) {
      later_.emplace_back(std::forward<Input>(input));
      return;
    }
    wait();
    input(tracker_);
  }
  // get() is the tracker, which is not lent.
  dro::DependenceTracker& get() { return tracker_; }

  // For the tracker, which is not lent, its functions of the same names. dropped_by() is the
  // footprint whose id is gone since this one has one.
  static constexpr dro::FootprintId most_ids = 4096;
  std::optional<dro::FootprintId> add_footprint_at_once(const analysis::Footprint& footprint) {
    if (follows_) return tracker_.add_footprint_at_once(footprint);
    return ++last_id_;
  }
  bool has_footprint(dro::FootprintId id) const {
    return follows_ ? tracker_.has_footprint(id) : id + most_ids > last_id_;
  }
  std::optional<dro::FootprintId> dropped_by(dro::FootprintId id) const {
    return follows_ || id <= most_ids ? std::nullopt : std::optional(id - most_ids);
  }

  // lend() has `work(tracker)` done in the background; `away()` tells when that has ended.
  void lend(std::function<void(dro::DependenceTracker&)> work);
  std::future<void>& away() { return away_; }
  // wait() returns when the tracker is back. It throws what the work has thrown.
  void wait();

 private:
  // So much is told before somebody waits.
  static constexpr size_t most_inputs = size_t{1} << 16;
  bool is_full() const { return later_.size() >= most_inputs; }
  void take_back();

  Background& background_;
  dro::DependenceTracker tracker_;
  const bool follows_;
  dro::FootprintId last_id_ = 0;  // where launches are not followed
  std::future<void> away_;        // valid: the tracker is lent
  std::deque<std::function<void(dro::DependenceTracker&)>> later_;
};

}  // namespace sluice::runtime
