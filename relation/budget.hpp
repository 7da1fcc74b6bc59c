// What a piece of work may cost.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sluice {

// Budget is steps of some tens of nanoseconds and bytes of memory. Whoever is about to loop or to
// store takes what that costs first, and gives up where it is refused: with an answer that is
// cheaper, and errs on the side of more order. Both are counted and never measured, so that a
// replay, which does the same work, gives up at the same places. Bytes are all that were stored,
// whether they are still held or not. Not thread-safe.
class Budget {
 public:
  struct Cost {
    uint64_t steps = 0;
    uint64_t bytes = 0;
    friend bool operator==(const Cost&, const Cost&) = default;
  };
  static constexpr Cost unlimited{UINT64_MAX, UINT64_MAX};
  static Cost larger(const Cost& a, const Cost& b) {
    return {std::max(a.steps, b.steps), std::max(a.bytes, b.bytes)};
  }

  explicit Budget(const Cost& most) : most_(most) {}
  // A part of `whole` (which it must not outlive) takes from it too, but at most `most`, and half
  // of what it has left: however many parts are spent, something is left for cheaper answers.
  Budget(Budget& whole, const Cost& most)
      : most_{std::min(most.steps, whole.left().steps / 2),
              std::min(most.bytes, whole.left().bytes / 2)},
        whole_(&whole) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // take() is false where that is more than is left, and from then on.
  bool take(uint64_t steps, uint64_t bytes = 0) {
    if (is_spent_ || steps > most_.steps - taken_.steps || bytes > most_.bytes - taken_.bytes ||
        (whole_ != nullptr && !whole_->take(steps, bytes))) {
      is_spent_ = true;
      return false;
    }
    taken_.steps += steps;
    taken_.bytes += bytes;
    return true;
  }
  // make() takes for storing so many of a type, `a_step` of them in one step.
  template <class Type>
  bool make(uint64_t count, uint64_t a_step = 1) {
    const uint64_t bytes = count > UINT64_MAX / sizeof(Type) ? UINT64_MAX : count * sizeof(Type);
    return take(count / a_step + 1, bytes);
  }
  // use_up() takes all steps that are left; none is given any more.
  void use_up() {
    take(left().steps);
    is_spent_ = true;
  }

  bool is_spent() const { return is_spent_; }
  const Cost& taken() const { return taken_; }
  Cost left() const {
    if (is_spent_) return {};
    return {most_.steps - taken_.steps, most_.bytes - taken_.bytes};
  }

 private:
  Cost most_;
  Cost taken_;
  Budget* whole_ = nullptr;
  bool is_spent_ = false;
};

// sorting_steps() is what sorting so many small values takes.
constexpr uint64_t sorting_steps(uint64_t values) {
  return values / 16 * std::bit_width(values);
}

}  // namespace sluice
