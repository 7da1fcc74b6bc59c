#include "interpose/static_runtime/first_look.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "interpose/static_runtime/runtime_copy.hpp"

namespace sluice::interpose {
namespace {

// Not on the stack: a program's threads may have little.
Elf64_Shdr sections[128];
char text[32768];

// Parts reads parts of a file: false where it has no such part.
class Parts {
 public:
  explicit Parts(const char* path) : file_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Parts() {
    if (file_ >= 0) close(file_);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  bool read(uint64_t offset, void* to, size_t size) const {
    return pread(file_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }

 private:
  int file_;
};

bool is_elf64(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64;
}

// has_section() is nothing where that would take more room.
std::optional<bool> has_section(const Parts& file, const Elf64_Ehdr& header,
                                std::string_view wanted) {
  if (header.e_shstrndx >= header.e_shnum) return false;
  const Elf64_Shdr& names = sections[header.e_shstrndx];
  if (names.sh_size > sizeof text || !file.read(names.sh_offset, text, names.sh_size))
    return std::nullopt;
  return memmem(text, names.sh_size, wanted.data(), wanted.size()) != nullptr;
}

// may_have_name() looks through a table of names piece by piece.
bool may_have_name(const Parts& file, const Elf64_Shdr& names, std::string_view wanted) {
  for (uint64_t offset = 0; offset < names.sh_size;) {
    const size_t size = std::min<uint64_t>(sizeof text, names.sh_size - offset);
    if (!file.read(names.sh_offset + offset, text, size)) return true;
    if (memmem(text, size, wanted.data(), wanted.size()) != nullptr) return true;
    const bool is_last = offset + size == names.sh_size;
    offset += is_last ? size : size - (wanted.size() - 1);
  }
  return false;
}

}  // namespace

bool is_worth_a_look(const char* path) {
  const Parts file(path);
  Elf64_Ehdr header;
  if (!file.read(0, &header, sizeof header) || !is_elf64(header)) return false;
  const size_t count = header.e_shnum;
  if (count > std::size(sections) || header.e_shentsize != sizeof(Elf64_Shdr)) return true;
  if (!file.read(header.e_shoff, sections, count * sizeof(Elf64_Shdr))) return true;
  for (size_t i = 0; i < count; ++i) {
    if (sections[i].sh_type == SHT_SYMTAB) return true;
  }
  if (has_section(file, header, fat_binary_section).value_or(true)) return true;
  for (size_t i = 0; i < count; ++i) {
    const bool exports = sections[i].sh_type == SHT_DYNSYM && sections[i].sh_link < count;
    if (exports && may_have_name(file, sections[sections[i].sh_link], runtime_landmark))
      return true;
  }
  return false;
}

}  // namespace sluice::interpose
