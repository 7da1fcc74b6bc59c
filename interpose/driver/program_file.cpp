#include "interpose/driver/program_file.hpp"

#include <algorithm>

#include "base/file/elf.hpp"
#include "base/file/mapped_file.hpp"

namespace sluice::interpose {
namespace {

// A program built with shared cudart imports the function that registers its fat binaries.
bool imports_registration(const std::vector<ElfSection>& sections) {
  const std::vector<ElfSymbol> symbols = elf_symbols(sections, SHT_DYNSYM);
  return std::any_of(symbols.begin(), symbols.end(), [](const ElfSymbol& symbol) {
    return symbol.entry.st_shndx == SHN_UNDEF && symbol.name == "__cudaRegisterFatBinary";
  });
}

}  // namespace

Result<ProgramFile> inspect_program(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  ProgramFile program;
  program.is_elf = elf64_header(file->bytes()).has_value();
  const auto sections = elf_sections(file->bytes());
  if (!sections) return program;
  // nvcc's host code registers what lies in this section; code that a program merely carries
  // (to hand it to the driver itself) stands elsewhere.
  program.has_device_code = find_section(*sections, ".nvFatBinSegment") != nullptr;
  program.has_static_cuda_runtime = program.has_device_code && !imports_registration(*sections);
  return program;
}

Error static_runtime_error(const std::string& path) {
  return {ErrorKind::unsupported, "was linked with the static CUDA runtime, which needs a GPU",
          path,
          "to run it on the CPU device, link it with 'nvcc -cudart shared' (CMake: "
          "CUDA_RUNTIME_LIBRARY Shared)"};
}

}  // namespace sluice::interpose
