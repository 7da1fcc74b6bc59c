// How many times as much all processors do together as the first does alone. Processors that are
// threads of one core do little more than one; a virtual machine's may be such a pair at one time
// and not at another, whatever it says of itself, and may share their cores with other machines.
// Where this is far from the number of processors, no way of sharing work out among workers brings
// what it would on cores of their own.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "flow/processors.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using sluice::bench::stay_on;

constexpr std::chrono::milliseconds measured{4};
constexpr int repetitions = 9;

// Sums that wait for nothing, and loads and stores that miss no cache: threads of one core get in
// each other's way with all of it.
uint64_t work_until(Clock::time_point end) {
  alignas(64) static thread_local uint64_t numbers[1024] = {};
  uint64_t rounds = 0;
  do {
    for (uint64_t& number : numbers)
      number += rounds;
    // Or the compiler would sum up the rounds.
    asm volatile("" ::: "memory");
    ++rounds;
  } while (rounds % 16 != 0 || Clock::now() < end);
  return rounds;
}

double rounds_of(const std::vector<int>& processors) {
  std::atomic<size_t> come{0};
  std::atomic<uint64_t> rounds{0};
  std::vector<std::thread> threads;
  for (const int processor : processors) {
    threads.emplace_back([&, processor] {
      stay_on(processor);
      ++come;
      while (come.load() < processors.size()) {
      }
      rounds += work_until(Clock::now() + measured);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  return static_cast<double>(rounds.load());
}

}  // namespace

int main() {
  const std::vector<int> known = sluice::bench::processors();
  std::vector<double> ratios;
  for (int i = 0; i < repetitions; ++i)
    ratios.push_back(rounds_of(known) / rounds_of({known.front()}));
  std::nth_element(ratios.begin(), ratios.begin() + repetitions / 2, ratios.end());
  std::printf("%.2f\n", ratios[repetitions / 2]);
  return 0;
}
