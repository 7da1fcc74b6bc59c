#include "schedule/tiles/sweep_begins.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/task_edges.hpp"
#include "schedule/tiles/time_tiles.hpp"

namespace sluice::schedule {
namespace {

// Stretch is a part of a sweep, which is from 0 to 1.
struct Stretch {
  double first = 0;
  double last = 0;
  // is_short() holds where it says where in the sweep it is.
  bool is_short() const { return last - first <= 1 - longest_lag; }
  double middle() const { return (first + last) / 2; }
};

// slaves_of() is where those tasks lie that wait at all.
Stretch slaves_of(const TaskEdges::Reach& reach) {
  const auto tasks = static_cast<double>(reach.prefix.size());
  const auto first = std::ranges::find_if(reach.prefix, [](uint32_t n) { return n > 0; });
  const auto end = std::ranges::find(reach.suffix, reach.master_tasks);
  return {static_cast<double>(first - reach.prefix.begin()) / tasks,
          static_cast<double>(end - reach.suffix.begin()) / tasks};
}

// masters_of() is where those tasks lie that any waits for.
Stretch masters_of(const TaskEdges::Reach& reach) {
  return {1.0 * reach.suffix.front() / reach.master_tasks,
          1.0 * reach.prefix.back() / reach.master_tasks};
}

// distance() is by how much of a sweep one stretch comes before the other one.
double distance(const Stretch& of_master, const Stretch& of_slave) {
  return of_master.middle() > of_slave.middle() ? of_master.last - of_slave.first
                                                : of_master.first - of_slave.last;
}

// SweepGroups groups launches of which is known where they begin beside each other.
class SweepGroups {
 public:
  explicit SweepGroups(const Plan& plan)
      : plan_(plan), known_(plan.launches.size()), stretches_(plan.launches.size()) {
    for (uint32_t launch = 0; launch < known_.size(); ++launch)
      known_[launch].first = launch;
  }

  // Masters come before their slaves. What depends with a lag alone says most exactly where it is.
  void add(uint32_t launch) {
    const std::span<const Dependence> dependences = plan_.dependences_of(plan_.launches[launch]);
    for (const Dependence& dependence : dependences) {
      if (!is_small(launch) && is_lag(dependence)) join(dependence.master, launch, 0);
    }
    for (const Dependence& dependence : dependences) {
      const TaskEdges::Reach& reach = dependence.task_edges->reach();
      if (reach.prefix.back() == 0) continue;
      if (!is_small(dependence.master)) {
        add(dependence.master, launch, masters_of(reach), slaves_of(reach));
        continue;
      }
      for (const Known& stretch : stretches_[dependence.master])
        add(stretch.launch, launch, stretch.of, slaves_of(reach));
    }
  }

  // set() sets what was found. `plan` is that of this object.
  void set(Plan& plan) {
    std::vector<Stretch> groups(known_.size());
    for (uint32_t launch = 0; launch < known_.size(); ++launch) {
      if (is_small(launch)) continue;
      const Place place = find(launch);
      Stretch& group = groups[place.first];
      group = {std::min(group.first, place.begin), std::max(group.last, place.begin)};
    }
    for (uint32_t launch = 0; launch < known_.size(); ++launch) {
      const Place place = find(launch);
      const Stretch& group = groups[place.first];
      plan.launches[launch].begin = place.begin - group.first;
      plan.launches[launch].extent = group.last - group.first + 1;
    }
  }

 private:
  // Place is the first launch of a group, and where a launch of it begins beside that.
  struct Place {
    uint32_t first = 0;
    double begin = 0;
  };
  // Known is a stretch of a launch's sweep for which a launch of one task stands.
  struct Known {
    uint32_t launch = 0;
    Stretch of;
  };

  bool is_small(uint32_t launch) const { return task_count(plan_.launches[launch]) == 1; }

  bool is_lag(const Dependence& dependence) const {
    const TaskEdges::Reach& reach = dependence.task_edges->reach();
    return !is_small(dependence.master) && reach.prefix.back() != 0 &&
           std::max(reach.lag, reach.backward_lag) <= longest_lag;
  }

  Place find(uint32_t launch) {
    const Place place = known_[launch];
    if (place.first == launch) return place;
    const Place first = find(place.first);
    return known_[launch] = {first.first, place.begin + first.begin};
  }

  void add(uint32_t master, uint32_t launch, const Stretch& of_master, const Stretch& of_slave) {
    if (!of_master.is_short()) return;
    if (is_small(launch)) {
      add_stretch(launch, {master, of_master});
    } else if (of_slave.is_short()) {
      join(master, launch, distance(of_master, of_slave));
    }
  }

  void join(uint32_t master, uint32_t launch, double distance) {
    const Place a = find(master), b = find(launch);
    if (a.first == b.first) return;
    const double between = a.begin + distance - b.begin;
    const uint32_t first = std::min(a.first, b.first);
    known_[std::max(a.first, b.first)] = {first, first == a.first ? between : -between};
  }

  // One stretch of a group says what others would.
  void add_stretch(uint32_t launch, const Known& stretch) {
    std::vector<Known>& stretches = stretches_[launch];
    const uint32_t group = find(stretch.launch).first;
    const auto is_it = [&](const Known& known) { return find(known.launch).first == group; };
    if (std::ranges::none_of(stretches, is_it)) stretches.push_back(stretch);
  }

  const Plan& plan_;
  std::vector<Place> known_;
  std::vector<std::vector<Known>> stretches_;  // of launches of one task
};

}  // namespace

void find_begins(Plan& plan) {
  SweepGroups groups(plan);
  for (uint32_t launch = 0; launch < plan.launches.size(); ++launch)
    groups.add(launch);
  groups.set(plan);
}

}  // namespace sluice::schedule
