#include "runtime/races/symbol_table.hpp"

#include <cstring>
#include <fstream>
#include <optional>

#include <elf.h>

namespace sluice::runtime {
namespace {

template <class Header>
std::optional<Header> read_at(std::ifstream& file, uint64_t place) {
  Header header;
  file.clear();
  file.seekg(static_cast<std::streamoff>(place));
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  return header;
}

// section_bytes() reads a section whole; empty where it goes past the file's end.
std::string section_bytes(std::ifstream& file, const Elf64_Shdr& section) {
  constexpr uint64_t largest = uint64_t{1} << 28;
  if (section.sh_size > largest) return {};
  std::string bytes(section.sh_size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(section.sh_offset));
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return {};
  return bytes;
}

}  // namespace

SymbolTable::SymbolTable(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
    return;
  }
  is_relocated_ = header->e_type == ET_DYN;
  const auto section = [&](uint64_t number) {
    return read_at<Elf64_Shdr>(file, header->e_shoff + number * sizeof(Elf64_Shdr));
  };
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols || symbols->sh_type != SHT_SYMTAB) continue;
    const auto strings = section(symbols->sh_link);
    if (!strings) return;
    const std::string table = section_bytes(file, *symbols), names = section_bytes(file, *strings);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, table.data() + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= names.size()) continue;
      const char* name = names.data() + symbol.st_name;
      functions_.push_back({symbol.st_value, symbol.st_size,
                            std::string(name, strnlen(name, names.size() - symbol.st_name))});
    }
  }
}

std::string SymbolTable::function_at(uint64_t address) const {
  for (const Function& function : functions_) {
    if (address >= function.address && address - function.address < function.bytes) {
      return function.name;
    }
  }
  return {};
}

}  // namespace sluice::runtime
