// What the threads of a block know of each other's accesses: vector clocks.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hostcuda/jit/watch/thread_events.hpp"

namespace sluice::hostcuda {

// Moment is one thread's time. Where all threads have met, a new phase begins: all of the phases
// before is ordered before it.
struct Moment {
  uint64_t phase = 0;
  uint32_t thread = 0;
  uint32_t time = 0;
};

// ThreadClocks takes the meetings of one block after the other. A meeting is over when the first of
// its threads goes on: until then whoever takes part has come. Not thread-safe.
//
// Source: PTX ISA, "Memory Consistency Model", with two things taken less strictly, since programs
// rely on them: a strong read acquires without a fence behind it, and `.sync` operations of a warp
// count as ordering what their lanes do, as bar.warp.sync does.
class ThreadClocks {
 public:
  explicit ThreadClocks(uint32_t threads) : threads_(threads) {}

  // begin_launch() is for one whose threads have ordered nothing yet, begin_block() comes then.
  void begin_launch() { orders_threads_ = orders_warps_ = false; }
  void begin_block();
  void meets(const ThreadMeeting& meeting);
  // comes() is an access that a thread makes: it orders what that does. now() is its time then.
  void comes(const ThreadAccess& access) {
    const bool is_plain = (access.kind & access_kind::is_strong) == 0;
    const bool goes_on = all_[access.thread].phase == phase_ && waits_[access.thread] == Waits::no;
    if (!is_plain || !goes_on) order(access);
  }
  Moment now(uint32_t thread) const { return {phase_, thread, all_[thread].time}; }
  // accessed() comes after an access by which threads may order each other.
  void accessed(const ThreadAccess& access);
  // is_before() says whether `thread`, whose access came last, knows what happened then.
  bool is_before(const Moment& earlier, uint32_t thread) {
    if (earlier.phase != phase_ || earlier.thread == thread) return true;
    return orders_threads_ && is_known(earlier, thread);
  }
  // orders_threads() is true from the first time on that something but a barrier of the whole
  // block has ordered threads, orders_warps() threads of several warps.
  bool orders_threads() const { return orders_threads_; }
  bool orders_warps() const { return orders_warps_; }
  uint64_t phase() const { return phase_; }

  static constexpr uint32_t lanes = 32;

 private:
  using Times = std::vector<uint32_t>;  // by thread
  enum class Waits : uint8_t { no, block, named, warp };
  struct Thread {
    uint64_t phase = 0;
    uint32_t time = 1;
    uint32_t at = 0;                      // the barrier's number, or the mask
    bool has_learnt = false;              // of what follows, in its phase
    std::array<uint32_t, lanes> known{};  // of the lanes of its warp
    Times others;                         // of all threads; empty: none but the lanes
    Times released;                       // at the last fence
  };
  struct Group {
    std::vector<uint32_t> members, waiting;
    uint32_t count = 0;
  };

  void order(const ThreadAccess& access);
  bool is_known(const Moment& earlier, uint32_t thread);
  Thread& at(uint32_t thread);
  Times knowledge(uint32_t thread);
  void learn(uint32_t thread, const Times& times);
  void resume(uint32_t thread);
  void end_phase();
  void come(Group& group, uint32_t thread, bool waits);
  void end(Group& group);
  void meet_lanes(uint32_t thread, uint32_t mask);

  const uint32_t threads_;
  uint64_t phase_ = 1;
  bool orders_threads_ = false, orders_warps_ = false;
  std::vector<Thread> all_ = std::vector<Thread>(threads_);
  // Apart, since each barrier looks at all.
  std::vector<Waits> waits_ = std::vector<Waits>(threads_, Waits::no);
  std::unordered_map<uint32_t, Group> barriers_;  // by number
  std::unordered_map<uint64_t, Group> warps_;     // by warp and mask
  std::unordered_map<uint64_t, Times> words_;     // what was released at an address
};

}  // namespace sluice::hostcuda
