#include "interpose/run_time_code/remembered_code.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include <elf.h>

#include "base/cache_folder.hpp"
#include "base/digest.hpp"
#include "interpose/shim.hpp"

namespace sluice::interpose {
namespace {

// Code is what was made here, by digest. Never destroyed.
struct Code {
  std::mutex mutex;
  std::map<std::string, std::string> made;  // guarded by mutex
  const std::string folder = cache_path("SLUICE_ANALYSIS_CACHE", "analysis");
  const std::optional<CacheFolder> cache =
      folder.empty() ? std::nullopt : std::optional<CacheFolder>(folder);
};
Code& code() {
  static auto* const all = new Code;
  return *all;
}

// elf_size() is up to where the header and the section table say that a file goes; 0 where it is no
// ELF64. It reads as far as they say, as the driver does.
size_t elf_size(const void* image) {
  Elf64_Ehdr header = {};
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0) return 0;
  std::memcpy(&header, image, sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) return 0;
  size_t end = header.e_shoff + size_t{header.e_shnum} * sizeof(Elf64_Shdr);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section = {};
    std::memcpy(&section, static_cast<const char*>(image) + header.e_shoff + i * sizeof(Elf64_Shdr),
                sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end;
}

// name_of() is the name under which an image's PTX is kept.
std::string name_of(const void* image, size_t size) {
  return digest("made of PTX " + digest({static_cast<const char*>(image), size}));
}

}  // namespace

std::optional<std::string> remembered_ptx(const void* image) {
  const size_t size = image == nullptr ? 0 : elf_size(image);
  if (size == 0) return std::nullopt;
  const std::string name = name_of(image, size);
  const std::lock_guard lock(code().mutex);
  if (const auto found = code().made.find(name); found != code().made.end()) return found->second;
  return code().cache ? code().cache->load(name) : std::nullopt;
}

void remember_code(const void* image, size_t size, const char* ptx, size_t ptx_size) {
  const KeepErrno keep;
  const size_t own_size = size < sizeof(Elf64_Ehdr) ? 0 : elf_size(image);
  if (own_size == 0 || own_size > size) return;
  const std::string name = name_of(image, own_size);
  const std::string text(ptx, strnlen(ptx, ptx_size));
  const std::lock_guard lock(code().mutex);
  if (code().made.insert_or_assign(name, text).second && code().cache) {
    code().cache->store(name, text);
  }
}

}  // namespace sluice::interpose
