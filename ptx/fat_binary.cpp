#include "ptx/fat_binary.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "ptx/image/container.hpp"
#include "ptx/image/cubin.hpp"
#include "ptx/image/text.hpp"

namespace sluice::ptx {
namespace {

// The wrapper that a program hands over; it lies in the program's own memory.
struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const void* data;
  const void* const* units;  // version 2: ends with a null pointer
};

uint32_t magic_of(const void* image) {
  uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  return magic;
}

Result<std::vector<CodeEntry>> read_container(const void* data) {
  image::ContainerHeader header;
  std::memcpy(&header, data, sizeof header);
  uint64_t size = 0;
  if (__builtin_add_overflow(header.size, header.header_size, &size)) {
    return invalid_input("a container's size is damaged", "fat binary");
  }
  return read_containers({static_cast<const std::byte*>(data), size});
}

// A unit of a device-linked image is a container, or a wrapper of version 1 around one.
Result<std::vector<CodeEntry>> read_unit(const void* unit) {
  if (unit && magic_of(unit) == image::wrapper_magic) {
    Wrapper wrapper;
    std::memcpy(&wrapper, unit, sizeof wrapper);
    unit = wrapper.data;
  }
  if (!unit || magic_of(unit) != image::container_magic) {
    return invalid_input("expected a container (magic 0xBA55ED50)", "fat binary");
  }
  return read_container(unit);
}

Result<CodeImage> read_wrapper(const void* image) {
  Wrapper wrapper;
  std::memcpy(&wrapper, image, sizeof wrapper);
  CodeImage read;
  if (wrapper.version == 2 && wrapper.units) {
    for (const void* const* unit = wrapper.units; *unit; ++unit) {
      auto entries = read_unit(*unit);
      if (!entries) return tl::unexpected(entries.error());
      read.units.push_back(std::move(*entries));
    }
  }
  if (!read.units.empty()) return read;
  auto entries = read_unit(wrapper.data);
  if (!entries) return tl::unexpected(entries.error());
  read.units.push_back(std::move(*entries));
  return read;
}

// "machine code for sm_75 and sm_90 only, no PTX", or "no code".
std::string without_ptx(const std::vector<CodeEntry>& unit) {
  std::set<uint32_t> architectures;
  for (const CodeEntry& entry : unit)
    architectures.insert(entry.architecture);
  if (architectures.empty()) return "no code";
  std::string names;
  for (uint32_t architecture : architectures) {
    if (!names.empty()) names += architecture == *architectures.rbegin() ? " and " : ", ";
    names += fmt::format("sm_{}", architecture);
  }
  return fmt::format("machine code for {} only, no PTX", names);
}

// newest_of() is the entry of that kind with the highest architecture that `takes` accepts, or
// null.
template <class Takes>
const CodeEntry* newest_of(const std::vector<CodeEntry>& unit, CodeEntry::Kind kind,
                           Takes&& takes) {
  const CodeEntry* best = nullptr;
  for (const CodeEntry& entry : unit) {
    if (entry.kind != kind || !takes(entry.architecture)) continue;
    if (best == nullptr || entry.architecture > best->architecture) best = &entry;
  }
  return best;
}

const CodeEntry* newest_ptx(const std::vector<CodeEntry>& unit, uint32_t newest) {
  return newest_of(unit, CodeEntry::Kind::ptx, [&](uint32_t one) { return one <= newest; });
}

// Why there is no PTX up to `newest` in a unit.
std::string without_ptx_up_to(const std::vector<CodeEntry>& unit, uint32_t newest) {
  const CodeEntry* oldest = nullptr;
  for (const CodeEntry& entry : unit) {
    if (entry.kind != CodeEntry::Kind::ptx) continue;
    if (oldest == nullptr || entry.architecture < oldest->architecture) oldest = &entry;
  }
  if (oldest == nullptr) return without_ptx(unit);
  return fmt::format("PTX from compute_{} on only, and the device takes up to compute_{}",
                     oldest->architecture, newest);
}

}  // namespace

std::string CodeImage::other_code(uint32_t architecture) const {
  // Machine code runs on devices of its generation, from its own number on.
  const auto runs = [&](uint32_t one) {
    return one / 10 == architecture / 10 && one <= architecture;
  };
  for (const std::vector<CodeEntry>& unit : units) {
    const CodeEntry* machine = newest_of(unit, CodeEntry::Kind::machine_code, runs);
    const CodeEntry* ptx = newest_ptx(unit, architecture);
    if (machine == nullptr || ptx == nullptr || machine->architecture == ptx->architecture)
      continue;
    return fmt::format("the device runs machine code for sm_{}, and PTX for compute_{} is analysed",
                       machine->architecture, ptx->architecture);
  }
  return {};
}

Result<std::vector<std::string>> CodeImage::best_ptx(uint32_t newest) const {
  if (units.empty()) return unsupported("the code image holds no code");
  std::vector<std::string> texts;
  for (const std::vector<CodeEntry>& unit : units) {
    const CodeEntry* best = newest_ptx(unit, newest);
    if (best == nullptr) {
      std::string which = units.size() == 1 ? "the code image"
                                            : fmt::format("unit {} of {} of the code image",
                                                          &unit - units.data() + 1, units.size());
      return unsupported(which + " holds " + without_ptx_up_to(unit, newest), {},
                         "rebuild with -gencode arch=compute_75,code=compute_75");
    }
    texts.push_back(best->ptx);
  }
  return texts;
}

Result<std::vector<CodeEntry>> read_containers(std::span<const std::byte> bytes) {
  auto containers = image::read_all(bytes);
  if (!containers) return tl::unexpected(containers.error());
  std::vector<CodeEntry> entries;
  for (image::Container& container : *containers) {
    std::ranges::move(container.entries, std::back_inserter(entries));
  }
  return entries;
}

Result<CodeImage> read_image(const void* image) {
  if (!image) return invalid_input("the code image is a null pointer");
  // Text may be shorter than a magic number, and no magic number holds a zero.
  const char* text = static_cast<const char*>(image);
  if (strnlen(text, sizeof(uint32_t)) < sizeof(uint32_t)) {
    return invalid_input("the code image is neither PTX text nor a fat binary");
  }
  uint32_t magic = magic_of(image);
  if (magic == image::wrapper_magic) return read_wrapper(image);
  if (magic == image::container_magic) {
    auto entries = read_container(image);
    if (!entries) return tl::unexpected(entries.error());
    return CodeImage{{std::move(*entries)}};
  }
  if (std::memcmp(image, ELFMAG, SELFMAG) == 0) {
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof header);
    return CodeImage{{{{CodeEntry::Kind::machine_code, image::cubin_architecture(header), {}}}}};
  }
  auto entry = image::text_entry(text);
  if (!entry) return tl::unexpected(entry.error());
  return CodeImage{{{std::move(*entry)}}};
}

}  // namespace sluice::ptx
