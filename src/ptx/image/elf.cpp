#include "ptx/image/elf.hpp"

#include <algorithm>

namespace sluice::ptx::image {
namespace {

// A name in the section of names; empty where it is not terminated inside.
std::string_view section_name(Bytes names, uint32_t offset) {
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

uint32_t cubin_architecture(const Elf64_Ehdr& header) {
  // ABI version 8 (toolkit 13) moved the architecture up by one byte.
  uint32_t shift = header.e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
  return (header.e_flags >> shift) & 0xFF;
}

std::optional<std::vector<ElfSection>> elf_sections(Bytes bytes) {
  auto header = read_field<Elf64_Ehdr>(bytes, 0);
  if (!header || !is_elf(bytes) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr)) {
    return std::nullopt;
  }
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
    section.name = section_name(sections[names_index].bytes, section.header.sh_name);
  }
  return sections;
}

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name) {
  auto found = std::ranges::find(sections, name, &ElfSection::name);
  return found == sections.end() ? nullptr : &*found;
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

}  // namespace sluice::ptx::image
