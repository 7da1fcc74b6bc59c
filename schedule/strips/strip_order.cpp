#include "schedule/strips/strip_order.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "schedule/task_edges.hpp"
#include "schedule/task_runs.hpp"

namespace sluice::schedule {
namespace {

// StripWriter lets each worker sweep a strip of its own, round by round: in a round each launch of
// the strip goes on by a plane if its masters' tasks are in the order. What another worker runs
// must be there since an earlier round, so that nobody finds a task that another has just taken.
// The first strip that has not ended needs nothing of others but of those that have: so all end.
class StripWriter {
 public:
  StripWriter(Plan& plan, const Strips& strips, uint32_t workers)
      : plan_(plan), strips_(strips), in_order_(plan.flag_count), workers_(workers) {}

  void write() {
    for (const StripTile& tile : strips_.tiles) {
      if (tile.waits) finish(tile.first);
      if (tile.strips == 0) share_out(tile.first);
      for (uint32_t strip = 0; strip < tile.strips; ++strip) {
        while (std::ranges::none_of(workers_, &Worker::is_free))
          run_round();
        begin(*std::ranges::find_if(workers_, &Worker::is_free), tile, strip);
      }
    }
    finish(static_cast<uint32_t>(plan_.launches.size()));
    for (const Worker& worker : workers_)
      add_queue(plan_, worker.tickets);
  }

 private:
  // Sweep is a launch's tasks in a strip, one in each plane.
  struct Sweep {
    uint32_t launch = 0;
    uint32_t in_plane = 0;
    uint32_t plane = 0;  // the next one
    uint32_t planes = 0;
  };
  struct Worker {
    std::vector<Sweep> sweeps;
    std::vector<uint32_t> tickets;
    bool is_free() const { return sweeps.empty(); }
  };
  struct Place {
    uint32_t round = 0;  // 0: not in the order
    uint32_t worker = 0;
  };

  void begin(Worker& worker, const StripTile& tile, uint32_t strip) {
    for (uint32_t launch = tile.first; launch < tile.end; ++launch) {
      const LaunchTasks& tasks = plan_.launches[launch];
      const uint32_t first = strips_.first_strip[launch];
      if (strip < first || strip - first >= tasks.cut.tasks_in_plane()) continue;
      worker.sweeps.push_back(
          {launch, strip - first, 0, tasks.block_count / tasks.cut.plane_blocks});
    }
  }

  // finish() has all launches before `end` in the order.
  void finish(uint32_t end) {
    while (!std::ranges::all_of(workers_, &Worker::is_free))
      run_round();
    in_order_before_ = end;
  }

  void run_round() {
    ++round_;
    const size_t before = plan_.tasks.size();
    for (uint32_t number = 0; number < workers_.size(); ++number) {
      std::vector<Sweep>& sweeps = workers_[number].sweeps;
      for (Sweep& sweep : sweeps) {
        const uint32_t task =
            sweep.plane * plan_.launches[sweep.launch].cut.tasks_in_plane() + sweep.in_plane;
        if (sweep.plane == sweep.planes || !is_open(sweep.launch, task, number)) continue;
        take(sweep.launch, task, number);
        ++sweep.plane;
      }
      if (std::ranges::all_of(sweeps, [](const Sweep& s) { return s.plane == s.planes; }))
        sweeps.clear();
    }
    rounds_without_task_ = plan_.tasks.size() > before ? 0 : rounds_without_task_ + 1;
    SLUICE_ASSERT(rounds_without_task_ < 2);
  }

  bool is_open(uint32_t launch, uint32_t task, uint32_t worker) const {
    for (const Dependence& dependence : plan_.dependences_of(plan_.launches[launch])) {
      if (dependence.master < in_order_before_) continue;
      const Place* places = &in_order_[plan_.launches[dependence.master].first_flag];
      for (const TaskRange& masters : dependence.task_edges->masters(task)) {
        for (uint32_t master = masters.first; master <= masters.last; ++master) {
          const Place& place = places[master];
          if (place.round == 0 || (place.worker != worker && place.round == round_)) return false;
        }
      }
    }
    return true;
  }

  void take(uint32_t launch, uint32_t task, uint32_t worker) {
    workers_[worker].tickets.push_back(static_cast<uint32_t>(plan_.tasks.size()));
    plan_.tasks.push_back(task_of(plan_, launch, task));
    in_order_[plan_.launches[launch].first_flag + task] = {round_, worker};
  }

  // share_out() gives each worker an equal part of a launch.
  void share_out(uint32_t launch) {
    ++round_;
    for_each_share(task_count(plan_.launches[launch]), static_cast<uint32_t>(workers_.size()),
                   [&](uint32_t worker, uint32_t task) { take(launch, task, worker); });
  }

  Plan& plan_;
  const Strips& strips_;
  std::vector<Place> in_order_;  // by flag
  std::vector<Worker> workers_;
  uint32_t in_order_before_ = 0;  // launches of which all tasks are
  uint32_t round_ = 0;
  uint32_t rounds_without_task_ = 0;
};

}  // namespace

void order_by_strips(Plan& plan, const Strips& strips, uint32_t workers) {
  plan.tasks.reserve(plan.flag_count);
  plan.tiles.clear();
  for (const StripTile& tile : strips.tiles)
    plan.tiles.push_back({.first = tile.first, .end = tile.end});
  StripWriter(plan, strips, workers).write();
}

}  // namespace sluice::schedule
