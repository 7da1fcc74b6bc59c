// The levels of detail of mipmapped arrays.
#include <algorithm>
#include <bit>
#include <cmath>

#include "hostcuda/jit/texture/texture_image.hpp"
#include "ptx/texture_call.hpp"

namespace sluice::hostcuda {
namespace {

namespace call = ptx::texture_call;

const TexelImage& image_of(const TextureObject& object, size_t level) {
  return level == 0 ? object.image : object.smaller[level - 1];
}

}  // namespace

Texel fetch_texel_at(const TextureObject& object, uint32_t how, uint32_t layer,
                     const std::array<uint32_t, 3>& coordinates, float level) {
  const auto from = [&](size_t number) {
    return fetch_from(object, image_of(object, number), how, layer, coordinates);
  };
  const size_t last = object.smaller.size();
  if (last == 0) return from(0);
  // What is no number is the largest image.
  level = std::min(std::max(level + object.level_bias, object.least_level), object.greatest_level);
  if (!(level > 0)) return from(0);
  level = std::min(level, static_cast<float>(last));
  const bool mixes = object.filters_levels && (how & call::float_result) != 0;
  if (!mixes) return from(static_cast<size_t>(level + 0.5F));
  const auto first = static_cast<size_t>(level);
  const float rest = level - static_cast<float>(first);
  const float weight = static_cast<float>(static_cast<int>(rest * 256.0F + 0.5F)) / 256.0F;
  if (weight == 0) return from(first);
  const Texel near = from(first);
  const Texel far = from(first + 1);
  Texel mixed;
  for (size_t i = 0; i < 4; ++i) {
    mixed[i] = std::bit_cast<uint32_t>((1 - weight) * std::bit_cast<float>(near[i]) +
                                       weight * std::bit_cast<float>(far[i]));
  }
  return mixed;
}

float level_of_detail(const TextureObject& object, const std::array<float, 3>& dx,
                      const std::array<float, 3>& dy) {
  const float extents[3] = {static_cast<float>(object.image.width),
                            static_cast<float>(object.image.height),
                            static_cast<float>(object.image.depth)};
  const auto length = [&](const std::array<float, 3>& gradient) {
    float sum = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
      const float texels = gradient[axis] * extents[axis];
      sum += texels * texels;
    }
    return std::sqrt(sum);
  };
  return std::log2(std::max(length(dx), length(dy)));
}

}  // namespace sluice::hostcuda
