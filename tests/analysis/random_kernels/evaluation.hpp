// What the threads of a random kernel really touch, by walking its tree.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel_tree.hpp"
#include "runtime/check/byte_runs.hpp"

namespace sluice::analysis::random {

// Touched is what one block touches through one pointer, relative to the pointer's value.
struct Touched {
  ByteRuns reads;   // loads and atomics
  ByteRuns stores;  // plain ones
  ByteRuns writes;  // stores and atomics
};

struct Effects {
  std::vector<std::vector<Touched>> blocks;  // by linear block, then by parameter
  bool wrapped = false;  // some integer that was computed differs from its ideal value
};

// evaluate() runs every thread. Nothing where that takes too long, since such a kernel might not
// end, or where bytes are touched 2^56 away. Thread-safe.
std::optional<Effects> evaluate(const Kernel& kernel);

// data_byte() is the content of every pointer parameter that is `data`, at a byte offset.
uint8_t data_byte(int64_t offset);

}  // namespace sluice::analysis::random
