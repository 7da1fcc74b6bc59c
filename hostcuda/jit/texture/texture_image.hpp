// One image of a texture object.
#pragma once

#include <array>
#include <cstdint>

#include "hostcuda/jit/texture/texture.hpp"

namespace sluice::hostcuda {

// fetch_from() is fetch_texel() of any of the object's images.
Texel fetch_from(const TextureObject& object, const TexelImage& image, uint32_t how, uint32_t layer,
                 const std::array<uint32_t, 3>& coordinates);

}  // namespace sluice::hostcuda
