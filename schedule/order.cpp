#include "schedule/order.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "schedule/task_edges.hpp"
#include "schedule/task_runs.hpp"
#include "schedule/tiles/tile_parts.hpp"

namespace sluice::schedule {
namespace {

// The tickets of each worker.
using WorkerTickets = std::vector<std::vector<uint32_t>>;

void set_queues(Plan& plan, const WorkerTickets& workers) {
  plan.queue_tickets.reserve(plan.tasks.size());
  for (const std::vector<uint32_t>& tickets : workers)
    add_queue(plan, tickets);
}

// Sweeper emits the tasks of one tile. Tasks of a launch come in the order of their blocks, part by
// part, so "the masters of this task have been emitted" is one comparison for each dependence, or
// two where they reach into the part behind.
class Sweeper {
 public:
  // `runs` (may be null) gets the tasks in the place of plan.tasks.
  Sweeper(Plan& plan, const TimeTile& tile, WorkerTickets& workers, RunWriter* runs)
      : plan_(plan), tile_(tile), workers_(workers), runs_(runs) {
    TileParts parts(plan, tile);
    sweeps_.reserve(tile.end - tile.first);
    stretches_.reserve(size_t{tile.end - tile.first} * tile.parts);
    for (uint32_t launch = tile.first; launch < tile.end; ++launch) {
      const LaunchTasks& tasks = plan.launches[launch];
      parts.add(launch);
      Sweep sweep{launch, task_count(tasks), gates_.size(), 0};
      for (const Dependence& dependence : plan.dependences_of(tasks)) {
        if (dependence.master < tile.first) continue;  // all of it has been emitted
        gates_.push_back(
            {dependence.master - tile.first, SweptEdges(*dependence.task_edges, tile.is_backward)});
      }
      sweep.gate_count = gates_.size() - sweep.first_gate;
      sweeps_.push_back(sweep);
      for (uint32_t part = 0; part < tile.parts; ++part) {
        const uint32_t begin = parts.starts(launch)[part];
        const uint32_t end = part + 1 < tile.parts ? parts.starts(launch)[part + 1] : sweep.tasks;
        stretches_.push_back({begin, end, begin, 0});
      }
      rounds_ = std::max(rounds_, sweep.tasks);
    }
    for (uint32_t part = 0; part < tile.parts; ++part)
      set_delays(part);
  }

  // The last part needs nothing of the others, and its earliest sweep that has not ended is never
  // held back by its masters; nor is then that of the part before it: so all end.
  void run() {
    std::vector<size_t> first(tile_.parts, 0);  // sweep that has not ended, by part
    size_t parts_left = tile_.parts;
    for (uint64_t round = 1; parts_left > 0; ++round) {
      const size_t first_before = first[0];
      for (uint32_t part = tile_.parts; part-- > 0;) {
        if (first[part] == sweeps_.size()) continue;
        for (size_t i = first[part]; i < sweeps_.size(); ++i)
          advance(i, part, round);
        while (first[part] < sweeps_.size() && stretch(first[part], part).ended())
          ++first[part];
        if (first[part] == sweeps_.size()) --parts_left;
      }
      if (runs_ != nullptr && parts_left > 0 && first[0] == first_before)
        round += skip_rounds(first[0]);
      taken_ = 0;
    }
  }

 private:
  // Gate: the sweep may not emit its next task before its master has emitted so much.
  struct Gate {
    size_t master = 0;  // place in sweeps_
    SweptEdges edges;
  };
  struct Sweep {
    uint32_t launch = 0;
    uint32_t tasks = 0;
    size_t first_gate = 0;
    size_t gate_count = 0;
  };
  // Stretch is a part of a sweep, in positions.
  struct Stretch {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t next = 0;
    uint32_t delay = 0;  // rounds before it begins
    bool ended() const { return next == end; }
  };

  Stretch& stretch(size_t sweep, uint32_t part) { return stretches_[sweep * tile_.parts + part]; }

  // set_delays() has sweeps that lie end to end begin one behind the other. A launch of one task
  // has no place there.
  void set_delays(uint32_t part) {
    std::vector<double> places(sweeps_.size(), 0);
    double first = std::numeric_limits<double>::max();
    for (size_t i = 0; i < sweeps_.size(); ++i) {
      const Stretch& own = stretch(i, part);
      if (sweeps_[i].tasks == 1 || own.ended()) continue;
      places[i] =
          begin_of(plan_.launches[sweeps_[i].launch], tile_) + 1.0 * own.begin / sweeps_[i].tasks;
      first = std::min(first, places[i]);
    }
    for (size_t i = 0; i < sweeps_.size(); ++i)
      stretch(i, part).delay = static_cast<uint32_t>(std::max(0.0, places[i] - first) * rounds_);
  }

  void take(const Sweep& sweep, Stretch& stretch, uint32_t part) {
    if (tile_.parts > 1) {
      const uint32_t worker = tile_.is_backward ? tile_.parts - 1 - part : part;
      workers_[worker].push_back(static_cast<uint32_t>(plan_.tasks.size()));
    }
    const uint32_t task = tile_.is_backward ? sweep.tasks - 1 - stretch.next : stretch.next;
    if (runs_ != nullptr) {
      runs_->add(sweep.launch, task);
    } else {
      plan_.tasks.push_back(task_of(plan_, sweep.launch, task));
    }
    ++stretch.next;
    ++taken_;
  }

  // skip_rounds() takes the rounds behind this one in which each sweep that has begun goes on by
  // one task and no other begins; it is how many these are. Sweeps have one part, and those before
  // `first` have ended.
  uint32_t skip_rounds(size_t first) {
    size_t end = first;
    while (end < sweeps_.size() && stretch(end, 0).next != 0)
      ++end;
    if (taken_ != end - first) return 0;
    uint32_t rounds = UINT32_MAX;
    for (size_t i = first; i < sweeps_.size() && rounds > 0; ++i)
      rounds = std::min(rounds, i < end ? rounds_open(i) : rounds_shut(i, first, end));
    if (rounds == 0) return 0;
    rounds = runs_->repeat(end - first, rounds);
    for (size_t i = first; i < end; ++i)
      stretch(i, 0).next += rounds;
    return rounds;
  }

  // rounds_open() is for how many rounds a sweep may surely go on by one task, as its masters do
  // that have not ended.
  uint32_t rounds_open(size_t place) {
    const Sweep& sweep = sweeps_[place];
    const uint32_t position = stretch(place, 0).next;
    if (sweep.tasks != rounds_) return 0;  // it may go on by none or by two
    uint32_t rounds = sweep.tasks - position;
    if (rounds == 0) return 0;
    for (const Gate& gate : gates_of(sweep)) {
      const Stretch& master = stretch(gate.master, 0);
      if (master.ended()) continue;
      const uint32_t needed = gate.edges.before(position) + tile_.slack;
      if (master.next + 1 < std::min(master.end, needed)) return 0;
      rounds = std::min(rounds, gate.edges.steady(position) - position);
    }
    return rounds;
  }

  // rounds_shut() is for how many rounds one of its masters keeps a sweep from beginning.
  uint32_t rounds_shut(size_t place, size_t first, size_t end) {
    uint32_t rounds = 0;
    for (const Gate& gate : gates_of(sweeps_[place])) {
      uint32_t needed = gate.edges.before(0);
      if (needed == 0) continue;
      const Stretch& master = stretch(gate.master, 0);
      needed = std::min(master.end, needed + tile_.slack);
      if (gate.master >= end) {
        rounds = UINT32_MAX;  // it has not begun itself
      } else if (gate.master >= first && master.next + 1 < needed) {
        rounds = std::max(rounds, needed - master.next - 1);
      }
    }
    return rounds;
  }

  std::span<const Gate> gates_of(const Sweep& sweep) const {
    return std::span(gates_).subspan(sweep.first_gate, sweep.gate_count);
  }

  // advance() lets a sweep go on by a task where its masters allow it, but no faster than the
  // longest sweep of the tile passes over its launch: only sweeps of the same region share the
  // cache.
  void advance(size_t place, uint32_t part, uint64_t round) {
    Stretch& own = stretch(place, part);
    const Sweep& sweep = sweeps_[place];
    if (own.ended() || round <= own.delay) return;
    if (uint64_t{own.next - own.begin} * rounds_ >= (round - own.delay) * sweep.tasks) return;
    if (open(sweep, own.next, part)) take(sweep, own, part);
  }

  bool open(const Sweep& sweep, uint32_t position, uint32_t part) {
    for (const Gate& gate : gates_of(sweep)) {
      uint32_t needed = gate.edges.before(position);
      if (needed == 0) continue;
      needed = std::min(sweeps_[gate.master].tasks, needed + tile_.slack);
      for (uint32_t other = part; other < tile_.parts; ++other) {
        const Stretch& master = stretch(gate.master, other);
        if (master.next < std::min(needed, master.end)) return false;
        if (needed <= master.end) break;
      }
    }
    return true;
  }

  Plan& plan_;
  const TimeTile& tile_;
  WorkerTickets& workers_;
  RunWriter* const runs_;
  uint32_t rounds_ = 1;  // of the longest sweep, which nothing holds back
  std::vector<Sweep> sweeps_;
  std::vector<Stretch> stretches_;  // by sweep, and by part in it
  std::vector<Gate> gates_;
  size_t taken_ = 0;  // in this round
};

}  // namespace

void order_by_tiles(Plan& plan) {
  plan.tasks.reserve(plan.flag_count);
  WorkerTickets workers(plan.tiles.empty() ? 1 : plan.tiles.front().parts);
  for (const TimeTile& tile : plan.tiles)
    Sweeper(plan, tile, workers, nullptr).run();
  if (workers.size() > 1) set_queues(plan, workers);
}

void run_by_tiles(Plan& plan) {
  WorkerTickets workers;
  RunWriter runs(plan);
  for (const TimeTile& tile : plan.tiles) {
    SLUICE_ASSERT(tile.parts == 1);
    Sweeper(plan, tile, workers, &runs).run();
  }
  runs.finish();
}

void order_by_worker(Plan& plan, uint32_t workers) {
  plan.tasks.reserve(plan.flag_count);
  WorkerTickets tickets(workers);
  for (uint32_t launch = 0; launch < plan.launches.size(); ++launch) {
    for_each_share(task_count(plan.launches[launch]), workers, [&](uint32_t worker, uint32_t task) {
      tickets[worker].push_back(static_cast<uint32_t>(plan.tasks.size()));
      plan.tasks.push_back(task_of(plan, launch, task));
    });
  }
  set_queues(plan, tickets);
}

}  // namespace sluice::schedule
