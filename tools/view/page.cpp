#include "tools/view/page.hpp"

#include <algorithm>
#include <ostream>
#include <set>
#include <sstream>

#include "base/demangle.hpp"
#include "base/json_text.hpp"
#include "tools/view/dot.hpp"
#include "tools/view/graphviz.hpp"
#include "tools/view/page_text.hpp"
#include "tools/view/parallelism.hpp"
#include "tools/view/pattern.hpp"

namespace sluice::tools {
namespace {

// What is more than a page can show well is left out of it.
constexpr size_t most_launches = 200;
constexpr size_t most_launch_edges = 600;
constexpr size_t most_patterns = 24;
constexpr size_t most_dros = 200;
constexpr size_t most_tasks = 20'000;

JsonText extent_json(const Dim3& extent) {
  return JsonText::array({extent.x, extent.y, extent.z});
}

// object_of() is the object that a writer prints as a line.
JsonText object_of(const std::ostringstream& line) {
  std::string text = line.str();
  text.pop_back();
  return JsonText::of_text(std::move(text));
}

JsonText figures_of(const RecordedRun& run) {
  std::ostringstream line;
  dro::write_summary_json(run.summary, line);
  return object_of(line);
}

// Machines get mangled names from inspect; the page is for people.
JsonText pairs_of(const dro::JournalSummary& summary) {
  JsonText pairs = JsonText::array({});
  for (dro::KernelPair& pair : dro::kernel_pairs(summary)) {
    pair.master = short_name(pair.master);
    pair.slave = short_name(pair.slave);
    pairs.add(dro::json_of(pair));
  }
  return pairs;
}

// launches_shown() is how many launches from the first make a graph that can be read.
size_t launches_shown(const dro::JournalSummary& summary) {
  size_t edges = 0, shown = 0;
  while (shown < summary.launches.size() && shown < most_launches) {
    edges += summary.launches[shown].record.dependences.size();
    if (edges > most_launch_edges) break;
    ++shown;
  }
  return shown;
}

JsonText dros_of(const dro::JournalSummary& summary) {
  JsonText dros = JsonText::array({});
  for (size_t i = 0; i < std::min(most_dros, summary.dros.size()); ++i) {
    const dro::DroSummary& entry = summary.dros[i];
    dros.add(JsonText::object(
        {{"id", entry.dro.id},
         {"master", short_name(entry.master_kernel) + " #" + std::to_string(entry.master)},
         {"slave", short_name(entry.slave_kernel) + " #" + std::to_string(entry.slave)},
         {"hazards", dro::hazard_names(entry.dro.hazards)},
         {"edges", entry.edges},
         {"table", entry.dro.edges},
         {"used", entry.uses}}));
  }
  return dros;
}

JsonText pattern_json(const dro::DroSummary& entry, const dro::EdgeTable& table) {
  const Pattern pattern = pattern_of(table);
  JsonText rows = JsonText::array({});
  for (const auto& row : pattern.rows) {
    JsonText runs = JsonText::array({});
    for (const Pattern::Run& run : row)
      runs.add(JsonText::array({run.first, run.length, run.edges}));
    rows.add(runs);
  }
  return JsonText::object(
      {{"table", entry.dro.edges},
       {"dro", entry.dro.id},
       {"hazards", dro::hazard_names(entry.dro.hazards)},
       {"edges", entry.edges},
       {"master", JsonText::object({{"kernel", short_name(entry.master_kernel)},
                                    {"grid", extent_json(table.master_grid)}})},
       {"slave", JsonText::object({{"kernel", short_name(entry.slave_kernel)},
                                   {"grid", extent_json(table.slave_grid)}})},
       {"cell", JsonText::array({pattern.masters_per_cell, pattern.slaves_per_cell})},
       {"columns", pattern.columns},
       {"rows", std::move(rows)}});
}

// patterns_of() is a picture for each edge table, by the first DRO that has it; of many tables,
// those that were used most.
JsonText patterns_of(const RecordedRun& run) {
  std::vector<uint64_t> uses(run.tables.size());
  for (const dro::DroSummary& entry : run.summary.dros)
    uses[entry.dro.edges] += entry.uses;
  std::vector<uint64_t> ranked = uses;
  std::sort(ranked.rbegin(), ranked.rend());
  const uint64_t least = ranked.size() > most_patterns ? ranked[most_patterns - 1] : 0;
  JsonText patterns = JsonText::array({});
  std::set<dro::EdgeTableId> drawn;
  for (const dro::DroSummary& entry : run.summary.dros) {
    const dro::EdgeTableId id = entry.dro.edges;
    if (uses[id] < least || drawn.size() == most_patterns || !drawn.insert(id).second) continue;
    patterns.add(pattern_json(entry, run.tables[id]));
  }
  return patterns;
}

JsonText timeline_of(const RecordedRun& run) {
  std::vector<std::string> kernels;
  JsonText tasks = JsonText::array({});
  size_t all = 0, shown = 0;
  uint32_t workers = 0;
  for (const dro::TaskRecord& record : run.tasks) {
    const std::string kernel =
        short_name(run.summary.launches[record.launch - 1].record.details.kernel);
    auto place = std::find(kernels.begin(), kernels.end(), kernel);
    if (place == kernels.end()) place = kernels.insert(kernels.end(), kernel);
    for (const dro::TaskRecord::Task& task : record.tasks) {
      ++all;
      if (shown == most_tasks) continue;
      ++shown;
      workers = std::max(workers, task.worker + 1);
      tasks.add(JsonText::array({task.worker, place - kernels.begin(), task.begun, task.ended}));
    }
  }
  return JsonText::object({{"workers", workers},
                           {"kernels", kernels},
                           {"all", all},
                           {"shown", shown},
                           {"tasks", std::move(tasks)}});
}

void put(std::string& page, const std::string& mark, const std::string& text) {
  page.replace(page.find(mark), mark.size(), text);
}

// Within a script element nothing may look like its end, nor like the beginning of a comment or of
// another script, after which its end is none. JSON has `<` in strings alone.
std::string for_script(const std::string& text) {
  std::string escaped;
  for (const char c : text)
    c == '<' ? escaped += "\\u003c" : escaped += c;
  return escaped;
}

}  // namespace

Status write_page(const RecordedRun& run, std::ostream& out) {
  const size_t shown = launches_shown(run.summary);
  std::ostringstream graph;
  write_launch_graph(run.summary, graph, usual_width, shown);
  const Result<std::string> drawn = draw_graph(graph.str());
  if (!drawn) return tl::unexpected(drawn.error());
  std::ostringstream parallelism;
  const Status measured = write_parallelism(run, true, parallelism);
  if (!measured) return measured;

  JsonText data = JsonText::object({{"figures", figures_of(run)},
                                    {"parallelism", object_of(parallelism)},
                                    {"graph", JsonText::object({{"shown", shown}})},
                                    {"pairs", pairs_of(run.summary)},
                                    {"dros", dros_of(run.summary)},
                                    {"patterns", patterns_of(run)}});
  if (!run.tasks.empty()) data.add("timeline", timeline_of(run));
  std::string page = page_text;
  put(page, "<!--GRAPH-->", *drawn);
  put(page, "\"DATA\"", for_script(data.text()));
  out << page;
  return {};
}

}  // namespace sluice::tools
