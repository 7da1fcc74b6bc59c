// Plans a loop of stencils and runs the plan in a model: workers that take tasks as those of the
// host do, one cache that all share, and memory that gives each worker its part.
//
//   simulated_run SIZE,SIZE[,SIZE] BLOCK,BLOCK[,BLOCK] STEPS [CACHE_MIB [NS_PER_CELL [BYTES_PER_NS
//   [WORKERS]]]]
//
// prints a line for each number of workers, 1 to WORKERS (256) by doubling: what planning took, the
// bytes that come from beyond the cache with tiles and without, for each launch and as a part of
// the buffers, and how many times as fast as one worker without tiles both are. Cells are 4 bytes;
// a step reads the neighbours of each cell in one buffer and writes it in another.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <queue>
#include <vector>

#include "dro/edges/edge_table.hpp"
#include "schedule/planner.hpp"
#include "schedule/task_edges.hpp"

namespace {

using namespace sluice;

// What a worker alone gets from memory, and all of them together at most.
constexpr double bytes_per_ns_together = 8;  // times one worker's

struct Model {
  double cache_bytes = 16 << 20U;
  double ns_per_cell = 0.15;
  double bytes_per_ns = 12;
};

struct Loop {
  Dim3 grid;
  Dim3 block;
  uint32_t steps = 0;
  double block_bytes() const { return 4.0 * static_cast<double>(block.count()); }
};

// LruCache holds blocks of buffers.
class LruCache {
 public:
  LruCache(size_t lines, size_t blocks) : most_(lines), of_(blocks, used_.end()) {}

  // touch() is whether the block was not there.
  bool touch(size_t block) {
    auto& place = of_[block];
    if (place != used_.end()) {
      used_.splice(used_.begin(), used_, place);
      return false;
    }
    if (used_.size() == most_) {
      of_[used_.back()] = used_.end();
      used_.pop_back();
    }
    used_.push_front(block);
    place = used_.begin();
    return true;
  }

 private:
  size_t most_;
  std::list<size_t> used_;
  std::vector<std::list<size_t>::iterator> of_;
};

struct Ran {
  double nanoseconds = 0;
  double bytes = 0;
};

// Simulation runs one plan.
class Simulation {
 public:
  Simulation(const schedule::Plan& plan, const Loop& loop, const Model& model, uint32_t workers)
      : plan_(plan),
        loop_(loop),
        model_(model),
        workers_(workers),
        cache_(static_cast<size_t>(model.cache_bytes / loop.block_bytes()), 2 * loop.grid.count()),
        ended_(plan.flag_count, -1.0) {}

  // Workers go on in the order of their times. Who waits for a task that nobody has run yet comes
  // again when the others have gone on.
  Ran run() {
    using Turn = std::pair<double, uint32_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    std::vector<uint32_t> next(workers_), end(workers_);
    const bool has_queues = !plan_.queue_ends.empty() && workers_ > 1;
    uint32_t shared = 0;
    std::vector<uint32_t> held(workers_, UINT32_MAX);
    for (uint32_t worker = 0; worker < workers_; ++worker) {
      if (has_queues) {
        next[worker] = worker == 0 ? 0 : plan_.queue_ends[worker - 1];
        end[worker] = plan_.queue_ends[worker];
      }
      turns.push({0.0, worker});
    }
    Ran ran;
    while (!turns.empty()) {
      auto [now, worker] = turns.top();
      turns.pop();
      if (held[worker] == UINT32_MAX) {
        if (has_queues) {
          if (next[worker] == end[worker]) continue;
          held[worker] = plan_.queue_tickets[next[worker]++];
        } else {
          if (shared == plan_.tasks.size()) continue;
          held[worker] = shared++;
        }
      }
      const schedule::Task& task = plan_.tasks[held[worker]];
      const double ready = masters_ended(task);
      if (ready < 0) {  // not before the next of the others
        turns.push({turns.empty() ? now : turns.top().first + 1, worker});
        continue;
      }
      const double missed = miss(task);
      ran.bytes += missed;
      const double share = model_.bytes_per_ns * std::min(1.0, bytes_per_ns_together / workers_);
      const double cells =
          static_cast<double>(task.block_count) * static_cast<double>(loop_.block.count());
      const double done =
          std::max(now, ready) + std::max(cells * model_.ns_per_cell, missed / share);
      ended_[flag_of(task)] = done;
      ran.nanoseconds = std::max(ran.nanoseconds, done);
      held[worker] = UINT32_MAX;
      turns.push({done, worker});
    }
    return ran;
  }

 private:
  uint32_t flag_of(const schedule::Task& task) const {
    const schedule::LaunchTasks& launch = plan_.launches[task.launch];
    return launch.first_flag + launch.cut.task_of(task.first_block);
  }

  double masters_ended(const schedule::Task& task) const {
    const schedule::LaunchTasks& launch = plan_.launches[task.launch];
    double ready = 0;
    for (const schedule::Dependence& dependence : plan_.dependences_of(launch)) {
      const uint32_t first = plan_.launches[dependence.master].first_flag;
      for (const auto& range :
           dependence.task_edges->masters(launch.cut.task_of(task.first_block))) {
        for (uint32_t master = range.first; master <= range.last; ++master) {
          if (ended_[first + master] < 0) return -1;
          ready = std::max(ready, ended_[first + master]);
        }
      }
    }
    return ready;
  }

  // Each block reads the rows of blocks around it from one buffer and writes the other.
  double miss(const schedule::Task& task) {
    const size_t blocks = loop_.grid.count();
    const size_t in = task.launch % 2 * blocks, out = blocks - in;
    size_t missed = 0;
    const auto plane = int64_t{loop_.grid.x} * loop_.grid.y;
    const uint32_t first = task.first_block, end = first + task.block_count;
    for (const int64_t offset :
         {-plane, -int64_t{loop_.grid.x}, int64_t{0}, int64_t{loop_.grid.x}, plane}) {
      for (uint32_t block = first; block < end; ++block) {
        const int64_t near = block + offset;
        if (near >= 0 && near < static_cast<int64_t>(blocks))
          missed += cache_.touch(in + static_cast<size_t>(near)) ? 1 : 0;
      }
    }
    for (uint32_t block = first; block < end; ++block)
      missed += cache_.touch(out + block) ? 1 : 0;
    return static_cast<double>(missed) * loop_.block_bytes();
  }

  const schedule::Plan& plan_;
  const Loop& loop_;
  const Model& model_;
  const uint32_t workers_;
  LruCache cache_;
  std::vector<double> ended_;
};

dro::EdgeTable star(const Dim3& grid) {
  const auto box = dro::BlockBox::of_grid(grid);
  std::vector<dro::BlockOffset> offsets{{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 0},
                                        {1, 0, 0},  {0, 1, 0},  {0, 0, 1}};
  if (grid.z == 1) offsets = {{0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  return make_table(grid, grid, dro::NeighbourEdges{{box, box}, std::move(offsets)});
}

Dim3 parse(const char* text) {
  Dim3 found;
  std::sscanf(text, "%u,%u,%u", &found.x, &found.y, &found.z);
  return found;
}

void run(const Loop& loop, const Model& model, uint32_t most) {
  const dro::EdgeTable table = star(loop.grid);
  const uint64_t buffer = loop.grid.count() * static_cast<uint64_t>(loop.block_bytes());
  const std::vector<schedule::TouchedBuffer> touched{{1, buffer}, {2, buffer}};
  std::deque<std::vector<schedule::Dependence>> dependences;
  std::vector<schedule::Launch> launches;
  for (uint32_t step = 0; step < loop.steps; ++step) {
    dependences.emplace_back();
    if (step > 0) dependences.back().push_back({step - 1, &table});
    launches.push_back({.grid = loop.grid,
                        .block = loop.block,
                        .dependences = dependences.back(),
                        .touched = touched});
  }
  double alone = 0;
  for (uint32_t workers = 1; workers <= most; workers *= 2) {
    std::array<Ran, 2> ran;
    std::array<double, 2> planning{};
    size_t tiles = 0, tasks = 0;
    for (const bool is_tiled : {false, true}) {
      schedule::Planner planner(
          {.cache_bytes = is_tiled ? static_cast<uint64_t>(model.cache_bytes / 2) : 0,
           .workers = workers,
           .on_host = true});
      for (double& took : planning) {  // the second time it knows the edges
        const auto start = std::chrono::steady_clock::now();
        const schedule::Plan plan = planner.plan(launches);
        took = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
                   .count();
        if (&took != planning.data()) continue;
        ran[is_tiled ? 1 : 0] = Simulation(plan, loop, model, workers).run();
        tiles = plan.tiles.size();
        tasks = plan.tasks.size();
      }
    }
    if (workers == 1) alone = ran[0].nanoseconds;
    const double all = 2.0 * static_cast<double>(buffer) * loop.steps;
    std::printf(
        "%u workers: %zu tasks in %zu tiles, planned in %.0f us, again in %.0f us; of the "
        "buffers %.3f for each launch, %.3f without tiles; speed %.2f, %.2f without tiles\n",
        workers, tasks, tiles, planning[0], planning[1], ran[1].bytes / all, ran[0].bytes / all,
        alone / ran[1].nanoseconds, alone / ran[0].nanoseconds);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(
        stderr, "usage: simulated_run SIZE,.. BLOCK,.. STEPS [CACHE_MIB [NS [BYTES [WORKERS]]]]\n");
    return 2;
  }
  const Dim3 size = parse(argv[1]), block = parse(argv[2]);
  const Loop loop{{static_cast<uint32_t>(divide_up(size.x, block.x)),
                   static_cast<uint32_t>(divide_up(size.y, block.y)),
                   static_cast<uint32_t>(divide_up(size.z, block.z))},
                  block,
                  static_cast<uint32_t>(std::atoi(argv[3]))};
  Model model;
  if (argc > 4) model.cache_bytes = std::atof(argv[4]) * 1048576;
  if (argc > 5) model.ns_per_cell = std::atof(argv[5]);
  if (argc > 6) model.bytes_per_ns = std::atof(argv[6]);
  run(loop, model, argc > 7 ? static_cast<uint32_t>(std::atoi(argv[7])) : 256);
}
