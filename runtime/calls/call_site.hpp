// Where the program made a call.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "runtime/calls/python_place.hpp"

namespace sluice::runtime {

// CallSite is where the program made a call: return addresses, the innermost first, and the line of
// Python that led there, null: none.
struct CallSite {
  std::array<void*, 16> callers{};
  size_t depth = 0;
  const PythonPlace* python = nullptr;
};

// site_text() is "main in two_streams", or "two_streams+0x1234" where the function's name is not
// known, with a mark for its line behind it (call_place.hpp). Frames of CUDA's own libraries and of
// the stub of `kernel` are left out.
std::string site_text(const CallSite& site, const std::string& kernel);

}  // namespace sluice::runtime
