// Where a program wants to read what went wrong when its code was loaded.
#pragma once

#include <string>

#include "hostcuda/driver/cuda_api.hpp"

namespace sluice::hostcuda {

// write_error_log() copies the message into the buffer that CU_JIT_ERROR_LOG_BUFFER names, where
// the options name one, and sets its size to the bytes written. Other options tune a compiler for
// GPUs and are ignored.
void write_error_log(const std::string& message, unsigned count, const CUjit_option* options,
                     void** values);

}  // namespace sluice::hostcuda
