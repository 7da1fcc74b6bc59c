// The library that a forwarder stands for.
#pragma once

#include <string>

#include <dlfcn.h>

namespace sluice::interpose {

// The library that was asked for. The dynamic linker has loaded it with the forwarder
// (asked_library.hpp), and later may know another file by this name.
inline void* const real_library = dlopen(SLUICE_ASKED_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);

// real_function() is a function of it, or nullptr. Thread-safe.
inline void* real_function(const char* name) {
  return real_library == nullptr ? nullptr : dlsym(real_library, name);
}

// call_real() calls such a function; `lacking` is the result where there is none.
template <class Result, class... Arguments>
Result call_real(const char* name, Result lacking, Arguments... arguments) {
  using Function = Result (*)(Arguments...);
  const auto function = reinterpret_cast<Function>(real_function(name));
  return function == nullptr ? lacking : function(arguments...);
}

// virtual_architecture() is the architecture of PTX for that of machine code: "sm_90a" gives
// "compute_90a". Other text stays as it is.
inline std::string virtual_architecture(const std::string& architecture) {
  return architecture.starts_with("sm_") ? "compute_" + architecture.substr(3) : architecture;
}

}  // namespace sluice::interpose
