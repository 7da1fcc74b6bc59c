// How many workers a window gets on a machine where they lose their processors to other processes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "megakernel/host/crowd.hpp"

namespace sluice::megakernel {

// Crew decides whether all workers run a window or the calling thread alone. Where launches are
// small, workers wait for each other at every one; beside busy processes such a wait is as long as
// the time slice that the other worker has lost, and one worker, who waits for nobody, is faster
// than two. That is so while workers sleep for a good part of a window although there is work, and
// others are without a processor meanwhile. All is tried again after some time, ever more rarely
// while it stays so; and not at all while the one worker has to share its own processor. Not
// thread-safe.
class Crew {
 public:
  // Spent is what a window has cost so far.
  struct Spent {
    std::chrono::nanoseconds wall{0};
    std::chrono::nanoseconds slept{0};  // of all workers together, waiting for others' tasks
    std::chrono::nanoseconds used{0};   // processor time of all workers together
    uint32_t workers = 0;
  };

  // begin() says whether the calling thread runs the next window alone.
  bool begin() const { return alone_left_.count() > 0; }

  // ended_alone() is told how long such a window took, and whether workers would have waited for
  // each other in it (crowd.hpp, has_short_launches()). Where it says that the time alone is over,
  // judge() is to be told of it.
  bool ended_alone(std::chrono::nanoseconds wall, bool is_coupled) {
    alone_left_ -= wall;
    if (is_coupled) coupled_ += wall;
    return alone_left_.count() <= 0;
  }

  // judge() is told what processor time the one worker had in that time, all windows together.
  void judge(std::chrono::nanoseconds used) {
    if (ProcessorShare{used, std::max(coupled_ - used, std::chrono::nanoseconds(0))}.is_crowded())
      alone_left_ = first_alone;
    coupled_ = {};
  }

  // begin_anew() is for where what was used until now is not known.
  void begin_anew() { coupled_ = {}; }

  // is_starved() holds where workers wait for processors rather than for work: at least one for a
  // quarter of the time sleeps while another neither sleeps nor runs. What went well before counts
  // a little: a processor lost once is no busy machine.
  bool is_starved(const Spent& spent) const {
    const std::chrono::nanoseconds lost = spent.workers * spent.wall - spent.slept - spent.used;
    return part * spent.slept > spent.wall + std::min(kept_, most_trust) &&
           part * lost > spent.wall;
  }

  // starved() gives the next windows to the calling thread alone.
  void starved() {
    alone_left_ = next_alone_;
    coupled_ = {};
    next_alone_ = std::min(2 * next_alone_, most_alone);
    kept_ = {};
  }

  // kept() is told of a window that all workers ran without being starved.
  void kept(std::chrono::nanoseconds wall) {
    kept_ += wall;
    if (kept_ > worth_knowing) next_alone_ = first_alone;
  }

 private:
  static constexpr int part = 4;
  static constexpr std::chrono::nanoseconds most_trust = std::chrono::milliseconds(1);
  // A time slice of another process lasts some milliseconds; in less nothing is seen of it.
  static constexpr std::chrono::nanoseconds worth_knowing = std::chrono::milliseconds(10);
  static constexpr std::chrono::nanoseconds first_alone = std::chrono::milliseconds(20);
  static constexpr std::chrono::nanoseconds most_alone = std::chrono::milliseconds(160);

  std::chrono::nanoseconds kept_ = most_trust;  // all workers ran so long since starved()
  std::chrono::nanoseconds alone_left_{0};
  std::chrono::nanoseconds coupled_{0};  // in such windows since the calling thread is alone
  std::chrono::nanoseconds next_alone_ = first_alone;
};

}  // namespace sluice::megakernel
