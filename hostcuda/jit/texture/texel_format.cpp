#include "hostcuda/jit/texture/texel_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace sluice::hostcuda {
namespace {

template <class T>
T read(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
  const int exponent = bits >> 10 & 31;
  const auto fraction = static_cast<float>(bits & 1023U);
  if (exponent == 31) {
    return std::bit_cast<float>(sign | 0x7f800000U | uint32_t{bits & 1023U} << 13);
  }
  const float magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  return sign != 0 ? -magnitude : magnitude;
}

uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7fff;
  if (magnitude >= 65520.0F) return static_cast<uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x1p-14F) {
    return static_cast<uint16_t>(sign |
                                 static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, 24))));
  }
  // A carry out of the fraction lands in the exponent, as it should.
  int exponent = 0;
  const float fraction = std::frexp(magnitude, &exponent);
  const auto rounded = static_cast<uint32_t>(std::nearbyint(std::ldexp(fraction, 11)));
  return static_cast<uint16_t>(sign |
                               ((static_cast<uint32_t>(exponent + 13) << 10) + rounded - 1024));
}

// The largest value of a format of 8 or 16 bits, 0 for the others, which are never normalized.
float normal_range(TexelFormat format) {
  switch (format) {
    case TexelFormat::u8:
      return 255;
    case TexelFormat::s8:
      return 127;
    case TexelFormat::u16:
      return 65535;
    case TexelFormat::s16:
      return 32767;
    default:
      return 0;
  }
}

}  // namespace

uint32_t bytes_of(TexelFormat format) {
  switch (format) {
    case TexelFormat::u8:
    case TexelFormat::s8:
      return 1;
    case TexelFormat::u16:
    case TexelFormat::s16:
    case TexelFormat::f16:
      return 2;
    default:
      return 4;
  }
}

int64_t read_integer(TexelFormat format, const std::byte* place) {
  switch (format) {
    case TexelFormat::u8:
      return read<uint8_t>(place);
    case TexelFormat::s8:
      return read<int8_t>(place);
    case TexelFormat::u16:
    case TexelFormat::f16:
      return read<uint16_t>(place);
    case TexelFormat::s16:
      return read<int16_t>(place);
    case TexelFormat::u32:
      return read<uint32_t>(place);
    default:
      return read<int32_t>(place);
  }
}

float read_channel(TexelFormat format, bool normalizes, const std::byte* place) {
  if (format == TexelFormat::f32) return read<float>(place);
  if (format == TexelFormat::f16) return half_to_float(read<uint16_t>(place));
  const int64_t integer = read_integer(format, place);
  const float range = normal_range(format);
  if (normalizes && range != 0) return std::max(static_cast<float>(integer) / range, -1.0F);
  return std::bit_cast<float>(static_cast<uint32_t>(integer));
}

void store_formatted(const TextureObject& object, std::byte* place, const Texel& texel) {
  const TexelFormat format = object.image.format;
  const uint32_t bytes = bytes_of(format);
  for (uint32_t channel = 0; channel < object.image.channels; ++channel, place += bytes) {
    uint32_t value = texel[channel];
    if (format == TexelFormat::f16) value = float_to_half(std::bit_cast<float>(value));
    std::memcpy(place, &value, bytes);
  }
}

}  // namespace sluice::hostcuda
