// What the shim tells of its callers and of calls that move bytes, where races are checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::runtime {

// VectorClock holds, for each stream by its number, how many of its actions came before.
using VectorClock = std::vector<uint64_t>;

// CallSite is where the program made a call: return addresses, the innermost first.
struct CallSite {
  std::array<void*, 16> callers{};
  size_t depth = 0;
};

// CopyCall is a copy (`from` is 0 where the source is no device memory) or a memset.
struct CopyCall {
  const char* function = "";
  uint64_t to = 0;
  uint64_t from = 0;
  uint64_t bytes = 0;
  void* stream = nullptr;
  bool host_waits = false;  // the call returns when it is done
  const CallSite* site = nullptr;
};

}  // namespace sluice::runtime
