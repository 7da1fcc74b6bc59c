#include "hostcuda/jit/texture/texture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "hostcuda/jit/texture/texel_format.hpp"
#include "hostcuda/jit/texture/texture_image.hpp"
#include "ptx/texture_call.hpp"

namespace sluice::hostcuda {
namespace {

namespace call = ptx::texture_call;

// Index is a texel in each direction; outside, the border is read.
struct Index {
  int64_t x = 0, y = 0, z = 0;
  uint32_t layer = 0;
};

bool is_inside(const TexelImage& image, const Index& index) {
  return index.x >= 0 && index.x < image.width && index.y >= 0 && index.y < image.height &&
         index.z >= 0 && index.z < image.depth;
}

const std::byte* texel_place(const TexelImage& image, const Index& index) {
  return image.data + static_cast<uint64_t>(index.x) * image.texel_bytes() +
         static_cast<uint64_t>(index.y) * image.row_bytes +
         (static_cast<uint64_t>(index.z) + index.layer) * image.slice_bytes;
}

using Color = std::array<float, 4>;

Color read_color(const TextureObject& object, const TexelImage& image, const Index& index) {
  if (!is_inside(image, index)) return object.is_linear_memory ? Color{} : object.border;
  const std::byte* place = texel_place(image, index);
  Color color = {0, 0, 0, 1};
  // Nearly all textures hold floats, and copies of known size are single instructions.
  if (image.format == TexelFormat::f32) {
    if (image.channels == 1) {
      std::memcpy(color.data(), place, sizeof(float));
    } else if (image.channels == 2) {
      std::memcpy(color.data(), place, 2 * sizeof(float));
    } else {
      std::memcpy(color.data(), place, 4 * sizeof(float));
    }
    return color;
  }
  for (uint32_t channel = 0; channel < image.channels; ++channel) {
    color[channel] = read_channel(image.format, object.reads_normalized,
                                  place + size_t{channel} * bytes_of(image.format));
  }
  return color;
}

Texel read_integers(const TextureObject& object, const TexelImage& image, const Index& index) {
  Texel texel = {0, 0, 0, 1};
  if (!is_inside(image, index)) {
    if (object.is_linear_memory) return {};
    std::transform(object.border.begin(), object.border.end(), texel.begin(),
                   [](float value) { return static_cast<uint32_t>(static_cast<int64_t>(value)); });
    return texel;
  }
  const std::byte* place = texel_place(image, index);
  for (uint32_t channel = 0; channel < image.channels; ++channel) {
    texel[channel] = static_cast<uint32_t>(
        read_integer(image.format, place + size_t{channel} * bytes_of(image.format)));
  }
  return texel;
}

// addressed() applies an address mode to a texel index; what stays outside reads the border.
int64_t addressed(int64_t index, uint32_t extent, AddressMode mode) {
  const int64_t size = extent;
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case AddressMode::clamp:
      return std::clamp<int64_t>(index, 0, size - 1);
    case AddressMode::wrap:
      return ((index % size) + size) % size;
    case AddressMode::mirror: {
      const int64_t turn = ((index % (2 * size)) + 2 * size) % (2 * size);
      return turn < size ? turn : 2 * size - 1 - turn;
    }
    case AddressMode::border:
      break;
  }
  return index;
}

// Axis is where a coordinate falls: the texel, and for filtering the weight of the next one.
struct Axis {
  int64_t first = 0;
  int64_t second = 0;
  float weight = 0;
};

Axis place_on_axis(const TextureObject& object, unsigned axis, uint32_t extent, float coordinate,
                   bool filters) {
  // Wrapping and mirroring are defined for normalized coordinates; others clamp.
  AddressMode mode = object.address[axis];
  if (!object.normalized && mode != AddressMode::border) mode = AddressMode::clamp;
  float position = object.normalized ? coordinate * static_cast<float>(extent) : coordinate;
  if (filters) position -= 0.5F;
  // Far outside, and for NaN, any place far outside will do.
  constexpr float farthest = 1e9F;
  if (!(std::fabs(position) < farthest)) position = position > 0 ? farthest : -farthest;
  // The integer below, without a call of the math library.
  auto index = static_cast<int64_t>(position);
  if (static_cast<float>(index) > position) --index;
  if (!filters) {
    const int64_t place = addressed(index, extent, mode);
    return {place, place, 0};
  }
  const float rest = position - static_cast<float>(index);
  const float weight = static_cast<float>(static_cast<int>(rest * 256.0F + 0.5F)) / 256.0F;
  return {addressed(index, extent, mode), addressed(index + 1, extent, mode), weight};
}

struct Sampler {
  const TextureObject& object;
  const TexelImage& image;
  std::array<Axis, 3> axes;
  uint32_t layer;

  Index index(unsigned corner) const {
    const auto pick = [&](unsigned axis) {
      return (corner >> axis & 1) != 0 ? axes[axis].second : axes[axis].first;
    };
    return {pick(0), pick(1), pick(2), layer};
  }

  Color filtered(unsigned dimensions) const {
    Color sum = {};
    for (unsigned corner = 0; corner < 1U << dimensions; ++corner) {
      float weight = 1;
      for (unsigned axis = 0; axis < dimensions; ++axis) {
        weight *= (corner >> axis & 1) != 0 ? axes[axis].weight : 1 - axes[axis].weight;
      }
      if (weight == 0) continue;
      const Color color = read_color(object, image, index(corner));
      for (size_t channel = 0; channel < 4; ++channel)
        sum[channel] += weight * color[channel];
    }
    return sum;
  }
};

Texel bits_of(const Color& color) {
  Texel texel;
  std::transform(color.begin(), color.end(), texel.begin(),
                 [](float value) { return std::bit_cast<uint32_t>(value); });
  return texel;
}

// The face of a cube map and the place on it, by the table of the CUDA programming guide.
uint32_t cube_face(std::array<float, 3>& at) {
  const auto [x, y, z] = at;
  const float ax = std::fabs(x);
  const float ay = std::fabs(y);
  const float az = std::fabs(z);
  uint32_t face = 0;
  float major = ax;
  float s = 0;
  float t = 0;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z;
    t = -y;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3;
    major = ay;
    s = x;
    t = y >= 0 ? z : -z;
  } else {
    face = z >= 0 ? 4 : 5;
    major = az;
    s = z >= 0 ? x : -x;
    t = -y;
  }
  at = {(s / major + 1) / 2, (t / major + 1) / 2, 0};
  return face;
}

unsigned dimensions_of(uint32_t geometry) {
  switch (geometry) {
    case call::one:
    case call::one_layered:
      return 1;
    case call::three:
      return 3;
    default:
      return 2;
  }
}

// tld4: one component of the four texels, from the lower left against the clock.
Texel gathered(const Sampler& sampler, uint32_t how) {
  const uint32_t component = how >> call::component_shift & 3;
  constexpr unsigned corners[4] = {2, 3, 1, 0};
  Texel texel;
  for (size_t i = 0; i < 4; ++i) {
    const Index index = sampler.index(corners[i]);
    texel[i] =
        (how & call::float_result) != 0
            ? std::bit_cast<uint32_t>(read_color(sampler.object, sampler.image, index)[component])
            : read_integers(sampler.object, sampler.image, index)[component];
  }
  return texel;
}

}  // namespace

Texel fetch_from(const TextureObject& object, const TexelImage& image, uint32_t how, uint32_t layer,
                 const std::array<uint32_t, 3>& coordinates) {
  const uint32_t geometry = how & call::geometry_mask;
  const unsigned dimensions = dimensions_of(geometry);
  const bool is_cube = geometry == call::cube || geometry == call::cube_layered;
  // A layer beyond the last is the last; the bits of a negative one are beyond it too.
  const auto clamped = [&](uint32_t wanted, uint32_t count) {
    if (static_cast<int32_t>(wanted) < 0) return 0U;
    return std::min(wanted, count - 1);
  };
  if ((how & call::integer_coordinates) != 0) {
    Index index;
    index.layer = clamped(layer, image.layers);
    const auto at = [&](unsigned axis, uint32_t extent) -> int64_t {
      if (axis >= dimensions) return 0;
      const int64_t place = static_cast<int32_t>(coordinates[axis]);
      if (object.is_linear_memory) return place;
      const bool has_border = object.address[axis] == AddressMode::border;
      return addressed(place, extent, has_border ? AddressMode::border : AddressMode::clamp);
    };
    index.x = at(0, image.width);
    index.y = at(1, image.height);
    index.z = at(2, image.depth);
    return (how & call::float_result) != 0 ? bits_of(read_color(object, image, index))
                                           : read_integers(object, image, index);
  }
  std::array<float, 3> at = {};
  for (unsigned i = 0; i < 3; ++i)
    at[i] = std::bit_cast<float>(coordinates[i]);
  uint32_t number = layer;
  if (is_cube) {
    const uint32_t face = cube_face(at);
    number = (geometry == call::cube_layered ? clamped(layer, image.layers / 6) * 6 : 0) + face;
  }
  const bool gathers = (how & call::gather) != 0;
  const bool filters = gathers || (object.filters && (how & call::float_result) != 0);
  Sampler sampler{object, image, {}, clamped(number, image.layers)};
  const uint32_t extents[3] = {image.width, image.height, image.depth};
  for (unsigned axis = 0; axis < dimensions; ++axis) {
    sampler.axes[axis] = place_on_axis(object, axis, extents[axis], at[axis], filters);
  }
  if (gathers) return gathered(sampler, how);
  if (filters) return bits_of(sampler.filtered(dimensions));
  return (how & call::float_result) != 0 ? bits_of(read_color(object, image, sampler.index(0)))
                                         : read_integers(object, image, sampler.index(0));
}

Texel fetch_texel(const TextureObject& object, uint32_t how, uint32_t layer,
                  const std::array<uint32_t, 3>& coordinates) {
  return fetch_from(object, object.image, how, layer, coordinates);
}

std::byte* surface_place(const TextureObject& object, uint32_t how, uint32_t layer,
                         const std::array<int32_t, 3>& coordinates) {
  const TexelImage& image = object.image;
  const int64_t unit = (how & call::formatted) != 0 ? image.texel_bytes() : 1;
  const int64_t bytes = (how & call::formatted) != 0
                            ? image.texel_bytes()
                            : static_cast<int64_t>(how >> call::bytes_shift);
  const int64_t row = int64_t{image.width} * image.texel_bytes();
  int64_t x = coordinates[0] * unit;
  int64_t y = coordinates[1];
  int64_t z = coordinates[2];
  int64_t plane = layer;
  if ((how & call::clamps) != 0) {
    x = std::clamp<int64_t>(x, 0, row - bytes);
    y = std::clamp<int64_t>(y, 0, image.height - 1);
    z = std::clamp<int64_t>(z, 0, image.depth - 1);
    plane = std::clamp<int64_t>(plane, 0, image.layers - 1);
  }
  if (x < 0 || x + bytes > row || y < 0 || y >= image.height || z < 0 || z >= image.depth ||
      plane < 0 || plane >= image.layers) {
    return nullptr;
  }
  return image.data + x + static_cast<uint64_t>(y) * image.row_bytes +
         static_cast<uint64_t>(z + plane) * image.slice_bytes;
}

}  // namespace sluice::hostcuda
