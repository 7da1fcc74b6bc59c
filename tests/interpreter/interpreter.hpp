// A slow and simple interpreter of PTX to compare with: one thread at a time, up to where it waits
// for others. It shares the syntax tree with the compilers and nothing else. What it does not know
// it refuses.
#pragma once

#include <cstdint>
#include <span>

#include "base/dim3.hpp"
#include "base/result.hpp"
#include "interpreter/code.hpp"
#include "interpreter/memory.hpp"

namespace sluice::interpreter {

struct Launch {
  Dim3 grid, block;
  std::span<const std::byte> parameters;  // laid out as PTX lays out .param
  uint64_t most_steps = UINT64_MAX;       // of all threads together
  bool last_thread_first = false;         // the order makes no difference unless threads race
};

// run() runs all blocks, one after the other. Errors: invalid_input where the kernel does what PTX
// gives no meaning (an access outside the buffers, threads that wait for each other for ever),
// unsupported where it takes more steps than allowed.
Status run(const Code& code, const Launch& launch, GlobalMemory& memory);

}  // namespace sluice::interpreter
