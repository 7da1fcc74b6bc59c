// What compiled kernels call for the functions of ptx/texture_call.hpp.
#pragma once

#include <cstdint>

namespace sluice::hostcuda::jit {

__extension__ using Packed = unsigned __int128;

extern "C" {
Packed sluice_texture_fetch(uint64_t object, uint32_t how, uint32_t layer, uint32_t x, uint32_t y,
                            uint32_t z);
Packed sluice_texture_fetch_level(uint64_t object, uint32_t how, uint32_t layer, uint32_t x,
                                  uint32_t y, uint32_t z, uint32_t level);
uint32_t sluice_texture_level(uint64_t object, uint32_t dx0, uint32_t dx1, uint32_t dx2,
                              uint32_t dy0, uint32_t dy1, uint32_t dy2);
Packed sluice_surface_load(uint64_t object, uint32_t how, uint32_t layer, uint32_t x, uint32_t y,
                           uint32_t z);
void sluice_surface_store(uint64_t object, uint32_t how, uint32_t layer, uint32_t x, uint32_t y,
                          uint32_t z, uint64_t low, uint64_t high);
uint32_t sluice_texture_query(uint64_t object, uint32_t property);
}

}  // namespace sluice::hostcuda::jit
