// Texture and surface objects as kernels see them: a 64-bit handle is the address of a
// TextureObject. What a kernel asks for is described in ptx/texture_call.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::hostcuda {

// TexelFormat is the type of one channel.
enum class TexelFormat : uint8_t { u8, u16, u32, s8, s16, s32, f16, f32 };
uint32_t bytes_of(TexelFormat format);

enum class AddressMode : uint8_t { wrap, clamp, mirror, border };

// TexelImage is memory of the device with texels in rows.
struct TexelImage {
  std::byte* data = nullptr;
  uint32_t width = 1;  // texels
  uint32_t height = 1;
  uint32_t depth = 1;
  uint32_t layers = 1;       // of a layered image; a cube map has six for each cube
  uint64_t row_bytes = 0;    // from row to row
  uint64_t slice_bytes = 0;  // from plane to plane, or layer to layer
  TexelFormat format = TexelFormat::f32;
  uint32_t channels = 1;  // 1, 2 or 4

  uint32_t texel_bytes() const { return bytes_of(format) * channels; }
};

// TextureObject is what a texture or surface object stands for.
struct TextureObject {
  static constexpr uint64_t mark = 0x736c754963655478;  // tells an object from any other address
  uint64_t marked = mark;
  TexelImage image;
  bool is_surface = false;
  bool is_linear_memory = false;  // a buffer: reads outside give zero
  std::array<AddressMode, 3> address = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  bool filters = false;           // linear filtering, else the nearest texel
  bool normalized = false;        // coordinates are fractions of the extent
  bool reads_normalized = false;  // integers of 8 and 16 bits are read as floats in [-1, 1]
  std::array<float, 4> border = {};
  // Of a mipmapped array: the images of the levels behind `image`, each half as wide as the one
  // before, and how a level of detail chooses among them all.
  std::vector<TexelImage> smaller;
  bool filters_levels = false;  // mixes two levels, else takes the nearest
  float level_bias = 0;
  float least_level = 0;
  float greatest_level = 0;
};

// Texel is a result in four lanes of 32 bits: floats or integers, as the kernel asked.
using Texel = std::array<uint32_t, 4>;

// fetch_texel() is tex and tld4. `coordinates` are bits of floats or integers. Wrapping and
// mirroring work on normalized coordinates alone, filtering on float results alone, with weights of
// 8 fractional bits, as the CUDA programming guide says (appendix "Texture Fetching").
Texel fetch_texel(const TextureObject& object, uint32_t how, uint32_t layer,
                  const std::array<uint32_t, 3>& coordinates);

// fetch_texel_at() is tex.level: a mipmapped array's level, or two of them mixed with a weight of 8
// fractional bits; any other object has one level. level_of_detail() is what tex.grad chooses:
// log2 of the longer gradient, in texels of the largest image.
Texel fetch_texel_at(const TextureObject& object, uint32_t how, uint32_t layer,
                     const std::array<uint32_t, 3>& coordinates, float level);
float level_of_detail(const TextureObject& object, const std::array<float, 3>& dx,
                      const std::array<float, 3>& dy);

// The place of a surface access in memory: x counts bytes, or texels where `how` says formatted.
// Null where it lies outside and `how` does not clamp.
std::byte* surface_place(const TextureObject& object, uint32_t how, uint32_t layer,
                         const std::array<int32_t, 3>& coordinates);

// store_formatted() writes four lanes (floats for float and normalized formats) as one texel.
void store_formatted(const TextureObject& object, std::byte* place, const Texel& texel);

// take_texture_fault() says whether a kernel has used what is no texture or surface object, or
// accessed a surface outside with .trap, since the last call.
bool take_texture_fault();

}  // namespace sluice::hostcuda
