// read_file(): what kind of file it is, and the images in it.
#include <algorithm>
#include <fstream>
#include <limits>
#include <set>

#include "base/file/elf.hpp"
#include "ptx/fat_binary.hpp"
#include "ptx/image/container.hpp"
#include "ptx/image/cubin.hpp"
#include "ptx/image/text.hpp"

namespace sluice::ptx {
namespace {

using image::Container;

constexpr std::string_view what_to_give =
    "give a program or library built by nvcc, a fat binary, a cubin or a .ptx file";

Result<std::vector<std::byte>> load(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  std::streamoff size = stream ? std::streamoff{stream.tellg()} : -1;
  // A directory opens, but has no size that can be read.
  if (size < 0 || size == std::numeric_limits<std::streamoff>::max()) {
    return system_error("can't read the file", path, "check that it exists and may be read");
  }
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  stream.seekg(0);
  if (!stream.read(reinterpret_cast<char*>(bytes.data()), size)) {
    return system_error("can't read the file", path, "check that it is a regular file");
  }
  return bytes;
}

// The addresses of containers that a wrapper of version 2 points at: they hold what nvlink made,
// and the PTX of the same code lies in section __nv_relfatbin.
std::set<uint64_t> linked_containers(const std::vector<ElfSection>& sections) {
  constexpr uint64_t wrapper_size = 24;
  std::set<uint64_t> addresses;
  const ElfSection* wrappers = find_section(sections, ".nvFatBinSegment");
  if (!wrappers) return addresses;
  const auto relocated = relocated_words(sections, *wrappers);
  for (uint64_t at = 0; at + wrapper_size <= wrappers->bytes.size(); at += wrapper_size) {
    if (read_field<uint32_t>(wrappers->bytes, at) != image::wrapper_magic) continue;
    if (read_field<uint32_t>(wrappers->bytes, at + 4) != 2u) continue;
    auto word = relocated.find(wrappers->header.sh_addr + at + 8);
    auto data = word != relocated.end() ? std::optional(word->second)
                                        : read_field<uint64_t>(wrappers->bytes, at + 8);
    if (data) addresses.insert(*data);
  }
  return addresses;
}

Result<std::vector<CodeImage>> images_of_program(const std::vector<ElfSection>& sections) {
  std::vector<CodeImage> images;
  const std::set<uint64_t> linked = linked_containers(sections);
  if (const ElfSection* section = find_section(sections, ".nv_fatbin")) {
    auto containers = image::read_all(section->bytes);
    if (!containers) return tl::unexpected(containers.error());
    for (Container& container : *containers) {
      if (linked.contains(section->header.sh_addr + container.offset)) continue;
      images.push_back({{std::move(container.entries)}});
    }
  }
  if (const ElfSection* section = find_section(sections, "__nv_relfatbin")) {
    auto containers = image::read_all(section->bytes);
    if (!containers) return tl::unexpected(containers.error());
    CodeImage image;
    for (Container& container : *containers)
      image.units.push_back(std::move(container.entries));
    if (!image.units.empty()) images.push_back(std::move(image));
  }
  return images;
}

Result<std::vector<CodeImage>> images_of_elf(Bytes bytes) {
  auto header = read_field<Elf64_Ehdr>(bytes, 0);
  if (header && header->e_machine == image::machine_cuda) {
    CodeEntry entry{CodeEntry::Kind::machine_code, image::cubin_architecture(*header), {}};
    return std::vector<CodeImage>{{{{std::move(entry)}}}};
  }
  auto sections = elf_sections(bytes);
  if (!sections) return invalid_input("not a 64-bit ELF file, or one that is damaged");
  return images_of_program(*sections);
}

Result<std::vector<CodeImage>> images_of(Bytes bytes) {
  if (is_elf(bytes)) return images_of_elf(bytes);
  if (read_field<uint32_t>(bytes, 0) == image::container_magic) {
    auto containers = image::read_all(bytes);
    if (!containers) return tl::unexpected(containers.error());
    std::vector<CodeImage> images;
    for (Container& container : *containers)
      images.push_back({{std::move(container.entries)}});
    return images;
  }
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto entry = image::text_entry(text.substr(0, text.find('\0')));
  if (!entry) return tl::unexpected(entry.error());
  return std::vector<CodeImage>{{{{std::move(*entry)}}}};
}

}  // namespace

Result<std::vector<CodeImage>> read_file(const std::string& path) {
  auto bytes = load(path);
  if (!bytes) return tl::unexpected(bytes.error());
  auto images = images_of(*bytes);
  if (!images) {
    Error error = images.error();
    error.where = error.where.empty() ? path : path + ", " + error.where;
    if (error.remedy.empty()) error.remedy = what_to_give;
    return tl::unexpected(std::move(error));
  }
  if (images->empty()) {
    return invalid_input("there is no CUDA code in the file", path, std::string(what_to_give));
  }
  return images;
}

}  // namespace sluice::ptx
