// Which PTX machine code was made from that a program had made while it ran, on a GPU: in this
// process and, in the cache of analyses, in later ones.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::interpose {

// remember_code() is what the forwarders of NVRTC and nvJitLink call, as sluice_remember_code()
// (made_code.hpp): `image` is an ELF file that a library has just made of `ptx`. Thread-safe.
void remember_code(const void* image, size_t size, const char* ptx, size_t ptx_size);

// remembered_ptx() is what the machine code at `image`, as a program hands it to the driver, was
// made from; nothing where that is not known, or where it is no ELF file. Thread-safe.
std::optional<std::string> remembered_ptx(const void* image);

}  // namespace sluice::interpose
