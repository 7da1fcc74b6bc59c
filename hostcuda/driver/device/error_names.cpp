#include "hostcuda/driver/device/error_names.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>

namespace sluice::hostcuda {
namespace {

std::string words(std::string_view name) {
  constexpr std::string_view prefix = "CUDA_ERROR_";
  if (!name.starts_with(prefix)) return "no error";
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
  // Never destroyed: exit handlers of the program may still ask.
  static const auto* texts = new std::map<CUresult, std::string>{
#define SLUICE_CUDA_ERROR(name) {name, words(#name)},
#include "hostcuda/driver/device/errors.def"
#undef SLUICE_CUDA_ERROR
  };
  const auto found = texts->find(error);
  return found == texts->end() ? nullptr : found->second.c_str();
}

}  // namespace sluice::hostcuda
