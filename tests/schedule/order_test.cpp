// Orders are topological whatever the edges, and keep what follows each other together in the
// cache.
#include "schedule/order.hpp"

#include <random>

#include <gtest/gtest.h>

#include "dro/types.hpp"
#include "megakernel/host/host_executor.hpp"
#include "megakernel/window_builder.hpp"
#include "schedule/task_runs.hpp"
#include "schedule/tiles/sweep_begins.hpp"
#include "schedule/tiles/time_tiles.hpp"
#include "schedule/validate.hpp"

namespace sluice::schedule {
namespace {

using megakernel::testing::all_table;
using megakernel::testing::cross_table;
using megakernel::testing::ranges_table;
using megakernel::testing::WindowBuilder;

void do_nothing(uint32_t, void*) {}

// Program is a window and the buffers that each of its launches touches.
class Program {
 public:
  uint32_t add(const Dim3& grid, uint32_t blocks_per_task, std::vector<TouchedBuffer> touched) {
    touched_.push_back(std::move(touched));
    return builder.add_launch(grid, blocks_per_task, do_nothing);
  }

  // A ping-pong stencil over two buffers of `bytes` each, one row of blocks a task.
  void add_stencil(const Dim3& grid, uint32_t steps, uint64_t bytes, dro::BufferId buffer = 1) {
    for (uint32_t step = 0; step < steps; ++step) {
      const uint32_t slot = add(grid, grid.x, {{buffer, bytes}, {buffer + 1, bytes}});
      if (step > 0) builder.depend(slot - 1, cross_table(grid));
    }
  }

  std::vector<TimeTile> order(const Machine& machine) {
    std::vector<Launch> launches;
    for (const std::vector<TouchedBuffer>& touched : touched_)
      launches.push_back({.touched = touched});
    if (machine.on_host) find_begins(builder.plan);
    builder.plan.tiles = find_time_tiles(builder.plan, launches, machine);
    order_by_tiles(builder.plan);
    const Status valid = validate(builder.plan);
    EXPECT_TRUE(valid) << valid.error().line();
    if (!machine.on_host) expect_same_runs();  // which know no sweeps end to end
    return builder.plan.tiles;
  }

  // expect_same_runs() compares the list with the runs of the same order.
  void expect_same_runs() const {
    Plan runs = builder.plan;
    runs.tasks.clear();
    run_by_tiles(runs);
    const Status valid = validate(runs);
    EXPECT_TRUE(valid) << valid.error().line();
    size_t ticket = 0;
    for_each_task(runs, [&](const Task& task) {
      ASSERT_LT(ticket, builder.plan.tasks.size());
      const Task& listed = builder.plan.tasks[ticket++];
      EXPECT_EQ(task.launch, listed.launch);
      EXPECT_EQ(task.first_block, listed.first_block);
      EXPECT_EQ(task.block_count, listed.block_count);
    });
    EXPECT_EQ(ticket, builder.plan.tasks.size());
  }

  // farthest() is the largest number of tasks that run between a task of block `block` and the
  // one of the same block in the launch after it, over launches [first, last).
  uint32_t farthest(uint32_t first, uint32_t last, uint32_t block) const {
    std::vector<uint32_t> ticket(touched_.size());
    for (uint32_t i = 0; i < builder.plan.tasks.size(); ++i) {
      const Task& task = builder.plan.tasks[i];
      if (task.first_block == block) ticket[task.launch] = i;
    }
    uint32_t most = 0;
    for (uint32_t slot = first + 1; slot < last; ++slot) {
      most = std::max(most, ticket[slot] - ticket[slot - 1]);
    }
    return most;
  }

  WindowBuilder builder;

 private:
  std::vector<std::vector<TouchedBuffer>> touched_;
};

TEST(Order, SkewsAChainOfStencils) {
  Program program;
  program.add_stencil({16, 512, 1}, 32, 64U << 20U);
  const std::vector<TimeTile> tiles =
      program.order({.cache_bytes = 8U << 20U, .workers = 2});  // 32 rows of both buffers
  // Three rows a step: two for the edges, one of slack.
  ASSERT_EQ(tiles.size(), 3U);
  EXPECT_EQ(tiles[0], (TimeTile{0, 11, 1}));
  EXPECT_EQ(tiles[1].end, 22U);
  // In the middle of the sweep a row is read again within three rounds of 11 tasks each, not after
  // the other 511 rows.
  EXPECT_LE(program.farthest(0, 11, 256 * 16), 33U);
}

TEST(Order, KeepsLaunchOrderWithoutACache) {
  Program program;
  program.add_stencil({16, 64, 1}, 5, 1U << 20U);
  const std::vector<TimeTile> tiles = program.order({.cache_bytes = 0, .workers = 2});
  EXPECT_EQ(tiles.size(), 5U);
  EXPECT_EQ(program.farthest(0, 5, 0), 64U);
}

TEST(Order, EndsATileWhereALaunchWaitsForAllOfAnother) {
  Program program;
  program.add_stencil({16, 64, 1}, 3, 1U << 20U);
  const uint32_t sum = program.add({2, 1, 1}, 1, {{1, 1U << 20U}, {9, 4}});
  program.builder.depend(sum - 1, all_table({16, 64, 1}, {2, 1, 1}));
  program.add_stencil({16, 64, 1}, 3, 1U << 20U, 5);
  const std::vector<TimeTile> tiles = program.order({.cache_bytes = 64U << 20U, .workers = 2});
  ASSERT_EQ(tiles.size(), 2U);
  EXPECT_EQ(tiles[0].end, sum);
}

TEST(Order, KeepsMoreDistanceWhereWorkersAreMany) {
  Program program;
  program.add_stencil({16, 512, 1}, 2, 1U << 20U);
  const std::vector<TimeTile> tiles = program.order({.cache_bytes = 64U << 20U, .workers = 16});
  ASSERT_EQ(tiles.size(), 1U);
  EXPECT_EQ(tiles[0].slack, 8U);
}

TEST(Order, OfAStencilChainDependsOnItsLengthOnlyAtTheEnd) {
  Program shorter;
  Program longer;
  shorter.add_stencil({16, 128, 1}, 40, 16U << 20U);
  longer.add_stencil({16, 128, 1}, 57, 16U << 20U);
  const Machine machine{.cache_bytes = 4U << 20U, .workers = 2};
  const std::vector<TimeTile> some = shorter.order(machine);
  const std::vector<TimeTile> more = longer.order(machine);
  ASSERT_GT(some.size(), 3U);
  for (size_t i = 0; i + 1 < some.size(); ++i) {
    EXPECT_EQ(some[i], more[i]);
  }
}

// queues() is the worker of each ticket.
std::vector<uint32_t> queues(const Plan& plan) {
  std::vector<uint32_t> worker_of(plan.tasks.size());
  uint32_t place = 0;
  for (uint32_t worker = 0; worker < plan.queue_ends.size(); ++worker) {
    for (; place < plan.queue_ends[worker]; ++place)
      worker_of[plan.queue_tickets[place]] = worker;
  }
  return worker_of;
}

// Of the tasks of a chain of launches of equal grids, how many wait for one of another worker.
uint32_t waiting_for_others(const Plan& plan) {
  const std::vector<uint32_t> worker_of = queues(plan);
  std::vector<uint32_t> worker_of_flag(plan.flag_count);
  uint32_t waiting = 0;
  for (uint32_t ticket = 0; ticket < plan.tasks.size(); ++ticket) {
    const Task& task = plan.tasks[ticket];
    const LaunchTasks& slot = plan.launches[task.launch];
    worker_of_flag[slot.first_flag + slot.cut.task_of(task.first_block)] = worker_of[ticket];
    if (slot.dependence_count == 0) continue;
    const Dependence& dependence = plan.dependences[slot.first_dependence];
    const LaunchTasks& master = plan.launches[dependence.master];
    bool waits = false;
    dro::for_each_master_range(
        *dependence.edges, task.first_block, task.block_count, [&](uint32_t first, uint32_t last) {
          for (uint32_t t = master.cut.task_of(first); t <= master.cut.task_of(last); ++t)
            waits = waits || worker_of_flag[master.first_flag + t] != worker_of[ticket];
        });
    waiting += waits ? 1 : 0;
  }
  return waiting;
}

TEST(Order, GivesEachWorkerAStretchOfEverySweep) {
  for (const uint32_t workers : {2U, 4U}) {
    SCOPED_TRACE(workers);
    Program program;
    program.add_stencil({16, 1024, 1}, 48, 64U << 20U);
    const std::vector<TimeTile> tiles =
        program.order({.cache_bytes = 8U << 20U, .workers = workers, .on_host = true});
    ASSERT_GE(tiles.size(), 2U);
    EXPECT_EQ(tiles[0].parts, workers);
    EXPECT_GE(tiles[0].end, 8U);
    EXPECT_FALSE(tiles[0].is_backward);
    EXPECT_TRUE(tiles[1].is_backward);
    const Plan& plan = program.builder.plan;
    ASSERT_EQ(plan.queue_ends.size(), workers);
    // Of 1024 rows, at each border the two beside it at most, and what the tile's turn makes more.
    EXPECT_LE(waiting_for_others(plan), 48 * 3 * (workers - 1));
    const double share = static_cast<double>(plan.tasks.size()) / workers;
    for (uint32_t worker = 0, begin = 0; worker < workers; begin = plan.queue_ends[worker++])
      EXPECT_NEAR(plan.queue_ends[worker] - begin, share, 0.02 * share);
  }
}

// A task and the one of its block in the launch after it lie as few tasks of its worker apart as
// where workers share a sweep.
TEST(Order, KeepsTheSkewInEachPart) {
  Program program;
  program.add_stencil({16, 1024, 1}, 12, 64U << 20U);
  const std::vector<TimeTile> tiles =
      program.order({.cache_bytes = 8U << 20U, .workers = 2, .on_host = true});
  ASSERT_GE(tiles[0].end, 8U);
  ASSERT_EQ(tiles[0].parts, 2U);
  EXPECT_LE(program.farthest(0, tiles[0].end, 256 * 16), 2 * 3 * tiles[0].end);
  EXPECT_LE(program.farthest(0, tiles[0].end, 768 * 16), 2 * 3 * tiles[0].end);
}

// A field in bands of rows, of which each needs the edge rows of its neighbours in each step, which
// are copied by launches of one task or read where they are.
void add_bands(Program& program, uint32_t bands, uint32_t steps, bool by_copies) {
  const Dim3 grid{4, 64, 1};
  const uint32_t last = static_cast<uint32_t>(grid.count()) - 1;
  const auto row = [&](uint32_t first) { return dro::BlockRange{first, first + grid.x - 1}; };
  const auto at = [&](bool is_end) { return is_end ? last + 1 - grid.x : 0; };
  std::vector<std::vector<uint32_t>> made(steps);
  for (uint32_t step = 0; step < steps; ++step) {
    for (uint32_t band = 0; band < bands; ++band) {
      std::vector<uint32_t> sent;
      for (uint32_t other = 0; step > 0 && other < bands; ++other) {
        if (other + 1 != band && band + 1 != other) continue;
        const bool is_end = other + 1 == band;  // of the other one
        if (!by_copies) {
          sent.push_back(made[step - 1][other]);
          continue;
        }
        sent.push_back(program.add({1, 1, 1}, 1, {{100 + band, 4096}}));
        program.builder.depend(made[step - 1][other],
                               ranges_table(grid, {1, 1, 1}, {{row(at(is_end))}}));
      }
      made[step].push_back(
          program.add(grid, grid.x, {{2 * band, 1U << 20U}, {2 * band + 1, 1U << 20U}}));
      if (step > 0) program.builder.depend(made[step - 1][band], cross_table(grid));
      for (uint32_t i = 0; i < sent.size(); ++i) {
        const bool from_before = band > 0 && i == 0;
        std::vector<std::vector<dro::BlockRange>> rows(grid.count());
        const Dim3 master = by_copies ? Dim3{1, 1, 1} : grid;
        for (uint32_t x = 0; x < grid.x; ++x)
          rows[at(!from_before) + x].push_back(by_copies ? dro::BlockRange{0, 0}
                                                         : row(at(from_before)));
        program.builder.depend(sent[i], ranges_table(master, grid, rows));
      }
    }
  }
}

TEST(Order, PutsBandsEndToEndThatNeedEachOthersEdges) {
  for (const uint32_t workers : {1U, 2U}) {
    for (const bool by_copies : {true, false}) {
      SCOPED_TRACE(testing::Message() << workers << " workers, by copies " << by_copies);
      Program program;
      add_bands(program, 4, 8, by_copies);
      const std::vector<TimeTile> tiles =
          program.order({.cache_bytes = 4U << 20U, .workers = workers, .on_host = true});
      const Plan& plan = program.builder.plan;
      EXPECT_EQ(tiles.size(), 1U);
      for (uint32_t band = 0; band < 4; ++band) {
        EXPECT_DOUBLE_EQ(plan.launches[band].begin, band);
        EXPECT_DOUBLE_EQ(plan.launches[band].extent, 4);
      }
    }
  }
}

// Launches of one task that know nothing of each other are no tile, which would be one worker's.
TEST(Order, LeavesLaunchesOfOneTaskToAllWorkers) {
  Program program;
  for (uint32_t launch = 0; launch < 8; ++launch)
    program.add({4, 1, 1}, 4, {{launch, 4096}});
  const std::vector<TimeTile> tiles =
      program.order({.cache_bytes = 1U << 20U, .workers = 2, .on_host = true});
  EXPECT_EQ(tiles.size(), 8U);
  EXPECT_TRUE(program.builder.plan.queue_ends.empty());
}

// A sum of one task that all of the next launch needs says nothing of places.
TEST(Order, SweepsAllSideBySideWhereNothingAsksForMore) {
  Program program;
  program.add_stencil({16, 64, 1}, 3, 1U << 20U);
  const uint32_t sum = program.add({1, 1, 1}, 1, {{1, 1U << 20U}, {9, 4}});
  program.builder.depend(sum - 1, all_table({16, 64, 1}, {1, 1, 1}));
  const uint32_t next = program.add({16, 64, 1}, 16, {{1, 1U << 20U}, {9, 4}});
  program.builder.depend(sum, all_table({1, 1, 1}, {16, 64, 1}));
  program.builder.depend(sum - 1, cross_table({16, 64, 1}));
  program.order({.cache_bytes = 64U << 20U, .workers = 2, .on_host = true});
  for (uint32_t launch = 0; launch <= next; ++launch)
    EXPECT_DOUBLE_EQ(program.builder.plan.launches[launch].extent, 1) << launch;
}

// Each row needs forty rows before its own: a worker that began in the middle would have to come
// much later in each launch than in the one before.
TEST(Order, SharesSweepsThatReachFarBack) {
  Program program;
  const Dim3 grid{1, 64, 1};
  std::vector<std::vector<dro::BlockRange>> rows;
  for (uint32_t row = 0; row < 64; ++row)
    rows.push_back({{row - std::min(row, 40U), row}});
  for (uint32_t step = 0; step < 6; ++step) {
    const uint32_t slot = program.add(grid, 1, {{1, 4096}, {2, 4096}});
    if (step > 0) program.builder.depend(slot - 1, ranges_table(grid, grid, rows));
  }
  const std::vector<TimeTile> tiles =
      program.order({.cache_bytes = 1U << 20U, .workers = 2, .on_host = true});
  ASSERT_EQ(tiles.size(), 1U);
  EXPECT_EQ(tiles[0].parts, 1U);
  EXPECT_TRUE(program.builder.plan.queue_ends.empty());
}

// A random window: chains, forks and joins over grids of many sizes, with edges of every form.
void add_random(Program& program, std::mt19937& random) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const uint32_t launches = 1 + below(30);
  std::vector<Dim3> grids;
  for (uint32_t slot = 0; slot < launches; ++slot) {
    const bool same = slot > 0 && below(3) > 0;
    const Dim3 grid = same ? grids.back() : Dim3{1 + below(9), 1 + below(9), 1 + below(3)};
    grids.push_back(grid);
    program.add(grid, 1 + below(static_cast<uint32_t>(grid.count())),
                {{1 + below(4), 1 + below(4000)}});
    for (uint32_t master = slot - std::min(slot, 1 + below(4)); master < slot; ++master) {
      if (grids[master] == grid && below(2) == 0) {
        program.builder.depend(master, cross_table(grid));
      } else if (below(4) == 0) {
        program.builder.depend(master, all_table(grids[master], grid));
      } else {
        const auto blocks = static_cast<uint32_t>(grids[master].count());
        std::vector<std::vector<dro::BlockRange>> rows(grid.count());
        for (auto& row : rows) {
          const uint32_t first = below(blocks);
          if (below(3) > 0) row.push_back({first, std::min(blocks - 1, first + below(4))});
        }
        program.builder.depend(master, ranges_table(grids[master], grid, rows));
      }
    }
  }
}

TEST(Order, IsTopologicalWhateverTheEdges) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Program program;
    add_random(program, random);
    program.order(
        {.cache_bytes = random() % 8000, .workers = 1 + seed % 5, .on_host = seed % 3 > 0});
    if (::testing::Test::HasFailure()) return;
    megakernel::HostExecutor executor(2);
    executor.run(program.builder.window);
  }
}

// Two hundred orders of a window with edges of every form, most of them different.
TEST(RandomOrder, IsTopologicalAndDiffersFromSeedToSeed) {
  WindowBuilder builder;
  builder.add_launch({6, 5, 1}, 2, do_nothing);
  builder.add_launch({6, 5, 1}, 3, do_nothing);
  builder.depend(0, cross_table({6, 5, 1}));
  builder.add_launch({4, 1, 1}, 1, do_nothing);
  builder.depend(1, all_table({6, 5, 1}, {4, 1, 1}));
  builder.add_launch({2, 1, 1}, 1, do_nothing);
  builder.depend(0, ranges_table({6, 5, 1}, {2, 1, 1}, {{{0, 3}}, {{7, 8}, {20, 29}}}));
  std::vector<Task> before;
  int changes = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    order_randomly(builder.plan, seed);
    const Status valid = validate(builder.plan);
    ASSERT_TRUE(valid) << "seed " << seed << ": " << valid.error().line();
    const auto same = [](const Task& a, const Task& b) {
      return a.launch == b.launch && a.first_block == b.first_block;
    };
    changes += std::equal(before.begin(), before.end(), builder.plan.tasks.begin(),
                          builder.plan.tasks.end(), same)
                   ? 0
                   : 1;
    before = builder.plan.tasks;
  }
  EXPECT_EQ(changes, 200);
}

}  // namespace
}  // namespace sluice::schedule
