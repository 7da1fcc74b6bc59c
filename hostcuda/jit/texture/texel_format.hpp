// How texels lie in memory: one channel at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hostcuda/jit/texture/texture.hpp"

namespace sluice::hostcuda {

// read_integer() is one channel as a number wide enough for every integer format; of f16 its bits.
int64_t read_integer(TexelFormat format, const std::byte* place);

// read_channel() is one channel as a float: a float format's value; an integer of 8 or 16 bits
// scaled to [-1, 1] where `normalizes`; else the integer's bits.
float read_channel(TexelFormat format, bool normalizes, const std::byte* place);

}  // namespace sluice::hostcuda
