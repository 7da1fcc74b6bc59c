// A launch's arguments as bytes, scalars and pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"
#include "runtime/device.hpp"

namespace sluice::runtime {

// BoundPointer is a pointer argument of a launch and the allocation that it points into;
// `begin` == `end` where the kernel reaches nothing through it.
struct BoundPointer {
  std::string name;
  uint64_t value = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// read_parameter_block() copies the arguments of `call` into `block`, laid out as the signature
// says (block.size() becomes signature.parameter_bytes). Returns null, or why it cannot: a sentence
// of static life.
const char* read_parameter_block(const LaunchCall& call, const analysis::KernelSignature& signature,
                                 std::vector<std::byte>& block);

// read_slot() is the value of a slot of at most 8 bytes, zero-extended.
uint64_t read_slot(std::span<const std::byte> block, const analysis::ParameterSlot& slot);

// shape_refusal() returns null where grid and block are within CUDA's limits for every device,
// else why they are not: the driver then has the word.
const char* shape_refusal(const LaunchCall& call);

}  // namespace sluice::runtime
