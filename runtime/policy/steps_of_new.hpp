// What finding the dependences of new launches has taken, as it is kept from start to start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sluice::runtime {

// StepsOfNew has, for the first new launches of one kernel and size, the most steps of the tracker
// that each took in any start: so a start knows before which of them are quick. Steps are counted
// and not measured, so a busy machine leaves nothing in them that is untrue on a quiet one. Not
// thread-safe.
class StepsOfNew {
 public:
  static constexpr size_t most = 16;
  // What takes fewer was look-ups: the first sight of one launch by another alone takes 48.
  static constexpr uint64_t least = 48;
  // More than any launch may take; a file may say anything.
  static constexpr uint64_t dearest = uint64_t{1} << 32;

  // read() takes what earlier starts have kept, once.
  bool is_read() const { return is_read_; }
  void read(std::vector<uint64_t> kept) {
    is_read_ = true;
    steps_ = std::move(kept);
    steps_.resize(std::min(steps_.size(), most));
    for (uint64_t& steps : steps_)
      steps = std::min(steps, dearest);
  }

  // next() is what the next new launch may take; nothing where no start has come so far.
  std::optional<uint64_t> next() const {
    return place_ < steps_.size() ? std::optional(steps_[place_]) : std::nullopt;
  }

  // add() counts a launch, if it was new. It is whether all() has to be kept again.
  bool add(uint64_t steps) {
    if (steps < least || place_ >= most) return false;
    const size_t place = place_++;
    if (place == steps_.size()) {
      steps_.push_back(steps);
      return true;
    }
    if (steps <= steps_[place]) return false;
    steps_[place] = steps;
    return true;
  }
  const std::vector<uint64_t>& all() const { return steps_; }

 private:
  bool is_read_ = false;
  size_t place_ = 0;
  std::vector<uint64_t> steps_;
};

}  // namespace sluice::runtime
