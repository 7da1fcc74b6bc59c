// Where the program calls the driver, for who reports it.
#pragma once

#include <array>
#include <cstddef>

namespace sluice::hostcuda {

// CallSite holds return addresses, the innermost first.
struct CallSite {
  std::array<void*, 16> callers{};
  size_t depth = 0;
  static CallSite of_this_call();
};

}  // namespace sluice::hostcuda
