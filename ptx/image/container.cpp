#include "ptx/image/container.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/file/elf.hpp"
#include "ptx/image/decompress.hpp"

namespace sluice::ptx::image {
namespace {

constexpr uint16_t kind_ptx = 1;
constexpr uint16_t kind_elf = 2;
constexpr uint64_t flag_lz4 = 0x2000;
constexpr uint64_t flag_zstd = 0x8000;

struct EntryHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t header_size;
  uint64_t payload_size;  // padded to 8
  uint32_t compressed_size;
  uint32_t options_offset;
  uint16_t minor;
  uint16_t major;
  uint32_t architecture;
  uint32_t name_offset;
  uint32_t name_size;
  uint64_t flags;
  uint64_t reserved;
  uint64_t uncompressed_size;
};
static_assert(sizeof(EntryHeader) == 64);

tl::unexpected<Error> damaged(std::string what, uint64_t offset) {
  return invalid_input(std::move(what), fmt::format("fat binary, byte {}", offset),
                       "the file is damaged or of an unknown format; build it again");
}

Result<std::string> ptx_text(const EntryHeader& header, Bytes payload, uint64_t offset) {
  std::string text;
  if ((header.flags & (flag_lz4 | flag_zstd)) == 0) {
    text.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
  } else {
    auto compressed = slice(payload, 0, header.compressed_size);
    if (!compressed) return damaged("compressed PTX runs past the end of its entry", offset);
    Compression method = header.flags & flag_zstd ? Compression::zstd : Compression::lz4;
    auto plain = decompress(method, *compressed, header.uncompressed_size);
    if (!plain) return damaged(plain.error().what, offset);
    text = std::move(*plain);
  }
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

// nvcc's linker adds a cubin without any function to each program.
bool holds_functions(Bytes cubin) {
  const auto sections = elf_sections(cubin);
  return !sections || std::ranges::any_of(*sections, [](const ElfSection& section) {
    return section.name.starts_with(".text");
  });
}

Result<std::vector<CodeEntry>> read_entries(Bytes bytes, uint64_t base) {
  std::vector<CodeEntry> entries;
  for (uint64_t at = 0; at < bytes.size();) {
    auto header = read_field<EntryHeader>(bytes, at);
    if (!header) return damaged("the header of an entry is cut off", base + at);
    if (header->header_size < sizeof(EntryHeader)) {
      return damaged(fmt::format("an entry's header of {} bytes is too short", header->header_size),
                     base + at);
    }
    auto payload = slice(bytes, at + header->header_size, header->payload_size);
    if (!payload) {
      return damaged(fmt::format("an entry of {} bytes runs past the end", header->payload_size),
                     base + at);
    }
    const bool is_compressed = (header->flags & (flag_lz4 | flag_zstd)) != 0;
    if (header->kind == kind_ptx) {
      auto text = ptx_text(*header, *payload, base + at);
      if (!text) return tl::unexpected(text.error());
      entries.push_back(
          {CodeEntry::Kind::ptx, header->architecture, std::move(*text), is_compressed});
    } else if (header->kind == kind_elf && (is_compressed || holds_functions(*payload))) {
      entries.push_back({CodeEntry::Kind::machine_code, header->architecture, {}, is_compressed});
    }
    // Other kinds (LTO intermediate code and its indices) are for NVIDIA's linker only.
    at += header->header_size + header->payload_size;
  }
  return entries;
}

}  // namespace

Result<std::vector<Container>> read_all(Bytes bytes) {
  std::vector<Container> containers;
  for (uint64_t at = 0; at < bytes.size();) {
    if (bytes[at] == std::byte{0}) {
      ++at;
      continue;
    }
    auto header = read_field<ContainerHeader>(bytes, at);
    if (!header || header->magic != container_magic) {
      return damaged("expected a fat binary container (magic 0xBA55ED50)", at);
    }
    if (header->version != 1 || header->header_size < sizeof(ContainerHeader)) {
      return damaged(fmt::format("container version {} is unknown", header->version), at);
    }
    auto payload = slice(bytes, at + header->header_size, header->size);
    if (!payload) {
      return damaged(fmt::format("a container of {} bytes runs past the end", header->size), at);
    }
    auto entries = read_entries(*payload, at + header->header_size);
    if (!entries) return tl::unexpected(entries.error());
    containers.push_back({at, std::move(*entries)});
    at += header->header_size + header->size;
  }
  return containers;
}

}  // namespace sluice::ptx::image
