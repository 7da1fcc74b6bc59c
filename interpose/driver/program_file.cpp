#include "interpose/driver/program_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <link.h>

#include "base/file/elf.hpp"
#include "base/file/mapped_file.hpp"
#include "interpose/static_runtime/redirection.hpp"

namespace sluice::interpose {
namespace {

// A program built with shared cudart imports the functions that register its fat binaries, or,
// where nvcc has linked one without kernels, the one alone that takes them back.
bool imports_registration(const std::vector<ElfSection>& sections) {
  const std::vector<ElfSymbol> symbols = elf_symbols(sections, SHT_DYNSYM);
  return std::any_of(symbols.begin(), symbols.end(), [](const ElfSymbol& symbol) {
    return symbol.entry.st_shndx == SHN_UNDEF &&
           (symbol.name == "__cudaRegisterFatBinary" || symbol.name == "__cudaUnregisterFatBinary");
  });
}

Error error_of(const Obstacle& obstacle, const std::string& path) {
  std::array<char, 256> what = {}, remedy = {};
  describe(obstacle, what.data(), what.size());
  describe_remedy(obstacle, remedy.data(), remedy.size());
  return {ErrorKind::unsupported, what.data(), path, remedy.data()};
}

// take_runtime() finds a static runtime by its functions' names, and what the audit library
// (static_runtime/audit.cpp) will make of it.
void take_runtime(ProgramFile& program, Bytes bytes, const std::string& path,
                  const std::string& cpu_folder) {
  const auto elf = ElfView::of(bytes);
  if (!elf || !may_have_runtime(*elf)) return;
  const std::string name(runtime_that_serves(*elf));
  const Result<MappedFile> own = MappedFile::open(cpu_folder + "/" + name);
  if (!own) return;
  RuntimeCopy copy = find_runtime(*elf, RuntimeFunctions::read(own->bytes()));
  if (!copy.is_there) return;
  program.has_static_cuda_runtime = true;
  const Redirection redirection = redirect(*elf, std::move(copy), 0);
  if (redirection.obstacle) {
    program.obstacle = error_of(redirection.obstacle, path);
    return;
  }
  const Patch& first = redirection.patches[0];
  const Bytes code = elf->code_at(first.address, first.size);
  program.runtime_address = first.address;
  program.runtime_code.assign(code.begin(), code.end());
}

}  // namespace

Result<ProgramFile> inspect_program(const std::string& path, const std::string& cpu_folder) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  ProgramFile program;
  program.is_elf = elf64_header(file->bytes()).has_value();
  const auto sections = elf_sections(file->bytes());
  if (!sections) return program;
  // nvcc's host code registers what lies in this section; code that a program merely carries
  // (to hand it to the driver itself) stands elsewhere.
  program.has_device_code = find_section(*sections, ".nvFatBinSegment") != nullptr;
  take_runtime(program, file->bytes(), path, cpu_folder);
  const bool has_nameless_runtime = !program.has_static_cuda_runtime && program.has_device_code &&
                                    !imports_registration(*sections);
  if (has_nameless_runtime) {
    program.has_static_cuda_runtime = true;
    program.obstacle = Error{ErrorKind::unsupported, stripped, path, keep_symbols};
  }
  return program;
}

bool is_replaced(const ProgramFile& program) {
  if (program.runtime_code.empty()) return false;
  uintptr_t base = 0;
  // The first is the program itself.
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* found) {
        *static_cast<uintptr_t*>(found) = object->dlpi_addr;
        return 1;
      },
      &base);
  const auto* const code = reinterpret_cast<const void*>(base + program.runtime_address);
  return std::memcmp(code, program.runtime_code.data(), program.runtime_code.size()) != 0;
}

Error static_runtime_error(const std::string& path) {
  return {ErrorKind::unsupported, "was linked with the static CUDA runtime, which needs a GPU",
          path,
          "to run it on the CPU device, start it by 'sluice run', which replaces that, or link it "
          "with 'nvcc -cudart shared' (CMake: CUDA_RUNTIME_LIBRARY Shared)"};
}

}  // namespace sluice::interpose
