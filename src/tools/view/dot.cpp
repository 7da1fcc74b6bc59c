#include "tools/view/dot.hpp"

#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "dro/journal_reader.hpp"

namespace sluice::tools {
namespace {

constexpr uint64_t most_block_edges = 20000;

// quoted() is a string of DOT: within quotes only the quote and the backslash need one before them.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

Result<dro::EdgeTable> find_table(const std::string& path, dro::EdgeTableId id) {
  auto reader = dro::JournalReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  while (true) {
    auto record = reader->next();
    if (!record) return tl::unexpected(record.error());
    if (!*record) return invalid_input("the journal lacks the DRO's edge table", path);
    if ((*record)->kind != "edges") continue;
    auto edges = dro::edges_of(**record);
    if (!edges) return tl::unexpected(edges.error());
    if (edges->first == id) return std::move(edges->second);
  }
}

// is_whole() says that a table of ranges leads to blocks that there are. Its seal only says that
// the line is as it was written.
bool is_whole(const dro::EdgeTable& table) {
  if (table.form != dro::EdgeForm::ranges) return true;
  if (table.rows.size() != table.slave_grid.count() + 1) return false;
  if (table.rows.front() != 0 || table.rows.back() != table.ranges.size()) return false;
  if (!std::is_sorted(table.rows.begin(), table.rows.end())) return false;
  return std::all_of(table.ranges.begin(), table.ranges.end(), [&](const dro::BlockRange& range) {
    return range.first <= range.last && range.last < table.master_grid.count();
  });
}

std::string launch_label(const dro::LaunchRecord& launch) {
  const Dim3& grid = launch.details.grid;
  return quoted(fmt::format("#{} {} {}x{}x{}", launch.number, short_name(launch.details.kernel),
                            grid.x, grid.y, grid.z));
}

}  // namespace

void write_launch_graph(const dro::JournalSummary& summary, std::ostream& out) {
  out << "digraph launches {\n  node [shape=box];\n";
  std::optional<dro::LaunchNumber> barrier;
  size_t since_barrier = 0;  // index of the first launch after it
  for (size_t i = 0; i < summary.launches.size(); ++i) {
    const dro::LaunchRecord& launch = summary.launches[i].record;
    const bool tracked = launch.footprint.has_value();
    out << fmt::format("  l{} [label={}{}];\n", launch.number, launch_label(launch),
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

Status write_block_graph(const std::string& path, const dro::JournalSummary& summary, dro::DroId id,
                         std::ostream& out) {
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
  const Result<dro::EdgeTable> table = find_table(path, entry.dro.edges);
  if (!table) return tl::unexpected(table.error());
  if (!is_whole(*table)) return invalid_input("the DRO's edge table contradicts itself", path);
  out << fmt::format("digraph dro{} {{\n  rankdir=LR;\n  node [shape=box];\n", id);
  const auto cluster = [&](char side, const std::string& kernel, const Dim3& grid) {
    out << fmt::format("  subgraph cluster_{} {{\n    label={};\n", side,
                       quoted(short_name(kernel)));
    for (uint64_t block = 0; block < grid.count(); ++block) {
      out << fmt::format("    {}{} [label=\"{}\"];\n", side, block, block);
    }
    out << "  }\n";
  };
  cluster('m', entry.master_kernel, table->master_grid);
  cluster('s', entry.slave_kernel, table->slave_grid);
  for (uint32_t slave = 0; slave < table->slave_grid.count(); ++slave) {
    dro::for_each_master_range(*table, slave, 1, [&](uint32_t first, uint32_t last) {
      for (uint32_t master = first; master <= last; ++master)
        out << fmt::format("  m{} -> s{};\n", master, slave);
    });
  }
  out << "}\n";
  return {};
}

}  // namespace sluice::tools
