// How long a cache line takes from one processor to another and back, in nanoseconds: what workers
// that share data pay, which differs by several times between processors of one chiplet and of two.
// A virtual machine's processors may be moved from one to the other, so whoever compares runs
// measures this beside them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "flow/processors.hpp"

namespace {

using sluice::bench::stay_on;

constexpr int rounds = 20'000;
constexpr int repetitions = 5;

double nanoseconds_of_a_round(int there) {
  alignas(64) std::atomic<int> turn{0};
  std::thread other([&] {
    stay_on(there);
    for (int i = 0; i < rounds; ++i) {
      while (turn.load() != 2 * i + 1) {
      }
      turn.store(2 * i + 2);
    }
  });
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) {
    turn.store(2 * i + 1);
    while (turn.load() != 2 * i + 2) {
    }
  }
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  other.join();
  return time.count() / rounds;
}

}  // namespace

int main() {
  const std::vector<int> known = sluice::bench::processors();
  if (known.size() < 2) {
    std::fprintf(stderr, "cache_line: it takes two processors\n");
    return 2;
  }
  stay_on(known.front());
  double least = nanoseconds_of_a_round(known.back());
  for (int i = 1; i < repetitions; ++i)
    least = std::min(least, nanoseconds_of_a_round(known.back()));
  std::printf("%.0f\n", least);
  return 0;
}
