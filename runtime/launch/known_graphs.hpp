// Graphs that a program launches again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dro/rule/launch_row.hpp"
#include "megakernel/stream_key.hpp"
#include "runtime/held_row.hpp"
#include "runtime/launch/recent_launches.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

// KnownGraph is what is kept of a graph's launches.
struct KnownGraph {
  dro::LaunchRow row;
  std::vector<GraphNode> nodes;  // of one that has come twice
  GivenRow held;                 // none where it can't be repeated, by what is known
  uint64_t moment = 0;           // when `held` was understood
  uint64_t version = 0;          // of the steps that `held` is of
  StreamKey stream;
  Policy::Row pay;
  uint64_t kernels = 0;
  uint64_t runs = 0;  // that were no repeats
  size_t room = 0;    // what it may take, in launches
  uint64_t next = 2;  // of which this one is looked at: most graphs that change come once
};

// KnownGraphs finds graphs by their handles, which may come to mean others. It is bounded, and
// forgets all rather than grow. Not thread-safe.
class KnownGraphs {
 public:
  KnownGraph& of(void* graph, size_t launches) {
    const size_t room = launches + launches_of_a_graph;
    if (graph == last_graph_ && last_ != nullptr && room <= last_->room) return *last_;
    if (launches_ + room > most_launches) forget();
    KnownGraph& known = graphs_[graph];
    if (room > known.room) launches_ += room - std::exchange(known.room, room);
    last_graph_ = graph;
    return *(last_ = &known);
  }
  void forget() {
    graphs_.clear();
    last_ = nullptr;
    launches_ = 0;
  }

 private:
  static constexpr size_t most_launches = size_t{1} << 15;  // of all graphs: some 30 MiB
  static constexpr size_t launches_of_a_graph = 8;          // that take as much as a graph without
  std::unordered_map<void*, KnownGraph> graphs_;
  KnownGraph* last_ = nullptr;
  void* last_graph_ = nullptr;
  size_t launches_ = 0;
};

}  // namespace sluice::runtime
