// Which branches may be taken differently by threads of one block, and of one warp.
#pragma once

#include <vector>

#include "base/dim3.hpp"
#include "megakernel/cuda/flow/flow_graph.hpp"

namespace sluice::megakernel {

// Divergence has one entry a node of the graph: may threads leave it by different ways?
struct Divergence {
  std::vector<bool> in_block;
  std::vector<bool> in_warp;
};

// find_divergence() follows what differs between threads through registers and through branches:
// thread indices, loaded values, results of atomics, warps and calls, in a called function its
// parameters. It errs towards divergence. `graph` is that of `function`. Nodes of `taken_alike`
// (empty: none) end in branches that all threads in question take alike.
Divergence find_divergence(const FlowGraph& graph, const ptx::Function& function, const Dim3& block,
                           const std::vector<bool>& taken_alike = {});

}  // namespace sluice::megakernel
