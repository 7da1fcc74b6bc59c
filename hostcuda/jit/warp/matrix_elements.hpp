// Elements of matrices as floats, in bulk: plain loops that compilers vectorise. For the .cpp files
// of matrix operations alone, whose functions are compiled for several instruction sets; so all is
// inlined.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "ptx/matrix_call.hpp"

// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): places in one warp's matrices
namespace sluice::hostcuda::jit {

// Compiled for the vector instructions that most machines have, and chosen when it is loaded.
#define SLUICE_FOR_MACHINES [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]

#define SLUICE_INLINE [[gnu::always_inline]] inline
#define SLUICE_INLINE_LAMBDA __attribute__((always_inline))

SLUICE_INLINE float float_of_half(uint32_t half) {
  // Moving the exponent's bias makes subnormals right, too; only infinities and NaNs are left.
  const uint32_t magnitude = (half & 0x7FFF) << 13;
  uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
  bits |= (half & 0x7FFF) >= 0x7C00 ? 0x7F800000U : 0U;
  return std::bit_cast<float>(bits | (half & 0x8000) << 16);
}

// half_of_float() rounds to the nearest, ties to even.
SLUICE_INLINE uint32_t half_of_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return 0x7FFF;
  if (magnitude >= 0x477FF000) return sign | 0x7C00;
  if (magnitude < 0x38800000) {
    // Adding a number whose last place is that of a subnormal rounds to it.
    const float rounded = std::bit_cast<float>(magnitude) + 0.5F;
    return sign | (std::bit_cast<uint32_t>(rounded) - 0x3F000000);
  }
  const uint32_t odd = magnitude >> 13 & 1;
  return sign | (magnitude - 0x38000000 + 0xFFF + odd) >> 13;
}

SLUICE_INLINE float float_of_nibble(uint32_t word, unsigned number, bool is_signed) {
  const uint32_t nibble = word >> 4 * number & 15;
  return static_cast<float>(is_signed ? static_cast<int32_t>(nibble ^ 8) - 8
                                      : static_cast<int32_t>(nibble));
}

// decode_tile() gives the elements of one slot of 32 lanes, P of them for each.
SLUICE_INLINE void decode_tile(ptx::matrix_call::Element element, const std::byte* slot,
                               float* tile) {
  using ptx::matrix_call::Element;
  constexpr unsigned lanes = ptx::matrix_call::warp_lanes;
  switch (element) {
    case Element::f16:
      for (unsigned i = 0; i < 2 * lanes; ++i) {
        uint16_t half = 0;
        std::memcpy(&half, slot + 2 * i, 2);
        tile[i] = float_of_half(half);
      }
      return;
    case Element::bf16:
      for (unsigned i = 0; i < 2 * lanes; ++i) {
        uint16_t high = 0;
        std::memcpy(&high, slot + 2 * i, 2);
        tile[i] = std::bit_cast<float>(uint32_t{high} << 16);
      }
      return;
    case Element::s8:
      for (unsigned i = 0; i < 4 * lanes; ++i)
        tile[i] = static_cast<float>(static_cast<int8_t>(slot[i]));
      return;
    case Element::u8:
      for (unsigned i = 0; i < 4 * lanes; ++i)
        tile[i] = static_cast<float>(static_cast<uint8_t>(slot[i]));
      return;
    case Element::s4:
    case Element::u4:
      for (unsigned lane = 0; lane < lanes; ++lane) {
        uint32_t word = 0;
        std::memcpy(&word, slot + 4 * lane, 4);
        for (unsigned i = 0; i < 8; ++i)
          tile[8 * lane + i] = float_of_nibble(word, i, element == Element::s4);
      }
      return;
    case Element::tf32:
      for (unsigned i = 0; i < lanes; ++i) {
        uint32_t word = 0;
        std::memcpy(&word, slot + 4 * i, 4);
        // The lower 13 bits of a tf32 register are ignored.
        tile[i] = std::bit_cast<float>(word & 0xFFFFE000);
      }
      return;
    default:
      return;
  }
}

}  // namespace sluice::hostcuda::jit
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
