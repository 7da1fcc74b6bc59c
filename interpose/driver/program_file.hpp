// What a program's file says of how it was linked with CUDA.
#pragma once

#include <string>

#include "base/result.hpp"

namespace sluice::interpose {

struct ProgramFile {
  bool is_elf = false;                   // false: a script, say
  bool has_device_code = false;          // embeds fat binaries, as nvcc makes them
  bool has_static_cuda_runtime = false;  // carries cudart inside, instead of needing libcudart.so
};

// inspect_program() reads the headers of the file at `path`. An error where it cannot be read.
Result<ProgramFile> inspect_program(const std::string& path);

// static_runtime_error() is the line for a program whose own static cudart the CPU device cannot
// serve.
Error static_runtime_error(const std::string& path);

}  // namespace sluice::interpose
