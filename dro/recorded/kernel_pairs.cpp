// Dependences added up by the kernels they join.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/terminal/fitted_name.hpp"
#include "dro/recorded/summary.hpp"

namespace sluice::dro {

std::vector<KernelPair> kernel_pairs(const JournalSummary& summary) {
  std::vector<KernelPair> pairs;
  for (const DroSummary& entry : summary.dros) {
    auto place = std::find_if(pairs.begin(), pairs.end(), [&](const KernelPair& pair) {
      return pair.master == entry.master_kernel && pair.slave == entry.slave_kernel;
    });
    if (place == pairs.end()) {
      place = pairs.insert(pairs.end(), {entry.master_kernel, entry.slave_kernel});
    }
    place->hazards.raw |= entry.dro.hazards.raw;
    place->hazards.war |= entry.dro.hazards.war;
    place->hazards.waw |= entry.dro.hazards.waw;
    ++place->dros;
    place->dependences += entry.uses;
    place->edges += entry.uses * entry.edges;
  }
  return pairs;
}

JsonText json_of(const KernelPair& pair) {
  return JsonText::object({{"master", pair.master},
                           {"slave", pair.slave},
                           {"hazards", hazard_names(pair.hazards)},
                           {"dros", pair.dros},
                           {"dependences", pair.dependences},
                           {"edges", pair.edges}});
}

void write_pairs(const JournalSummary& summary, bool as_json, std::ostream& out, size_t width) {
  for (const KernelPair& pair : kernel_pairs(summary)) {
    const std::string hazards = hazard_names(pair.hazards);
    if (!as_json) {
      out << fmt::format("{} -> {}: {}, DROs {}, dependences {}, edges {}\n",
                         name_in_line(pair.master, width), name_in_line(pair.slave, width), hazards,
                         pair.dros, pair.dependences, pair.edges);
      continue;
    }
    out << json_of(pair).text() << '\n';
  }
}

}  // namespace sluice::dro
