#include "kernel_case.hpp"

namespace sluice::footprints {

std::vector<KernelCase> texture_cases() {
  // No thread is within the bounds, so the handles are never looked at.
  const std::vector<Argument> none = {scalar(uint64_t{0}), buffer(512), scalar(0)};
  return {
      {.kernel = "texture_fetch",
       .grid = {4},
       .block = {8},
       .arguments = none,
       .footprint = {"opaque: sluice.texture.fetch"},
       .wider_than_ideal = "the texture's array as a buffer"},
      {.kernel = "surface_write",
       .grid = {4},
       .block = {8},
       .arguments = none,
       .footprint = {"opaque: sluice.surface.store"},
       .wider_than_ideal = "the surface's array as a buffer"},
  };
}

}  // namespace sluice::footprints
