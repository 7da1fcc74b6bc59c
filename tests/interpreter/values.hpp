// Registers as bits: 64 each, of which an instruction's type says how many it reads.
#pragma once

#include <bit>
#include <cstdint>

#include "ptx/syntax.hpp"

namespace sluice::interpreter {

using ptx::ScalarType;

inline bool is_float(ScalarType type) {
  return type == ScalarType::f32 || type == ScalarType::f64;
}
inline bool is_signed(ScalarType type) {
  return type == ScalarType::s8 || type == ScalarType::s16 || type == ScalarType::s32 ||
         type == ScalarType::s64;
}
inline bool is_integer(ScalarType type) {
  return type >= ScalarType::b8 && type <= ScalarType::s64 && type != ScalarType::b128;
}

// bits_of() is 1 for a predicate.
inline unsigned bits_of(ScalarType type) {
  return type == ScalarType::pred ? 1 : 8 * ptx::size_in_bytes(type);
}

// truncated() keeps the low bits; extended() repeats the sign of a signed type above them.
inline uint64_t truncated(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}
inline int64_t extended(uint64_t value, unsigned bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

// widened() is the value that bits of an integer type mean, in 64 bits.
inline uint64_t widened(uint64_t value, ScalarType type) {
  const unsigned bits = bits_of(type);
  return is_signed(type) ? static_cast<uint64_t>(extended(value, bits)) : truncated(value, bits);
}

inline float as_float(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}
inline double as_double(uint64_t bits) {
  return std::bit_cast<double>(bits);
}
inline uint64_t bits_of_float(float value) {
  return std::bit_cast<uint32_t>(value);
}
// flushed() makes a zero of a subnormal float (.ftz).
inline uint64_t flushed(uint64_t bits) {
  return (bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits;
}
inline uint64_t bits_of_double(double value) {
  return std::bit_cast<uint64_t>(value);
}

}  // namespace sluice::interpreter
