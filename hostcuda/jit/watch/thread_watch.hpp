// Watched block code: it tells of every access of each of its threads, and of where they meet.
#pragma once

#include <cstdint>

#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// insert_watch() puts a call before every access of the thread function that
// mark_private_accesses() has not marked, and before all by which its threads order each other.
void insert_watch(const ThreadFunction& thread, const KernelContext& context);

// What the code calls. `packed` holds a line, a thread, and bits of access_kind or the kind of a
// meeting.
extern "C" {
void sluice_jit_thread_accesses(uint64_t address, uint64_t bytes, uint64_t packed, uint64_t value);
void sluice_jit_thread_meets(uint64_t packed, uint32_t number, uint32_t count, uint64_t place);
}
inline constexpr const char* thread_accesses_symbol = "sluice_jit_thread_accesses";
inline constexpr const char* thread_meets_symbol = "sluice_jit_thread_meets";

}  // namespace sluice::hostcuda::jit
