// What was found of a kernel's last launches, for those that come again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/launch/understood.hpp"

namespace sluice::runtime {

// RecentLaunches keeps a few: a program launches a kernel again with the same arguments, or with
// those of a few launches ago. Not thread-safe.
template <size_t most>
class RecentLaunches {
 public:
  // find() is what was kept of a launch of these parameters at the same `moment`, which counts what
  // makes older answers void; null where there is none.
  BoundFootprint* find(const LaunchCall& call, const std::vector<std::byte>& parameters,
                       uint64_t moment) {
    for (Launch& recent : launches_) {
      if (recent.moment == moment && are_equal(recent.parameters, parameters) &&
          recent.grid == call.grid && recent.block == call.block &&
          recent.dynamic_shared_bytes == call.dynamic_shared_bytes) {
        return &recent.bound;
      }
    }
    return nullptr;
  }

  // keep() returns the copy that it keeps.
  BoundFootprint* keep(const LaunchCall& call, const std::vector<std::byte>& parameters,
                       uint64_t moment, const BoundFootprint& bound) {
    Launch& recent = launches_[next_++ % launches_.size()];
    recent.moment = moment;
    recent.parameters = parameters;
    recent.grid = call.grid;
    recent.block = call.block;
    recent.dynamic_shared_bytes = call.dynamic_shared_bytes;
    recent.bound = bound;
    return &recent.bound;
  }

 private:
  struct Launch {
    uint64_t moment = UINT64_MAX;
    std::vector<std::byte> parameters;
    Dim3 grid;
    Dim3 block;
    uint32_t dynamic_shared_bytes = 0;
    BoundFootprint bound;
  };

  // std::vector compares bytes one by one.
  static bool are_equal(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
  }

  std::array<Launch, most> launches_;
  size_t next_ = 0;
};

// GraphNode is what was found of a node of a graph, whose function may have been another before.
struct GraphNode {
  const void* function = nullptr;
  RecentLaunches<2> recent;
};

}  // namespace sluice::runtime
