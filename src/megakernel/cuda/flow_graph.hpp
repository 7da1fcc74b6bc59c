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
  };
  std::vector<Node> nodes;  // in the order of the text; node 0 is the entry
  size_t end = 0;           // the last node: the thread has ended
};

FlowGraph make_flow_graph(const ptx::Function& function);

// immediate_post_dominators() returns for each node the first node that all its paths to the end
// meet; the end itself for nodes whose paths meet only there, and for those that never end.
// Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
std::vector<size_t> immediate_post_dominators(const FlowGraph& graph);

}  // namespace sluice::megakernel
