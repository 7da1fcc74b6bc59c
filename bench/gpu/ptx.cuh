// The PTX instructions that the probes are about, one function each. Flags are 32-bit words in
// global memory; the memory model is PTX's (sm_70 and later).
#pragma once

namespace sluice::gpu_probe {

// No wait in device code lasts longer than this many polls (some tenths of a second to a second,
// since a poll is a trip to the L2): a mistake in a probe shows as an error, never as a hung GPU.
constexpr unsigned spin_limit = 1u << 20;

__device__ inline unsigned load_acquire(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(flag))
               : "memory");
  return value;
}

// Orders nothing: the control of probe 7 polls with it.
__device__ inline unsigned load_relaxed(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(flag))
               : "memory");
  return value;
}

__device__ inline void store_release(unsigned* flag, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(flag)),
               "r"(value)
               : "memory");
}

__device__ inline void add_release(unsigned* flag, unsigned value) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(flag)),
               "r"(value)
               : "memory");
}

// A ticket orders nothing by itself, so the add is relaxed.
__device__ inline unsigned take_ticket(unsigned* counter) {
  unsigned ticket;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(ticket)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return ticket;
}

// Waits until the flag has reached `value`, and says whether it did within the limit. Flags only
// grow.
__device__ inline bool wait_until_at_least(const unsigned* flag, unsigned value) {
  for (unsigned spin = 0; spin < spin_limit; ++spin) {
    if (load_acquire(flag) >= value) {
      return true;
    }
  }
  return false;
}

__device__ inline unsigned sm_id() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// Nanoseconds, the same clock on all SMs; some GPUs step it once a microsecond.
__device__ inline unsigned long long global_nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

// Keeps the thread busy for `cycles` of its SM's clock. Bounded by the clock itself.
__device__ inline void stay_busy(long long cycles) {
  if (cycles <= 0) {
    return;
  }
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

}  // namespace sluice::gpu_probe
