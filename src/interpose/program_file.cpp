#include "interpose/program_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include <elf.h>

namespace sluice::interpose {
namespace {

// ElfView reads records of an ELF file in memory; whatever lies outside the file reads as zeros.
class ElfView {
 public:
  explicit ElfView(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

  template <class Record>
  Record at(uint64_t offset) const {
    Record record = {};
    if (offset <= bytes_.size() && bytes_.size() - offset >= sizeof(Record)) {
      std::memcpy(&record, bytes_.data() + offset, sizeof(Record));
    }
    return record;
  }

  std::string_view text(uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    return {bytes_.data() + offset, strnlen(bytes_.data() + offset, bytes_.size() - offset)};
  }

  bool is_elf64() const {
    return bytes_.size() >= sizeof(Elf64_Ehdr) &&
           std::memcmp(bytes_.data(), ELFMAG, SELFMAG) == 0 && bytes_[EI_CLASS] == ELFCLASS64;
  }

  Elf64_Shdr section(uint32_t index) const {
    const auto header = at<Elf64_Ehdr>(0);
    if (index >= header.e_shnum) return {};
    return at<Elf64_Shdr>(header.e_shoff + uint64_t{index} * sizeof(Elf64_Shdr));
  }

  uint32_t section_count() const { return at<Elf64_Ehdr>(0).e_shnum; }

  std::string_view section_name(const Elf64_Shdr& section_header) const {
    return text(section(at<Elf64_Ehdr>(0).e_shstrndx).sh_offset + section_header.sh_name);
  }

 private:
  std::vector<char> bytes_;
};

// A program built with shared cudart imports the function that registers its fat binaries.
bool imports(const ElfView& elf, const Elf64_Shdr& symbols, std::string_view name) {
  const uint64_t strings = elf.section(symbols.sh_link).sh_offset;
  for (uint64_t i = 0; i * sizeof(Elf64_Sym) < symbols.sh_size; ++i) {
    const auto symbol = elf.at<Elf64_Sym>(symbols.sh_offset + i * sizeof(Elf64_Sym));
    if (symbol.st_shndx == SHN_UNDEF && elf.text(strings + symbol.st_name) == name) return true;
  }
  return false;
}

}  // namespace

Result<ProgramFile> inspect_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return system_error(std::strerror(errno), path);
  const ElfView elf({std::istreambuf_iterator<char>(file), {}});
  ProgramFile program;
  program.is_elf = elf.is_elf64();
  if (!program.is_elf) return program;

  bool imports_registration = false;
  for (uint32_t i = 0; i < elf.section_count(); ++i) {
    const Elf64_Shdr section = elf.section(i);
    // nvcc's host code registers what lies in this section; code that a program merely carries
    // (to hand it to the driver itself) stands elsewhere.
    if (elf.section_name(section) == ".nvFatBinSegment") program.has_device_code = true;
    if (section.sh_type == SHT_DYNSYM && imports(elf, section, "__cudaRegisterFatBinary")) {
      imports_registration = true;
    }
  }
  program.has_static_cuda_runtime = program.has_device_code && !imports_registration;
  return program;
}

Error static_runtime_error(const std::string& path) {
  return {ErrorKind::unsupported, "was linked with the static CUDA runtime, which needs a GPU",
          path,
          "to run it on the CPU device, link it with 'nvcc -cudart shared' (CMake: "
          "CUDA_RUNTIME_LIBRARY Shared)"};
}

}  // namespace sluice::interpose
