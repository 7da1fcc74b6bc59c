// The control flow graph of a PTX function.
#pragma once

#include <cstddef>
#include <vector>

#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// FlowGraph has a node for each basic block and one for the end. A node ends at a branch, at a
// return or exit, before a label, and after a barrier or a guarded instruction that may end the
// thread. Instructions point into the function, which must outlive the graph.
struct FlowGraph {
  struct Node {
    std::vector<const ptx::Instruction*> instructions;
    std::vector<size_t> successors;  // without repeats
    // The first node that all paths to the end meet; the end itself where they meet only there,
    // and where there are none.
    size_t rejoin = 0;
  };
  std::vector<Node> nodes;  // in the order of the text; node 0 is the entry
  size_t end = 0;           // the last node: the thread has ended
};

FlowGraph make_flow_graph(const ptx::Function& function);

}  // namespace sluice::megakernel
