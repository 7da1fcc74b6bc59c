// What grows with blocks times something: each row makes one step of finding dependences large, by
// an input that can be written down in a line, and what that takes is counted, not timed.
#include <functional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "dro/launches/costs.hpp"
#include "dro/replayed_driver.hpp"
#include "sanitized.hpp"

namespace sluice::dro::testing {
namespace {

// More than a launch may be compared with; instrumented code would take minutes for them.
#if SLUICE_IS_SANITIZED
constexpr uint64_t many_readers = 50'000;
#else
constexpr uint64_t many_readers = 1'100'000;
#endif

// Growth is a row of the table.
struct Growth {
  const char* what;   // grows
  const char* where;  // and where it would
  std::function<void(ReplayedDriver&)> run;
  // Whether that costs a launch so much that it is given up; else its answer is cheaper, or exact.
  bool is_given_up = false;
};

std::string grid_text(uint32_t x, uint32_t y = 1, uint32_t z = 1) {
  return "0 <= x < " + std::to_string(x) + " and 0 <= y < " + std::to_string(y) + " and 0 <= z < " +
         std::to_string(z);
}

// combs() is every block touching every `stride`th word of so many.
std::string combs(uint32_t blocks, long words, long stride) {
  return "{ B[x, y, z] -> A[o] : exists k : " + grid_text(blocks) + " and 0 <= k < " +
         std::to_string(words / stride) + " and " + std::to_string(4 * stride) + " k <= o < " +
         std::to_string(4 * stride) + " k + 4 }";
}

void two(ReplayedDriver& driver, const Footprint& master, const Footprint& slave, uint64_t bytes) {
  const BufferId x = driver.buffer(bytes);
  driver.launch(master, {{x, 0}});
  driver.launch(slave, {{x, 0}});
  driver.launch(master, {{x, 0}});
}

const Growth growths[] = {
    {"blocks x pieces of what is live", "runs_within(), dro/edges/block_bytes.cpp",
     [](ReplayedDriver& driver) {
       // Each block reads all; then every third word is written, and all is written again.
       const Footprint gather = footprint("gather", {2048}, {reads(range(2048, 0, 3 << 19))});
       const Footprint strided =
           footprint("strided", {1024},
                     {writes("{ B[x, y, z] -> A[o] : exists k : " + grid_text(1024) +
                             " and 0 <= k < 128 and 1536 x + 12 k <= o < 1536 x + 12 k + 4 }")});
       const Footprint all = footprint("all", {2048}, {writes(chunks(2048, 768, 768))});
       const BufferId x = driver.buffer(3 << 19);
       for (int i = 0; i < 3; ++i) {
         driver.launch(gather, {{x, 0}});
         driver.launch(strided, {{x, 0}});
         driver.launch(all, {{x, 0}});
       }
     }},
    {"blocks x runs of a block", "AccessLoops::list()",
     [](ReplayedDriver& driver) {
       two(driver, footprint("w", {4096}, {writes(chunks(4096, 512, 512))}),
           footprint("r", {4096}, {reads(combs(4096, 1 << 19, 2))}), 1 << 21);
     }},
    {"steps of loops in vain", "AccessLoops::list()",
     [](ReplayedDriver& driver) {
       two(driver, footprint("w", {64}, {writes(chunks(64, 64, 64))}),
           footprint("r", {64},
                     {reads("{ B[x, y, z] -> A[o] : exists a, b, c : " + grid_text(64) +
                            " and 0 <= a, b, c < 1000 and o = a * 3 + b * 5 + c * 7 and a + b + c "
                            "= 17 x and o < 4096 }")}),
           4096);
     }},
    {"rows x columns of an array", "bytes_of(), dro/boxes/box_bytes.cpp",
     [](ReplayedDriver& driver) {
       // One column of a very long array.
       const std::string column = "{ B[x, y, z] -> A[o] : exists i : " + grid_text(1024) +
                                  " and 4096 x <= i < 4096 x + 4096 and 64 i <= o < 64 i + 4 }";
       two(driver, footprint("w", {1024}, {writes(column)}),
           footprint("r", {1024}, {reads(column)}), uint64_t{1} << 28);
     }},
    {"sides of a grid, where all touch all", "AxisProduct, dro/boxes/axis_edges.cpp",
     [](ReplayedDriver& driver) {
       ArgumentFootprint argument;
       argument.reads = argument.may_writes = whole();
       const Footprint all = footprint("all", {1U << 29U, 2}, {argument});
       two(driver, all, all, 4096);
     }},
    {"slave blocks without an edge", "RowBuilder, dro/edges/edge_rows.cpp",
     [](ReplayedDriver& driver) {
       // The last blocks of a large grid wait for odd blocks of a small one.
       two(driver, footprint("w", {64}, {writes(chunks(64, 64, 64))}),
           footprint("r", {1U << 24U},
                     {reads("{ B[x, y, z] -> A[o] : exists k : y = 0 and z = 0 and 16777000 <= x < "
                            "16777216 and x = 3 k and 128 k - 715818240 <= o < 128 k - 715818176 "
                            "and 0 <= o < 4096 }")}),
           4096);
     }},
    {"slave blocks x rows of masters", "Closing::rows(), dro/boxes/box_edges.cpp",
     [](ReplayedDriver& driver) {
       // Every block reads a prefix of the rows that grows with its own, in all but the last
       // column.
       const std::string own =
           "{ B[x, y, z] -> A[o] : 0 <= x < 64 and 0 <= y < 4096 and z = 0 and 4096 y + 64 x <= o "
           "< 4096 y + 64 x + 64 }";
       const std::string prefix =
           "{ B[x, y, z] -> A[o] : exists j : 0 <= x < 64 and 0 <= y < 4096 and z = 0 and 0 <= j "
           "<= y and 4096 j <= o < 4096 j + 4000 }";
       two(driver, footprint("w", {64, 4096}, {writes(own)}),
           footprint("r", {64, 4096}, {reads(prefix)}), 4096 * 4096);
     }},
    {"operations of isl", "composed_edges(), draw_edges()",
     [](ReplayedDriver& driver) {
       const std::string torus =
           "{ B[x, y, z] -> A[o] : exists t, i, j, k, l : 0 <= x < 16384 and y = 0 and z = 0 and "
           "256 "
           "x <= t < 256 x + 256 and 0 <= i < 2047 and t + 1 = 2047 j + i and 0 <= j and 0 <= k < "
           "2047 and i + 5 = 2047 l + k and 8188 j + 4 k <= o < 8188 j + 4 k + 4 }";
       two(driver, footprint("w", {16384}, {writes(torus)}),
           footprint("r", {16384}, {reads(torus)}), uint64_t{1} << 25);
     }},
    {"pieces that launches leave of each other", "retire(), LiveStateTable",
     [](ReplayedDriver& driver) {
       const BufferId x = driver.buffer(1 << 22);
       const Footprint all = footprint("all", {256}, {writes(chunks(256, 1 << 14, 1 << 14))});
       driver.launch(all, {{x, 0}});
       for (long stride = 3; stride < 60; ++stride) {
         driver.launch(
             footprint("comb" + std::to_string(stride), {1}, {writes(combs(1, 1 << 20, stride))}),
             {{x, 0}});
       }
       driver.launch(all, {{x, 0}});
     },
     true},
    {"live host writes inside each other", "HullIndex, live_launches.hpp",
     [](ReplayedDriver& driver) {
       constexpr uint64_t writes = 5'000;
       const BufferId x = driver.buffer(4 * writes), y = driver.buffer(4);
       for (uint64_t i = 0; i < writes; ++i) {
         driver.tracker().host_write(x, 2 * i, 4 * writes - 2 * i - (i % 2));
         driver.tracker().host_write(y, 0, 4);  // so that they are not one
       }
       driver.launch(footprint("r", {1}, {reads(range(1, 0, 4 * writes))}), {{x, 0}});
     }},
    {"live writes beside each other", "RuleEngine::search()",
     [](ReplayedDriver& driver) {
       constexpr uint64_t writes = 40'000;
       const BufferId x = driver.buffer(16 * writes);
       for (uint64_t i = 0; i < writes; ++i)
         driver.tracker().host_write(x, 16 * i, 16 * i + 8);
       driver.launch(footprint("r", {1}, {reads(range(1, 0, 16 * writes))}), {{x, 0}});
     },
     true},
    {"launches that read what is then written", "fan_in()",
     [](ReplayedDriver& driver) {
       const BufferId x = driver.buffer(64);
       const Footprint reader = footprint("r", {1}, {reads(range(1, 0, 64))});
       for (uint64_t i = 0; i < many_readers; ++i)
         driver.launch(reader, {{x, 0}});
       const auto found = driver.launch(footprint("w", {1}, {writes(range(1, 0, 64))}), {{x, 0}});
       EXPECT_EQ(found.empty(), many_readers > launch_cost.steps);
     },
     many_readers > launch_cost.steps},
};

// A test's name: addresses differ from run to run.
void PrintTo(const Growth& growth, std::ostream* stream) {
  *stream << growth.what;
}

class EachGrowth : public ::testing::TestWithParam<Growth> {};

TEST_P(EachGrowth, StaysWithinTheCostsOfALaunch) {
  ReplayedDriver driver;  // whose journal must replay
  GetParam().run(driver);
  const DependenceTracker::Counters& counters = driver.tracker().counters();
  EXPECT_LE(counters.dearest_launch.steps, launch_cost.steps);
  EXPECT_LE(counters.dearest_launch.bytes, launch_cost.bytes);
  EXPECT_LE(counters.dearest_footprint.steps, footprint_cost.steps);
  EXPECT_LE(counters.dearest_footprint.bytes, footprint_cost.bytes);
  EXPECT_EQ(counters.given_up > 0, GetParam().is_given_up);
  printf("%s: %lu steps and %lu bytes a launch, %lu and %lu a footprint\n", GetParam().what,
         static_cast<unsigned long>(counters.dearest_launch.steps),
         static_cast<unsigned long>(counters.dearest_launch.bytes),
         static_cast<unsigned long>(counters.dearest_footprint.steps),
         static_cast<unsigned long>(counters.dearest_footprint.bytes));
}

// A kernel may have thousands of pointers, each of another buffer.
TEST(Growth, IsPaidForWhereBuffersAreComparedEachWithEach) {
  constexpr uint64_t buffers = 2'000;
  Driver driver;
  std::vector<BoundArgument> arguments;
  for (uint64_t i = 0; i < buffers; ++i)
    arguments.push_back({driver.buffer(64), 0});
  const std::vector<ArgumentFootprint> each(buffers, writes(range(1, 0, 64)));
  driver.launch(footprint("w", {1}, each), arguments);
  const DependenceTracker::Counters& counters = driver.tracker().counters();
  EXPECT_GE(counters.dearest_launch.steps, buffers * buffers / 128);
  EXPECT_LE(counters.dearest_launch.steps, launch_cost.steps);
}

// The check of the buffer rule composes relations of launches, until it finds a loss.
TEST(Growth, IsPaidForWhereTheBufferRuleIsChecked) {
  const auto effort = [](bool checked) {
    Driver driver(Rule::buffer);
    const BufferId x = driver.buffer(uint64_t{1} << 20), y = driver.buffer(uint64_t{1} << 20);
    const BufferId lost = driver.buffer(100);
    driver.launch(footprint("a", {1}, {writes(range(1, 0, 100))}), {{lost, 0}});
    if (!checked) driver.launch(footprint("b", {1}, {writes(range(1, 40, 60))}), {{lost, 0}});
    const std::string torus =
        "{ B[x, y, z] -> A[o] : exists t, i, j, k, l : 0 <= x < 256 and y = 0 and z = 0 and 256 x "
        "<= t < 256 x + 256 and 0 <= i < 2047 and t + 1 = 2047 j + i and 0 <= j and 0 <= k < 2047 "
        "and i + 5 = 2047 l + k and 8188 j + 4 k <= o < 8188 j + 4 k + 4 }";
    const Footprint step =
        footprint("step", {256}, {reads(torus), writes(chunks(256, 1024, 1024))});
    const uint64_t before = driver.tracker().effort();
    for (int i = 0; i < 3; ++i) {
      const BufferId from = i % 2 == 0 ? x : y;
      driver.launch(step, {{from, 0}, {x + y - from, 0}});
    }
    EXPECT_LE(driver.tracker().counters().dearest_launch.steps, launch_cost.steps);
    return driver.tracker().effort() - before;
  };
  EXPECT_GT(effort(true), effort(false));
}

INSTANTIATE_TEST_SUITE_P(Table, EachGrowth, ::testing::ValuesIn(growths),
                         [](const auto& row) { return "Row" + std::to_string(row.index); });

}  // namespace
}  // namespace sluice::dro::testing
