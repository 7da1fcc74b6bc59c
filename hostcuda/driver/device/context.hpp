// Contexts, and which one is current on a thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "hostcuda/driver/device/cuda_api.hpp"

namespace sluice::hostcuda {

// Context holds what CUDA keeps for each context. Contexts are never freed, since a thread may
// still have one on its stack after another thread destroyed it: a destroyed one is not alive.
class Context {
 public:
  Context(unsigned long long id, unsigned flags) : id_(id), flags_(flags) {}

  CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
  unsigned long long id() const { return id_; }
  unsigned flags() const { return flags_.load(); }
  void set_flags(unsigned flags) { flags_.store(flags); }
  bool is_alive() const { return alive_.load(); }
  void set_alive(bool alive) { alive_.store(alive); }

  // Limits are kept and given back; none of them means anything to this device.
  CUresult get_limit(CUlimit limit, size_t* value) const;
  CUresult set_limit(CUlimit limit, size_t value);
  void reset_limits();

 private:
  const unsigned long long id_;
  std::atomic<unsigned> flags_;
  std::atomic<bool> alive_{true};
  std::array<std::atomic<size_t>, 6> limits_{{{1024}, {1 << 20}, {8 << 20}, {2}, {2048}, {64}}};
};

// ContextStack is the calling thread's stack of contexts. It has no destructor: exit handlers
// still use it after thread-local objects are gone.
class ContextStack {
 public:
  static ContextStack& of_this_thread();

  Context* top() const { return depth_ == 0 ? nullptr : items_[depth_ - 1]; }
  // push() returns false where the stack is full.
  bool push(Context* context);
  // pop() returns the former top, nullptr where the stack was empty.
  Context* pop();
  // replace_top() makes `context` the top in place of what was there; nullptr pops.
  void replace_top(Context* context);

 private:
  static constexpr size_t capacity = 128;
  std::array<Context*, capacity> items_{};
  size_t depth_ = 0;
};

}  // namespace sluice::hostcuda
