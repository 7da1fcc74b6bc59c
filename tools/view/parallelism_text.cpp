// The printed forms of what measure() found.
#include <ostream>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "tools/view/parallelism.hpp"

namespace sluice::tools {
namespace {

JsonText object_of(const Parallelism& found) {
  const auto order = [&](double span) {
    return JsonText::object({{"span", span}, {"parallelism", span > 0 ? found.work / span : 0}});
  };
  JsonText gains = JsonText::array({});
  for (size_t i = 0; i < Parallelism::workers.size(); ++i) {
    gains.add(JsonText::object(
        {{"workers", Parallelism::workers[i]}, {"most_gain", found.most_gain(i)}}));
  }
  return JsonText::object({{"work", found.work},
                           {"launch_by_launch", order(found.launch_by_launch)},
                           {"launch_graph", order(found.launch_graph)},
                           {"block_graph", found.block_graph ? order(*found.block_graph) : nullptr},
                           {"most_gain", std::move(gains)}});
}

void write_text(const Parallelism& found, const char* unit, double scale, std::ostream& out) {
  out << fmt::format("work {:.10g} {}\n", found.work / scale, unit);
  const auto order = [&](const char* name, double span) {
    out << fmt::format("  {:<18}span {:>12.10g}   parallelism {:>10.1f}\n", name, span / scale,
                       span > 0 ? found.work / span : 0);
  };
  order("launch by launch", found.launch_by_launch);
  order("launch graph", found.launch_graph);
  if (found.block_graph) {
    order("block graph", *found.block_graph);
  } else {
    out << "  block graph       not computed: it has too many edges to follow\n";
  }
  out << "  the most that any order gains over launch by launch\n";
  for (size_t i = 0; i < Parallelism::workers.size(); ++i) {
    out << fmt::format("  {:>8} workers {:>8.2f}\n", Parallelism::workers[i], found.most_gain(i));
    if (found.work / Parallelism::workers[i] < found.block_graph.value_or(0)) break;
  }
}

}  // namespace

Status write_parallelism(const RecordedRun& run, bool as_json, std::ostream& out) {
  const Result<Parallelism> by_blocks = measure(run, Weight::blocks);
  if (!by_blocks) return tl::unexpected(by_blocks.error());
  const Result<Parallelism> by_time = measure(run, Weight::nanoseconds);
  const bool traced = !run.tasks.empty() && by_time;
  if (as_json) {
    JsonText object = JsonText::object({{"blocks", object_of(*by_blocks)}});
    if (traced) object.add("nanoseconds", object_of(*by_time));
    out << object.text() << '\n';
    return {};
  }
  write_text(*by_blocks, "blocks", 1, out);
  if (traced) {
    out << '\n';
    write_text(*by_time, "ms", 1e6, out);
  } else if (!run.tasks.empty()) {
    out << "\nnot by time: " << by_time.error().line() << '\n';
  }
  return {};
}

}  // namespace sluice::tools
