// What watched block code tells of its threads, one event after the other.
#pragma once

#include <cstdint>

namespace sluice::hostcuda {

// What an access is; the members of ThreadAccess::kind.
namespace access_kind {
inline constexpr uint32_t reads = 1, writes = 2;
inline constexpr uint32_t is_atomic = 4, is_volatile = 8;
inline constexpr uint32_t is_strong = is_atomic | is_volatile;
inline constexpr uint32_t releases = 32;
// A load that a loop repeats until another thread has written.
inline constexpr uint32_t polls = 64;
// The store's value is known, and depends on no memory.
inline constexpr uint32_t has_value = 128;
// By its state space, an access to shared memory, wherever it leads.
inline constexpr uint32_t is_shared = 256;
// The binary logarithm of the alignment that PTX asks for stands from this bit on.
inline constexpr uint32_t alignment_shift = 9, alignment_bits = 7;
// What is read is stored again as it is, or not used.
inline constexpr uint32_t is_moved = 1 << 12;
// ThreadAccess::value is where the stored value was read from.
inline constexpr uint32_t has_source = 1 << 13;
// A store of cp.async: it happens at any time until the thread has waited for it.
inline constexpr uint32_t is_async = 1 << 14;
constexpr uint32_t alignment_of(uint32_t kind) {
  return 1U << (kind >> alignment_shift & alignment_bits);
}
}  // namespace access_kind

// ThreadAccess is told before it happens.
struct ThreadAccess {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t kind = 0;
  uint32_t thread = 0;  // of the block, x fastest
  uint32_t line = 0;    // of the PTX; 0 where unknown
  uint64_t value = 0;   // that is stored, where that is known
};

// ThreadMeeting is told before a thread waits, or where it orders its accesses.
struct ThreadMeeting {
  enum class Kind : uint32_t {
    begin,           // of the thread; `place` is the block's shared memory, `count` its bytes;
                     // `number` is not 0 where the kernel is data-oblivious (data_oblivious.hpp)
    barrier,         // `number` of the barrier, `count` of threads, 0: all
    barrier_arrive,  // the same, without waiting
    warp,            // `number` is the mask of lanes
    fence,
    word_arrive,  // at a barrier in memory, at `place`
    word_wait,    // it sees whether that one's phase is over
    async_commit,
    async_wait,  // for all groups that the thread has committed but `number`
  };
  Kind kind = Kind::begin;
  uint32_t thread = 0;
  uint32_t line = 0;
  uint32_t number = 0;
  uint32_t count = 0;
  uint64_t place = 0;
};

// ThreadSink hears of the threads of one block at a time.
class ThreadSink {
 public:
  virtual ~ThreadSink() = default;
  virtual void accesses(const ThreadAccess& access) = 0;
  virtual void meets(const ThreadMeeting& meeting) = 0;
};

// set_thread_sink() says who hears of the threads whose watched code the calling thread runs; null:
// nobody.
void set_thread_sink(ThreadSink* sink);

}  // namespace sluice::hostcuda
