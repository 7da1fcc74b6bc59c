// Locking what others hold for a moment only.
#pragma once

#include <mutex>

namespace sluice {

// lock_briefly_held() locks a mutex that is nearly always held for about a microsecond at most. It
// looks for about that long before it sleeps: to sleep and be woken takes many times as long, of
// whoever unlocks as well.
inline void lock_briefly_held(std::unique_lock<std::mutex>& lock) {
  constexpr int looks = 32;
  for (int i = 0; i < looks; ++i) {
    if (lock.try_lock()) return;
    for (int turn = 0; turn < 2; ++turn)
      __builtin_ia32_pause();
  }
  lock.lock();
}

inline std::unique_lock<std::mutex> lock_briefly_held(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  lock_briefly_held(lock);
  return lock;
}

}  // namespace sluice
