// Symbols and code of an ELF64 file where they lie, without memory of its own: for what runs inside
// the dynamic linker. It reads untrusted bytes.
#pragma once

#include <cstring>
#include <optional>
#include <string_view>

#include <elf.h>

#include "base/file/bytes.hpp"

namespace sluice {

// ElfView is a little-endian ELF64 file whose section table lies inside it.
class ElfView {
 public:
  // of() is nothing where `file` is no such file.
  static std::optional<ElfView> of(Bytes file) {
    const auto header = read_field<Elf64_Ehdr>(file, 0);
    const bool fits =
        header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
        header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
        header->e_shentsize == sizeof(Elf64_Shdr) && header->e_phentsize == sizeof(Elf64_Phdr);
    if (!fits || !slice(file, header->e_shoff, uint64_t{header->e_shnum} * sizeof(Elf64_Shdr)))
      return std::nullopt;
    return ElfView(file, *header);
  }

  Bytes file() const { return file_; }
  size_t section_count() const { return header_.e_shnum; }
  Elf64_Shdr section(size_t index) const {
    return *read_field<Elf64_Shdr>(file_, header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  // bytes() are a section's bytes in the file; empty where it has none or they lie outside.
  Bytes bytes(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return {};
    const auto found = slice(file_, section.sh_offset, section.sh_size);
    return found ? *found : Bytes{};
  }
  bool has_section(std::string_view name) const {
    if (header_.e_shstrndx >= header_.e_shnum) return false;
    const Bytes names = bytes(section(header_.e_shstrndx));
    for (size_t i = 0; i < section_count(); ++i) {
      if (name_at(names, section(i).sh_name) == name) return true;
    }
    return false;
  }
  // program_header() is the first of a type.
  std::optional<Elf64_Phdr> program_header(uint32_t type) const {
    for (size_t i = 0; i < header_.e_phnum; ++i) {
      const auto header = segment(i);
      if (header && header->p_type == type) return header;
    }
    return std::nullopt;
  }
  // code_segment() is the executable segment that holds an address of the file.
  std::optional<Elf64_Phdr> code_segment(uint64_t address) const {
    for (size_t i = 0; i < header_.e_phnum; ++i) {
      const auto header = segment(i);
      const bool holds = header && header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0 &&
                         address - header->p_vaddr < header->p_filesz;
      if (holds) return header;
    }
    return std::nullopt;
  }
  // code_at() is the code from an address to at most `size` bytes on; empty where there is none.
  Bytes code_at(uint64_t address, uint64_t size) const {
    const auto segment = code_segment(address);
    if (!segment) return {};
    const uint64_t within = address - segment->p_vaddr;
    const uint64_t rest = segment->p_filesz - within;
    const auto found = slice(file_, segment->p_offset + within, size < rest ? size : rest);
    return found ? *found : Bytes{};
  }

  // name_at() is a name in a table of names; empty where it does not end inside.
  static std::string_view name_at(Bytes names, uint64_t offset) {
    if (offset >= names.size()) return {};
    const char* const name = reinterpret_cast<const char*>(names.data()) + offset;
    const size_t length = strnlen(name, names.size() - offset);
    return length == names.size() - offset ? std::string_view{} : std::string_view{name, length};
  }

 private:
  ElfView(Bytes file, const Elf64_Ehdr& header) : file_(file), header_(header) {}
  std::optional<Elf64_Phdr> segment(size_t index) const {
    return read_field<Elf64_Phdr>(file_, header_.e_phoff + index * sizeof(Elf64_Phdr));
  }

  Bytes file_;
  Elf64_Ehdr header_;
};

// ElfSymbols is the first table of symbols of a type, SHT_SYMTAB or SHT_DYNSYM; empty where there
// is none.
class ElfSymbols {
 public:
  ElfSymbols() = default;
  ElfSymbols(const ElfView& elf, uint32_t type) {
    for (size_t i = 0; i < elf.section_count(); ++i) {
      const Elf64_Shdr section = elf.section(i);
      if (section.sh_type != type || section.sh_link >= elf.section_count()) continue;
      entries_ = elf.bytes(section);
      names_ = elf.bytes(elf.section(section.sh_link));
      return;
    }
  }

  size_t size() const { return entries_.size() / sizeof(Elf64_Sym); }
  Elf64_Sym operator[](size_t index) const {
    return *read_field<Elf64_Sym>(entries_, index * sizeof(Elf64_Sym));
  }
  // name() goes without the version that a linker may have added ("cudaFree@@libcudart.so.13").
  std::string_view name(const Elf64_Sym& symbol) const {
    const std::string_view whole = ElfView::name_at(names_, symbol.st_name);
    const size_t end = whole.find('@');
    return end == std::string_view::npos ? whole : std::string_view{whole.data(), end};
  }
  // begins() is whether a symbol's name begins so.
  bool begins(const Elf64_Sym& symbol, std::string_view text) const {
    const auto found = slice(names_, symbol.st_name, text.size());
    return found && std::memcmp(found->data(), text.data(), text.size()) == 0;
  }
  // may_have() is false where no name contains `text`; it only looks through the table of names.
  bool may_have(std::string_view text) const {
    return memmem(names_.data(), names_.size(), text.data(), text.size()) != nullptr;
  }

 private:
  Bytes entries_;
  Bytes names_;
};

// is_defined_function() is true of a function that the file itself has, also of one that is chosen
// when the file is loaded (IFUNC).
inline bool is_defined_function(const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF;
}

}  // namespace sluice
