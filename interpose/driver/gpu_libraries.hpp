// CUDA's libraries that come as machine code and work on NVIDIA's driver alone.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice::interpose {

// Names up to ".so".
inline constexpr std::array<std::string_view, 14> gpu_libraries = {
    "libcublas", "libcublasLt", "libcudnn",    "libcufft",     "libcufftw",
    "libcurand", "libcusolver", "libcusparse", "libcutensor",  "libnccl",
    "libnpp",    "libnvjpeg",   "libcufile",   "libcusparseLt"};

// is_library_named() is true of "libcudnn_ops.so.9" where `name` is "libcudnn".
constexpr bool is_library_named(std::string_view library, std::string_view name) {
  if (!library.starts_with(name) || library.size() == name.size()) return false;
  const char next = library[name.size()];
  return next == '.' || next == '_' || name == "libnpp";
}

// needs_gpu() is true of a file name such as "libcublas.so.13".
constexpr bool needs_gpu(std::string_view library) {
  return std::ranges::any_of(
      gpu_libraries, [library](std::string_view name) { return is_library_named(library, name); });
}

}  // namespace sluice::interpose
