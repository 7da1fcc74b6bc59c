#include "runtime/calls/symbol_table.hpp"

#include "base/file/elf.hpp"
#include "base/file/mapped_file.hpp"

namespace sluice::runtime {

SymbolTable::SymbolTable(const std::string& path, bool with_names) {
  const Result<MappedFile> file = MappedFile::open(path);
  const auto header = file ? elf64_header(file->bytes()) : std::nullopt;
  if (!header) return;
  is_relocated_ = header->e_type == ET_DYN;
  if (!with_names) return;
  const auto sections = elf_sections(file->bytes());
  if (!sections) return;
  for (const auto& [entry, name] : elf_symbols(*sections, SHT_SYMTAB)) {
    if (ELF64_ST_TYPE(entry.st_info) != STT_FUNC || name.empty()) continue;
    functions_.push_back({entry.st_value, entry.st_size, std::string(name)});
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
