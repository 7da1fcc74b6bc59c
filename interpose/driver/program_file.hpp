// What a program's file says of how it was linked with CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sluice::interpose {

struct ProgramFile {
  bool is_elf = false;                   // false: a script, say
  bool has_device_code = false;          // embeds fat binaries, as nvcc makes them
  bool has_static_cuda_runtime = false;  // carries cudart inside, instead of needing libcudart.so

  // Why the CPU device's runtime cannot take that one's place; nothing where it can.
  std::optional<Error> obstacle;
  // Where the first function of the runtime stands, and its code, which is another once the runtime
  // is replaced. Empty where there is an obstacle.
  uint64_t runtime_address = 0;
  std::vector<std::byte> runtime_code;
};

// inspect_program() reads the headers and symbols of the file at `path`. The CPU device's runtimes
// lie in `cpu_folder`. An error where the program cannot be read.
Result<ProgramFile> inspect_program(const std::string& path, const std::string& cpu_folder);

// is_replaced() is true where the static runtime of this process's own program has been replaced.
bool is_replaced(const ProgramFile& program);

// static_runtime_error() is the line for a program whose static cudart could be replaced, and is
// not in a process that was started without the launcher.
Error static_runtime_error(const std::string& path);

}  // namespace sluice::interpose
