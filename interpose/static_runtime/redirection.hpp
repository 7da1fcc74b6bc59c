// The changes of code that lead each function of a copied runtime to ours.
#pragma once

#include <cstdint>

#include "interpose/static_runtime/runtime_copy.hpp"

namespace sluice::interpose {

// Patch is code that takes the place of what stands at an address of the file.
struct Patch {
  uint64_t address = 0;
  uint8_t size = 0;
  uint8_t code[14] = {};
};

struct Redirection {
  Array<Patch> patches;
  Obstacle obstacle;  // where there is one, nothing may be patched
};

// redirect() finds the patches for a copy. `ours` is what is added to the addresses of our
// runtime's file where it is loaded. A function gets a jump at its beginning. One that is shorter
// than that, and than the padding behind it, gets a short jump to another jump, within the code of
// a large function that is no longer used; an IFUNC's resolver is made to return our function.
Redirection redirect(const ElfView& elf, RuntimeCopy copy, uint64_t ours);

// padding_size() is how many bytes at the beginning of `code` do nothing and so only fill up: of
// instructions that do (nop) or stop the program (int3).
size_t padding_size(Bytes code);

}  // namespace sluice::interpose
