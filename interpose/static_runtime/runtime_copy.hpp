// A CUDA runtime that a program or library has in itself, found by the names of its functions.
// Compiled without exceptions and the standard library's functions too: it works inside the dynamic
// linker.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/file/elf_view.hpp"
#include "interpose/static_runtime/array.hpp"

namespace sluice::interpose {

// Obstacle says why a runtime cannot be replaced, with the function that stands in the way.
struct Obstacle {
  enum class Kind {
    none,
    lacking,    // the CPU device's runtime has no such function
    too_short,  // no room for a jump
    two_names,  // one function has the names of two of ours
    elsewhere,  // its code is not where its symbols say
    denied,     // the system allows no change to code, or gives no memory
  };
  Kind kind = Kind::none;
  char function[96] = {};

  explicit operator bool() const { return kind != Kind::none; }
};
Obstacle obstacle(Obstacle::Kind kind, std::string_view function);

// describe() writes what is wrong, to follow the file's name; describe_remedy() what to do about
// it.
void describe(const Obstacle& obstacle, char* text, size_t size);
void describe_remedy(const Obstacle& obstacle, char* text, size_t size);
inline constexpr const char* link_shared =
    "to run it on the CPU device, link it with 'nvcc -cudart shared' (CMake: CUDA_RUNTIME_LIBRARY "
    "Shared)";

// What is wrong with a file whose runtime has no names, and what to do about it.
inline constexpr const char* stripped = "was linked with the static CUDA runtime and stripped";
inline constexpr const char* keep_symbols =
    "to run it on the CPU device, leave it its symbols or link it with 'nvcc -cudart shared' "
    "(CMake: CUDA_RUNTIME_LIBRARY Shared)";

// RuntimeFunctions are the functions that a runtime exports: the CPU device's own.
class RuntimeFunctions {
 public:
  // read() takes them from the file of a libcudart.so, whose bytes must stay. There are none where
  // it is damaged.
  static RuntimeFunctions read(Bytes file);

  struct Function {
    std::string_view name;
    uint64_t address = 0;  // in the file
  };
  // find() is null where there is no such function.
  const Function* find(std::string_view name) const;
  size_t size() const { return functions_.size(); }

 private:
  Array<Function> functions_;  // by name
};

// own_runtimes are the files of the CPU device's runtimes, that of the newest CUDA first.
inline constexpr std::string_view own_runtimes[] = {"libcudart.so.13", "libcudart.so.12"};

// Every program that launches kernels registers its code by this function of the runtime,
inline constexpr std::string_view runtime_landmark = "__cudaRegisterFatBinary";
// and nvcc puts what tells of that code into this section.
inline constexpr std::string_view fat_binary_section = ".nvFatBinSegment";

// may_have_runtime() is false of nearly all files, and quickly so: what has no runtime need not be
// looked at further.
bool may_have_runtime(const ElfView& elf);

// runtime_that_serves() is the one of own_runtimes whose functions and structures are those of the
// runtime that the file may have in itself.
std::string_view runtime_that_serves(const ElfView& elf);

// CopiedFunction is a function of a runtime inside another file, with ours of its name.
struct CopiedFunction {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t ours = 0;         // its address in our runtime's file
  bool is_resolver = false;  // an IFUNC: the code here chooses the function
  std::string_view name;
};

struct RuntimeCopy {
  bool is_there = false;            // the file defines a runtime
  Array<CopiedFunction> functions;  // by address, one for each
  Obstacle obstacle;
};

// find_runtime() looks into a file's symbols, which have to be in its symbol table (.symtab) or be
// exported. What wraps some of the runtime's functions is no runtime. The file's bytes must stay.
RuntimeCopy find_runtime(const ElfView& elf, const RuntimeFunctions& ours);

}  // namespace sluice::interpose
