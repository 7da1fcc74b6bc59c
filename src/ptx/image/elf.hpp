// As much of ELF64 as is needed to find CUDA code in a file.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <elf.h>

#include "ptx/image/bytes.hpp"

namespace sluice::ptx::image {

constexpr uint16_t machine_cuda = 190;  // e_machine of a cubin

bool is_elf(Bytes bytes);

// cubin_architecture() is 75 for sm_75; `header` is that of a cubin.
uint32_t cubin_architecture(const Elf64_Ehdr& header);

struct ElfSection {
  Elf64_Shdr header;
  std::string_view name;
  Bytes bytes;  // empty where the section has none in the file
};

// elf_sections() lists the sections whose bytes lie inside the file; nothing where the file is no
// little-endian ELF64 or its section table is damaged. The result points into `bytes`.
std::optional<std::vector<ElfSection>> elf_sections(Bytes bytes);

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name);

// relocated_word() is the 64-bit word at `address` as the dynamic linker leaves it for a file that
// is loaded at 0: the addend of its R_X86_64_RELATIVE relocation, else what the file holds.
std::optional<uint64_t> relocated_word(const std::vector<ElfSection>& sections,
                                       const ElfSection& section, uint64_t address);

}  // namespace sluice::ptx::image
