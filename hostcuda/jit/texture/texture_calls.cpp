#include "hostcuda/jit/texture/texture_calls.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "hostcuda/jit/texture/texture.hpp"
#include "ptx/texture_call.hpp"

namespace sluice::hostcuda {
namespace {

std::atomic<bool> fault{false};

// An object that the program has destroyed, or a number that never was one, is a fault of the
// kernel. Low addresses are no objects and not worth a look.
const TextureObject* known_object(uint64_t handle) {
  constexpr uint64_t lowest = 1 << 16;
  const auto* object = reinterpret_cast<const TextureObject*>(handle);
  const bool is_one = handle >= lowest && handle % alignof(TextureObject) == 0 &&
                      object->marked == TextureObject::mark;
  return is_one ? object : nullptr;
}

const TextureObject* find_object(uint64_t handle) {
  const TextureObject* object = known_object(handle);
  if (object == nullptr) fault.store(true);
  return object;
}

}  // namespace

bool take_texture_fault() {
  return fault.load(std::memory_order_relaxed) && fault.exchange(false);
}

namespace jit {
namespace {

Packed packed(const Texel& texel) {
  Packed bits = 0;
  std::memcpy(&bits, texel.data(), sizeof bits);
  return bits;
}

std::byte* place_of(const TextureObject& object, uint32_t how, uint32_t layer, uint32_t x,
                    uint32_t y, uint32_t z) {
  std::byte* place =
      surface_place(object, how, layer,
                    {static_cast<int32_t>(x), static_cast<int32_t>(y), static_cast<int32_t>(z)});
  if (place == nullptr && (how & ptx::texture_call::zeroes) == 0) fault.store(true);
  return place;
}

}  // namespace

extern "C" Packed sluice_texture_fetch(uint64_t handle, uint32_t how, uint32_t layer, uint32_t x,
                                       uint32_t y, uint32_t z) {
  const TextureObject* object = find_object(handle);
  return object == nullptr ? 0 : packed(fetch_texel(*object, how, layer, {x, y, z}));
}

extern "C" Packed sluice_texture_fetch_level(uint64_t handle, uint32_t how, uint32_t layer,
                                             uint32_t x, uint32_t y, uint32_t z, uint32_t level) {
  const TextureObject* object = find_object(handle);
  if (object == nullptr) return 0;
  return packed(fetch_texel_at(*object, how, layer, {x, y, z}, std::bit_cast<float>(level)));
}

extern "C" uint32_t sluice_texture_level(uint64_t handle, uint32_t dx0, uint32_t dx1, uint32_t dx2,
                                         uint32_t dy0, uint32_t dy1, uint32_t dy2) {
  const TextureObject* object = find_object(handle);
  if (object == nullptr) return 0;
  const auto gradient = [](uint32_t x, uint32_t y, uint32_t z) {
    return std::array<float, 3>{std::bit_cast<float>(x), std::bit_cast<float>(y),
                                std::bit_cast<float>(z)};
  };
  return std::bit_cast<uint32_t>(
      level_of_detail(*object, gradient(dx0, dx1, dx2), gradient(dy0, dy1, dy2)));
}

extern "C" Packed sluice_surface_load(uint64_t handle, uint32_t how, uint32_t layer, uint32_t x,
                                      uint32_t y, uint32_t z) {
  const TextureObject* object = find_object(handle);
  if (object == nullptr) return 0;
  const std::byte* place = place_of(*object, how, layer, x, y, z);
  Packed packed = 0;
  if (place != nullptr) std::memcpy(&packed, place, how >> ptx::texture_call::bytes_shift);
  return packed;
}

extern "C" void sluice_surface_store(uint64_t handle, uint32_t how, uint32_t layer, uint32_t x,
                                     uint32_t y, uint32_t z, uint64_t low, uint64_t high) {
  const TextureObject* object = find_object(handle);
  if (object == nullptr) return;
  std::byte* place = place_of(*object, how, layer, x, y, z);
  if (place == nullptr) return;
  const uint64_t halves[2] = {low, high};
  if ((how & ptx::texture_call::formatted) != 0) {
    Texel texel;
    std::memcpy(texel.data(), halves, sizeof texel);
    return store_formatted(*object, place, texel);
  }
  std::memcpy(place, halves, how >> ptx::texture_call::bytes_shift);
}

extern "C" uint32_t sluice_texture_query(uint64_t handle, uint32_t property) {
  const bool asks_what_it_is =
      property == ptx::texture_call::is_texture || property == ptx::texture_call::is_surface;
  const TextureObject* object = asks_what_it_is ? known_object(handle) : find_object(handle);
  if (object == nullptr) return 0;
  switch (property) {
    case ptx::texture_call::is_texture:
      return object->is_surface ? 0 : 1;
    case ptx::texture_call::is_surface:
      return object->is_surface ? 1 : 0;
    case ptx::texture_call::width:
      return object->image.width;
    case ptx::texture_call::height:
      return object->image.height;
    case ptx::texture_call::depth:
      return object->image.depth;
    case ptx::texture_call::layers:
      return object->image.layers;
    case ptx::texture_call::channels:
      return object->image.channels;
    default:
      return object->normalized ? 1 : 0;
  }
}

}  // namespace jit
}  // namespace sluice::hostcuda
