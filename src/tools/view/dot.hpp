// Graphs in Graphviz's language, for `sluice inspect --dot` and `--dot-dro`.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.hpp"
#include "dro/summary.hpp"

namespace sluice::tools {

// write_launch_graph() writes a node for each launch and an edge from each launch to those that
// wait for it, labelled with the DRO, its hazards and its block edges. An untracked launch is drawn
// dashed; it is ordered after all before it and before all after it, for which dashed edges lead to
// the last untracked launch before a launch, and from those since it.
void write_launch_graph(const dro::JournalSummary& summary, std::ostream& out);

// write_block_graph() writes the blocks of the first master and slave of DRO `id` of the journal at
// `path`, and an edge for each block edge. An error where there is no such DRO, or where it has
// more than 20,000 edges, which no layout makes readable.
Status write_block_graph(const std::string& path, const dro::JournalSummary& summary, dro::DroId id,
                         std::ostream& out);

}  // namespace sluice::tools
