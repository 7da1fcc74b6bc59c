// What the header of a cubin says.
#pragma once

#include <cstdint>

#include <elf.h>

namespace sluice::ptx::image {

constexpr uint16_t machine_cuda = 190;  // e_machine of a cubin

// cubin_architecture() is 75 for sm_75; `header` is that of a cubin.
inline uint32_t cubin_architecture(const Elf64_Ehdr& header) {
  // ABI version 8 (toolkit 13) moved the architecture up by one byte.
  const uint32_t shift = header.e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
  return (header.e_flags >> shift) & 0xFF;
}

}  // namespace sluice::ptx::image
