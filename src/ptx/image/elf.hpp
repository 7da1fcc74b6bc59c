// As much of ELF64 as is needed to find CUDA code in a file.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
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

// relocated_words() holds, by address, the 64-bit words of `section` that the dynamic linker writes
// where the file is loaded at 0: the addends of its R_X86_64_RELATIVE relocations.
std::unordered_map<uint64_t, uint64_t> relocated_words(const std::vector<ElfSection>& sections,
                                                       const ElfSection& section);

}  // namespace sluice::ptx::image
