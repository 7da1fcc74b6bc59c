// As much of ELF64 as is needed to find code and names in a program, a library or a cubin. It reads
// untrusted bytes.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <elf.h>

#include "base/file/bytes.hpp"

namespace sluice {

bool is_elf(Bytes bytes);

// elf64_header() is the header of a little-endian ELF64 file, nothing where it is none.
std::optional<Elf64_Ehdr> elf64_header(Bytes bytes);

struct ElfSection {
  Elf64_Shdr header;
  std::string_view name;
  Bytes bytes;  // empty where the section has none in the file
};

// elf_sections() lists the sections whose bytes lie inside the file; nothing where the file is no
// little-endian ELF64 or its section table is damaged. The result points into `bytes`.
std::optional<std::vector<ElfSection>> elf_sections(Bytes bytes);

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name);

struct ElfSymbol {
  Elf64_Sym entry;
  std::string_view name;
};

// elf_symbols() lists the symbols in all sections of a type, SHT_SYMTAB or SHT_DYNSYM.
std::vector<ElfSymbol> elf_symbols(const std::vector<ElfSection>& sections, uint32_t type);

// relocated_words() holds, by address, the 64-bit words of `section` that the dynamic linker writes
// where the file is loaded at 0: the addends of its R_X86_64_RELATIVE relocations.
std::unordered_map<uint64_t, uint64_t> relocated_words(const std::vector<ElfSection>& sections,
                                                       const ElfSection& section);

}  // namespace sluice
