#include "tools/view/dot.hpp"

#include <algorithm>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "base/demangle.hpp"

namespace sluice::tools {
namespace {

constexpr uint64_t most_block_edges = 20000;

// quoted() is a label of DOT: within quotes only the quote and the backslash need one before them,
// and `&` begins an entity of HTML.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
    if (c == '&') result += "amp;";
  }
  return result + "\"";
}

std::string launch_label(const dro::LaunchRecord& launch, size_t width) {
  const Dim3& grid = launch.details.grid;
  return quoted(fmt::format("#{} {} {}x{}x{}", launch.number,
                            name_in_line(launch.details.kernel, width), grid.x, grid.y, grid.z));
}

}  // namespace

void write_launch_graph(const dro::JournalSummary& summary, std::ostream& out, size_t width,
                        size_t most) {
  out << "digraph launches {\n  node [shape=box];\n";
  std::optional<dro::LaunchNumber> barrier;
  size_t since_barrier = 0;  // index of the first launch after it
  for (size_t i = 0; i < std::min(most, summary.launches.size()); ++i) {
    const dro::LaunchRecord& launch = summary.launches[i].record;
    const bool tracked = !launch.is_opaque();
    out << fmt::format("  l{} [label={}{}];\n", launch.number, launch_label(launch, width),
                       tracked ? "" : ", style=dashed");
    if (barrier) out << fmt::format("  l{} -> l{} [style=dashed];\n", *barrier, launch.number);
    for (const auto& [master, id] : launch.dependences) {
      const dro::DroSummary& dro = summary.dros[id];
      out << fmt::format("  l{} -> l{} [label=\"dro {} {} {}\"];\n", master, launch.number, id,
                         dro::hazard_names(dro.dro.hazards), dro.edges);
    }
    if (tracked) continue;
    for (; since_barrier < i; ++since_barrier) {
      out << fmt::format("  l{} -> l{} [style=dashed];\n",
                         summary.launches[since_barrier].record.number, launch.number);
    }
    barrier = launch.number;
    since_barrier = i + 1;
  }
  out << "}\n";
}

Status write_block_graph(const std::string& path, const RecordedRun& run, dro::DroId id,
                         std::ostream& out) {
  const dro::JournalSummary& summary = run.summary;
  if (id >= summary.dros.size()) {
    return invalid_input(fmt::format("holds no DRO {}", id), path,
                         fmt::format("it has {}; --dros lists them", summary.dros.size()));
  }
  const dro::DroSummary& entry = summary.dros[id];
  if (entry.edges > most_block_edges) {
    return invalid_input(
        fmt::format("DRO {} has {} edges, too many for a graph", id, entry.edges), path,
        fmt::format("the most is {}: run the program on a smaller grid", most_block_edges));
  }
  const dro::EdgeTable& table = run.tables[entry.dro.edges];
  out << fmt::format("digraph dro{} {{\n  rankdir=LR;\n  node [shape=box];\n", id);
  const auto cluster = [&](char side, const std::string& kernel, const Dim3& grid) {
    out << fmt::format("  subgraph cluster_{} {{\n    label={};\n", side,
                       quoted(short_name(kernel)));
    for (uint64_t block = 0; block < grid.count(); ++block) {
      out << fmt::format("    {}{} [label=\"{}\"];\n", side, block, block);
    }
    out << "  }\n";
  };
  cluster('m', entry.master_kernel, table.master_grid);
  cluster('s', entry.slave_kernel, table.slave_grid);
  for (uint32_t slave = 0; slave < table.slave_grid.count(); ++slave) {
    dro::for_each_master_range(table, slave, 1, [&](uint32_t first, uint32_t last) {
      for (uint32_t master = first; master <= last; ++master)
        out << fmt::format("  m{} -> s{};\n", master, slave);
    });
  }
  out << "}\n";
  return {};
}

}  // namespace sluice::tools
