// Graphs that a program launches again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "dro/rule/launch_row.hpp"
#include "megakernel/stream_key.hpp"
#include "runtime/held_row.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

// KnownGraph is what is kept of a graph's launches.
struct KnownGraph {
  dro::LaunchRow row;
  std::shared_ptr<const HeldRow> held;  // null where it can't be repeated, by what is known
  uint64_t moment = 0;                  // when `held` was understood
  StreamKey stream;
  Policy::Row pay;
  uint64_t kernels = 0;
  uint64_t runs = 0;  // that were no repeats
  uint64_t next = 2;  // of which this one is looked at: most graphs that change come once
};

// KnownGraphs finds graphs by the version of what they do. It is bounded, and forgets all rather
// than grow. Not thread-safe.
class KnownGraphs {
 public:
  KnownGraph& of(uint64_t version, size_t launches) {
    if (version == last_version_ && last_ != nullptr) return *last_;
    auto found = graphs_.find(version);
    if (found == graphs_.end()) {
      launches += launches_of_a_graph;
      if (launches_ + launches > most_launches) forget();
      launches_ += launches;
      found = graphs_.try_emplace(version).first;
    }
    last_version_ = version;
    return *(last_ = &found->second);
  }
  void forget() {
    graphs_.clear();
    last_ = nullptr;
    launches_ = 0;
  }

 private:
  static constexpr size_t most_launches = size_t{1} << 16;  // of all graphs: some 20 MiB
  static constexpr size_t launches_of_a_graph = 8;          // that take as much as a graph without
  std::unordered_map<uint64_t, KnownGraph> graphs_;
  KnownGraph* last_ = nullptr;
  uint64_t last_version_ = 0;
  size_t launches_ = 0;
};

}  // namespace sluice::runtime
