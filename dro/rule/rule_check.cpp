#include "dro/rule/rule_check.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sluice::dro {

const std::string& RuleCheck::kernel(LaunchSlot launch) const {
  const LaunchPattern& pattern = launches_.patterns().at(launches_.launch(launch).pattern);
  return launches_.footprints().source(*pattern.footprint).kernel;
}

std::optional<std::string> RuleCheck::launch(LaunchNumber number, LaunchSlot launch,
                                             std::span<const Dependence> found, Budget& budget) {
  Past& now = past_.emplace_back(Past{number, kernel(launch), {}});
  for (const Dependence& dependence : found) {
    now.masters.emplace_back(dependence.master,
                             static_cast<const KnownDro*>(dependence.dro)->relation);
  }
  if (past_.size() > longest_chain) past_.pop_front();

  std::optional<std::string> lost;
  const bool is_whole =
      exact_.launch(number, launch, budget, [&](uint64_t master, const KnownDro& dro) {
        if (dro.host_master || lost || std::exchange(dro.used, true)) return;
        if (master >= past_.front().number && !implied(master, dro.relation, budget)) {
          lost = sentence(master, dro);
        }
      });
  if (!is_whole) exact_.live_launches().clear();
  return lost;
}

bool RuleCheck::implied(LaunchNumber master, const isl::map& edges, Budget& budget) const {
  Budget part(budget, Budget::unlimited);
  const IslWork work(context_, part);
  // reached[n] relates blocks of the last launch to those blocks of launch n for which it waits.
  std::map<LaunchNumber, isl::map> reached;
  const auto add = [&](LaunchNumber number, const isl::map& blocks) {
    const auto [place, added] = reached.emplace(number, blocks);
    if (!added) place->second = coalesced(place->second.unite(blocks));
  };
  for (auto it = past_.rbegin(); it != past_.rend() && it->number > master; ++it) {
    const bool last = it == past_.rbegin();
    const auto place = reached.find(it->number);
    if (!last && place == reached.end()) continue;
    for (const auto& [number, relation] : it->masters) {
      if (number < master) continue;
      add(number, last ? relation : coalesced(place->second.apply_range(relation)));
    }
  }
  const auto place = reached.find(master);
  const bool holds =
      edges.is_null() || (place != reached.end() && yes(edges.is_subset(place->second)));
  return holds || work.has_failed();
}

std::string RuleCheck::sentence(LaunchNumber master, const Dro& dro) const {
  const auto earlier = std::find_if(past_.begin(), past_.end(),
                                    [=](const Past& past) { return past.number == master; });
  const std::string& earlier_kernel = earlier->kernel;
  return fmt::format(
      "the buffer rule loses a dependence: launch {} ({}) has to wait for launch {} ({}) because "
      "of "
      "{}, and does not; the results may be wrong, use the exact rule",
      past_.back().number, past_.back().kernel, master, earlier_kernel, hazard_names(dro.hazards));
}

}  // namespace sluice::dro
