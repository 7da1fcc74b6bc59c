// How lifted code asks for textures and surfaces: LLVM 19's NVVM has an intrinsic for each shape
// and type, so the lifter calls functions of its own instead.
//   i128 sluice.texture.fetch(i64 object, i32 how, i32 layer, i32 x, i32 y, i32 z)
//   i128 sluice.texture.fetch_level(i64 object, i32 how, i32 layer, i32 x, i32 y, i32 z, i32 level)
//   i32 sluice.texture.level(i64 object, i32 dx0, i32 dx1, i32 dx2, i32 dy0, i32 dy1, i32 dy2)
//   i128 sluice.surface.load(i64 object, i32 how, i32 layer, i32 x, i32 y, i32 z)
//   void sluice.surface.store(i64 object, i32 how, i32 layer, i32 x, i32 y, i32 z, i64 low, i64
//   high) i32 sluice.texture.query(i64 object, i32 property)
// Coordinates are the bits of floats or integers. An i128 holds four elements of 32 bits for a
// texture, the elements one after the other for a surface. Levels of detail and gradients are the
// bits of floats.
#pragma once

#include <cstdint>

namespace sluice::ptx::texture_call {

inline constexpr const char* fetch = "sluice.texture.fetch";
inline constexpr const char* fetch_level = "sluice.texture.fetch_level";
inline constexpr const char* level = "sluice.texture.level";
inline constexpr const char* load = "sluice.surface.load";
inline constexpr const char* store = "sluice.surface.store";
inline constexpr const char* query = "sluice.texture.query";

enum Geometry : uint32_t { one = 0, two, three, one_layered, two_layered, cube, cube_layered };

// `how` holds a Geometry in its low 4 bits, and:
inline constexpr uint32_t geometry_mask = 15;
inline constexpr uint32_t integer_coordinates = 1U << 4;
inline constexpr uint32_t float_result = 1U << 5;
inline constexpr uint32_t gather = 1U << 6;     // one component of the four texels around the place
inline constexpr uint32_t component_shift = 7;  // two bits: which one
inline constexpr uint32_t formatted = 1U << 9;  // a surface store converts to the array's format
inline constexpr uint32_t clamps = 1U << 10;    // what a surface does outside: else see below
inline constexpr uint32_t zeroes = 1U << 11;    // loads 0, stores nothing; with neither: a fault
inline constexpr uint32_t bytes_shift = 16;     // of a surface's element, times their number

// is_texture and is_surface may be asked of any number that is no address of other memory.
enum Property : uint32_t {
  width = 0,
  height,
  depth,
  layers,
  channels,
  normalized,
  is_texture,
  is_surface
};

}  // namespace sluice::ptx::texture_call
