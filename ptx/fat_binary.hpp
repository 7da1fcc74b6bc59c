// Where PTX lives: fat binaries as nvcc embeds them, ELF files that hold them, and plain text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sluice::ptx {

// CodeEntry is one payload of a fat binary: PTX text (decompressed) or machine code.
struct CodeEntry {
  enum class Kind { ptx, machine_code };
  Kind kind = Kind::ptx;
  uint32_t architecture = 0;  // 75 for sm_75 / compute_75
  std::string ptx;            // for Kind::ptx, without the trailing NUL
  bool is_compressed = false;
};

// CodeImage is what one cuModuleLoadData or cuLibraryLoadData receives. A device-linked image
// has several units whose PTX must be linked; every other one has a single unit.
struct CodeImage {
  std::vector<std::vector<CodeEntry>> units;

  // best_ptx() is the PTX of each unit with the highest architecture up to `newest`, as a driver
  // takes it for a device of that architecture. An error says what is there instead ("machine code
  // for sm_90 only, no PTX") and how to rebuild.
  Result<std::vector<std::string>> best_ptx(uint32_t newest = any_architecture) const;
  static constexpr uint32_t any_architecture = UINT32_MAX;

  // other_code() says in words where a device of `architecture` runs machine code that was compiled
  // for another architecture than best_ptx() is; empty where it runs that PTX, or code made with
  // it.
  std::string other_code(uint32_t architecture) const;
};

// read_image() takes the pointer that a program hands to the driver: a fat binary wrapper (magic
// 0x466243B1), a bare container (0xBA55ED50), a cubin (ELF) or NUL-terminated PTX text. It trusts
// the pointer as the driver does, and reads no further than the headers say.
Result<CodeImage> read_image(const void* image);

// read_file() finds every image in a file: an ELF program or library (section .nv_fatbin), a
// fat binary or a .ptx file. One CodeImage for each image, in file order; bounds are checked.
Result<std::vector<CodeImage>> read_file(const std::string& path);

// read_containers() parses containers lying one after another in `bytes`; bounds are checked.
Result<std::vector<CodeEntry>> read_containers(std::span<const std::byte> bytes);

}  // namespace sluice::ptx
