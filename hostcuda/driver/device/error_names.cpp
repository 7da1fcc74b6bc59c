#include "hostcuda/driver/device/error_names.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>

#include <driver_types.h>

namespace sluice::hostcuda {
namespace {

// words() is for the few that the runtime API does not have.
std::string words(std::string_view name) {
  constexpr std::string_view prefix = "CUDA_ERROR_";
  std::string text(name.substr(prefix.size()));
  for (char& letter : text) {
    letter = letter == '_' ? ' ' : static_cast<char>(std::tolower(letter));
  }
  return text;
}

}  // namespace

const char* error_name(CUresult error) {
  switch (error) {
#define SLUICE_CUDA_ERROR(name) \
  case name:                    \
    return #name;
#include "hostcuda/driver/device/errors.def"
#undef SLUICE_CUDA_ERROR
  }
  return nullptr;
}

const char* error_text(CUresult error) {
  if (error_name(error) == nullptr) return nullptr;
  // Never destroyed: exit handlers of the program may still ask.
  static const auto* texts = [] {
    auto* all = new std::map<int, std::string>{
#define CUDART_ERROR(name, text) {name, text},
#include "hostcuda/error_texts.def"
#undef CUDART_ERROR
    };
#define SLUICE_CUDA_ERROR(name) all->try_emplace(name, words(#name));
#include "hostcuda/driver/device/errors.def"
#undef SLUICE_CUDA_ERROR
    return all;
  }();
  return texts->at(error).c_str();
}

}  // namespace sluice::hostcuda
