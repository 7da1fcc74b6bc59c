// The generated jump table and the names of its slots.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

namespace sluice::interpose {

// base_name() is a driver symbol without its version and per-thread-stream suffixes:
// "cuMemcpyHtoDAsync" of "cuMemcpyHtoDAsync_v2_ptsz".
std::string_view base_name(std::string_view symbol);

// The functions in the order of the slots.
size_t driver_function_count();
const char* driver_function_name(size_t index);

}  // namespace sluice::interpose

extern "C" {
// Where each exported function jumps to.
extern std::atomic<void*> sluice_interpose_slots[];
// The addresses of the exported functions.
extern void* const sluice_interpose_exports[];
}
