// What a file says of how it would use CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sluice::tools {

// CodePart is the code of one kind for one architecture in a file.
struct CodePart {
  bool is_ptx = false;
  uint32_t architecture = 0;  // 75 for sm_75
  size_t images = 0;          // that have it
  bool is_compressed = false;
};

struct Program {
  enum class Kind {
    program,
    library,
    static_program,  // no dynamic linker loads it, so nothing can be preloaded
    foreign,         // for another kind of processor
    script,
    device_code,  // PTX, a fat binary or a cubin on its own
    other,        // nothing that can be run
  };
  enum class Runtime { none, shared, fixed };

  std::string path;
  Kind kind = Kind::other;
  bool may_be_run = false;      // the file's permissions
  std::string interpreter;      // of a script: the command that reads it
  bool is_interpreter = false;  // reads scripts itself

  Runtime runtime = Runtime::none;
  std::string cudart;                  // the shared runtime's name: libcudart.so.13
  std::optional<Error> obstacle;       // why the CPU device can't replace the static one
  bool uses_driver = false;            // libcuda.so.1, by name
  std::vector<std::string> libraries;  // others of CUDA's that it needs
  std::string ptx_version;             // "9.0", of the first PTX; empty where there is none

  std::vector<CodePart> code;
  size_t images = 0;  // that hold code
  size_t images_without_ptx = 0;
  std::string damage;  // why the code could not be read

  bool uses_cuda() const {
    return runtime != Runtime::none || uses_driver || !libraries.empty() || images != 0;
  }
};

// read_program() reads the file at `path`. An error where it cannot be read.
Result<Program> read_program(const std::string& path);

// cuda_of() is the major version of the CUDA that first had a version of PTX: 13 of "9.0"; nothing
// of versions before 7, which do not tell.
std::optional<int> cuda_of(const std::string& ptx_version);

}  // namespace sluice::tools
