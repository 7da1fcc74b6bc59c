// How much of their time the processors lose to what else runs on them, of this system or of the
// machine below a virtual one: threads that only look at the clock, one on each processor, count
// the gaps. Prints the percentage lost and the longest gap in microseconds. Where it is some
// percent, workers that wait for each other wait for lost processors, and single runs say little.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr std::chrono::milliseconds measured{500};
constexpr microseconds shortest_gap{20};  // an interrupt takes less

struct Lost {
  Clock::duration time{0};
  Clock::duration longest{0};
};

Lost look_at_the_clock() {
  Lost lost;
  const Clock::time_point start = Clock::now();
  for (Clock::time_point last = start; last - start < measured;) {
    const Clock::time_point now = Clock::now();
    if (now - last > shortest_gap) {
      lost.time += now - last;
      lost.longest = std::max(lost.longest, now - last);
    }
    last = now;
  }
  return lost;
}

}  // namespace

int main() {
  std::vector<Lost> lost(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (Lost& each : lost)
    threads.emplace_back([&each] { each = look_at_the_clock(); });
  for (std::thread& thread : threads)
    thread.join();
  Lost all;
  for (const Lost& each : lost) {
    all.time += each.time;
    all.longest = std::max(all.longest, each.longest);
  }
  std::printf("%.2f %.0f\n", 100.0 * (all.time / static_cast<double>(lost.size())) / measured,
              std::chrono::duration<double, std::micro>(all.longest).count());
  return 0;
}
