// printf on the device: its format and its buffer.
#pragma once

#include <cstddef>
#include <string>

namespace sluice::hostcuda {

// flush_device_output() writes what kernels have printed to the program's stdout, as CUDA does when
// the host synchronises. Thread-safe, and cheap where nothing was printed.
void flush_device_output();

}  // namespace sluice::hostcuda

namespace sluice::hostcuda::jit {

// format_device_text() formats as CUDA's device-side printf does: `arguments` holds the variable
// arguments as vprintf's caller lays them out, each at a multiple of its own size (4 bytes for
// int, 8 for long, pointer and double). `count`, where not null, gets the number of arguments.
std::string format_device_text(const char* format, const std::byte* arguments, int* count);

// append_device_output() keeps what a kernel printed until flush_device_output(). A text beyond a
// mebibyte is written at once rather than lost. Thread-safe.
void append_device_output(const std::string& text);

}  // namespace sluice::hostcuda::jit
