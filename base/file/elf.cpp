#include "base/file/elf.hpp"

#include <algorithm>

namespace sluice {
namespace {

// A name in a section of names; empty where it is not terminated inside.
std::string_view name_at(Bytes names, uint32_t offset) {
  if (offset >= names.size()) return {};
  std::string_view rest(reinterpret_cast<const char*>(names.data()) + offset,
                        names.size() - offset);
  size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

}  // namespace

bool is_elf(Bytes bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

std::optional<Elf64_Ehdr> elf64_header(Bytes bytes) {
  auto header = read_field<Elf64_Ehdr>(bytes, 0);
  const bool fits = header && is_elf(bytes) && header->e_ident[EI_CLASS] == ELFCLASS64 &&
                    header->e_ident[EI_DATA] == ELFDATA2LSB;
  return fits ? header : std::nullopt;
}

std::optional<std::vector<ElfSection>> elf_sections(Bytes bytes) {
  auto header = elf64_header(bytes);
  if (!header || header->e_shentsize != sizeof(Elf64_Shdr)) return std::nullopt;
  // With 0xff00 or more sections, the first section header holds their number and that of names.
  auto first = read_field<Elf64_Shdr>(bytes, header->e_shoff);
  if (!first) return std::nullopt;
  uint64_t count = header->e_shnum != 0 ? header->e_shnum : first->sh_size;
  uint64_t names_index = header->e_shstrndx != SHN_XINDEX ? header->e_shstrndx : first->sh_link;
  if (count > bytes.size() / sizeof(Elf64_Shdr) || names_index >= count) return std::nullopt;
  std::vector<ElfSection> sections;
  for (uint64_t i = 0; i < count; ++i) {
    auto section = read_field<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return std::nullopt;
    std::optional<Bytes> content = Bytes{};
    if (section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL) {
      content = slice(bytes, section->sh_offset, section->sh_size);
    }
    if (!content) return std::nullopt;
    sections.push_back({*section, {}, *content});
  }
  for (ElfSection& section : sections) {
    section.name = name_at(sections[names_index].bytes, section.header.sh_name);
  }
  return sections;
}

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name) {
  auto found = std::ranges::find(sections, name, &ElfSection::name);
  return found == sections.end() ? nullptr : &*found;
}

std::vector<ElfSymbol> elf_symbols(const std::vector<ElfSection>& sections, uint32_t type) {
  std::vector<ElfSymbol> symbols;
  for (const ElfSection& table : sections) {
    if (table.header.sh_type != type || table.header.sh_link >= sections.size()) continue;
    const Bytes names = sections[table.header.sh_link].bytes;
    for (uint64_t at = 0; auto entry = read_field<Elf64_Sym>(table.bytes, at);
         at += sizeof(Elf64_Sym)) {
      symbols.push_back({*entry, name_at(names, entry->st_name)});
    }
  }
  return symbols;
}

std::unordered_map<uint64_t, uint64_t> relocated_words(const std::vector<ElfSection>& sections,
                                                       const ElfSection& section) {
  std::unordered_map<uint64_t, uint64_t> words;
  for (const ElfSection& table : sections) {
    if (table.header.sh_type != SHT_RELA) continue;
    for (uint64_t at = 0; auto entry = read_field<Elf64_Rela>(table.bytes, at);
         at += sizeof(Elf64_Rela)) {
      bool inside = entry->r_offset - section.header.sh_addr < section.bytes.size();
      if (inside && ELF64_R_TYPE(entry->r_info) == R_X86_64_RELATIVE) {
        words[entry->r_offset] = static_cast<uint64_t>(entry->r_addend);
      }
    }
  }
  return words;
}

}  // namespace sluice
