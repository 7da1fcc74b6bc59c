// Operations by which lanes of a warp exchange values, and which of them may name a lane that has
// ended. On a GPU such an operation waits for the lanes of its mask that have not exited; in a task
// body no lane ever exits, so there an operation must not name lanes whose part is over.
#pragma once

#include <set>

#include "base/dim3.hpp"
#include "megakernel/cuda/flow/flow_graph.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// reaching() marks the nodes from which a node of `goals` is reached, the goals included; paths
// do not lead on through a node of `walls`.
std::vector<bool> reaching(const FlowGraph& graph, const std::vector<bool>& goals,
                           const std::vector<bool>& walls);

// meets_before_rejoining() says whether a node of `meetings` lies between a branch and where all
// its ways meet again. Where none does, and none ends before, the threads come to that place as
// they came to the branch, so the branch parts none of them.
bool meets_before_rejoining(const FlowGraph& graph, size_t node, const std::vector<bool>& meetings);

// parts_ways() says whether at some branch of `diverges`, which threads may take differently, one
// way ends without passing a node of `meetings` and another one leads to such a node, not through
// a node of `again`.
bool parts_ways(const FlowGraph& graph, const std::vector<bool>& meetings,
                const std::vector<bool>& again, const std::vector<bool>& diverges);

// exchanges_past_ends() finds the exchanges of a function whose masks may name a lane that ends (or
// returns, in a called function) without coming to them, with blocks of `block` threads. `graph` is
// that of `function`, `diverges` says at which nodes lanes of a warp may part. A mask that its
// lanes made together, by activemask, a ballot or a match, names only lanes that were there: what
// lanes did before does not count, and branches by the very predicate of a ballot part none of
// them.
std::set<const ptx::Instruction*> exchanges_past_ends(const FlowGraph& graph,
                                                      const ptx::Function& function,
                                                      const Dim3& block,
                                                      const std::vector<bool>& diverges);

}  // namespace sluice::megakernel
