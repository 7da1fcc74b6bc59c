// Graphs in Graphviz's language, for `sluice inspect --dot` and `--dot-dro`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "base/result.hpp"
#include "dro/recorded/summary.hpp"
#include "tools/view/recorded_run.hpp"

namespace sluice::tools {

// write_launch_graph() writes a node for each launch and an edge from each launch to those that
// wait for it, labelled with the DRO, its hazards and its block edges. An untracked launch is drawn
// dashed; it is ordered after all before it and before all after it, for which dashed edges lead to
// the last untracked launch before a launch, and from those since it. Launches after the first
// `most` are left out. Names are as name_in_line() has them.
void write_launch_graph(const dro::JournalSummary& summary, std::ostream& out,
                        size_t width = usual_width, size_t most = SIZE_MAX);

// write_block_graph() writes the blocks of the first master and slave of DRO `id` of the journal at
// `path`, read as `run`, and an edge for each block edge. An error where there is no such DRO, or
// where it has more than 20,000 edges, which no layout makes readable.
Status write_block_graph(const std::string& path, const RecordedRun& run, dro::DroId id,
                         std::ostream& out);

}  // namespace sluice::tools
