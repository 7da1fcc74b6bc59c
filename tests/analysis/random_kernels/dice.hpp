// The random numbers of the generator: the same on every machine for the same seed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

namespace sluice::analysis::random {

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}

  uint64_t bits() { return engine_(); }
  // between() is a number from low to high, both included.
  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(engine_() % uint64_t(high - low + 1));
  }
  bool chance(unsigned percent) { return engine_() % 100 < percent; }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[engine_() % values.size()];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sluice::analysis::random
