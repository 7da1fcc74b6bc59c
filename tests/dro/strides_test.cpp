// Strides and their edges against enumeration: one-dimensional grids over loops of several
// dimensions, with rows of any width, halos, wrapped indices and strides over the grid.
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dro/brute_force.hpp"
#include "dro/edges/edge_forms.hpp"
#include "dro/launches/access_template.hpp"
#include "dro/strides/relation_strides.hpp"
#include "dro/strides/stride_bands.hpp"
#include "dro/strides/stride_edges.hpp"
#include "dro/strides/stride_meeting.hpp"

namespace sluice::dro::testing {
namespace {

// LinearAccess makes accesses of threads t = block * x + e to an array of planes of rows, where
// i = t % width, j = t / width % height and k = t / width / height: as text and as bytes.
class LinearAccesses {
 public:
  explicit LinearAccesses(uint32_t seed) : dice_(seed) {
    element_ = pick(0, 3) == 0 ? 8 : 4;
    columns_ = pick(3, 30);
    rows_ = pick(0, 2) == 0 ? pick(2, 5) : 64;
  }
  long pick(long first, long last) { return dice_.pick(first, last); }

  RandomAccess access(uint32_t blocks) {
    const Loop loop = this->loop(blocks);
    RandomAccess made;
    made.bytes.assign(blocks, {});
    for (long more = pick(1, 3); more > 0; --more)
      add(loop, blocks, made);
    made.relation = "{ " + made.relation + " }";
    return made;
  }
  uint32_t blocks() { return static_cast<uint32_t>(pick(1, pick(0, 2) == 0 ? 60 : 8)); }

 private:
  struct Loop {
    long block = 1;
    long active = 1;  // threads of each block that do anything
    long width = 1;
    long height = 1;
    long count = 0;  // threads that do anything in all
    long turns = 1;  // of a loop that goes on by the whole grid
    bool wraps = false;
    long column = 0, row = 0;
  };

  Loop loop(uint32_t blocks) {
    Loop made;
    made.block = pick(1, 16);
    made.active = pick(0, 5) == 0 ? pick(1, made.block) : made.block;
    made.wraps = pick(0, 3) == 0;
    made.width = made.wraps || pick(0, 3) == 0 ? columns_ : pick(1, columns_);
    made.height = rows_;
    made.turns = pick(0, 5) == 0 ? pick(2, 3) : 1;
    const long most = made.turns * made.block * static_cast<long>(blocks);
    made.count = pick(0, 1) == 0 ? most : pick(1, most);
    made.column = made.wraps ? 0 : pick(0, columns_ - made.width);
    made.row = pick(0, 2);
    return made;
  }

  // add() adds one element that each thread touches, beside its own.
  void add(const Loop& loop, uint32_t blocks, RandomAccess& access) {
    const long right = pick(-1, 1), down = pick(-1, 1);
    const bool broadcast = pick(0, 9) == 0;  // along the columns
    const std::string width = std::to_string(loop.width), height = std::to_string(loop.height);
    const std::string i = "(t - " + width + "*floor(t/" + width + "))";
    const std::string wrapped =
        "((t + " + std::to_string(right + loop.width) + ") mod " + width + ")";
    const std::string j = "(floor(t/" + width + ") - " + height + "*floor(t/" +
                          std::to_string(loop.width * loop.height) + "))";
    const std::string k = "floor(t/" + std::to_string(loop.width * loop.height) + ")";
    const long moved = loop.column + (loop.wraps ? 0 : right) + 1;
    const std::string at =
        std::to_string(element_) + "*(" + (broadcast ? "0" : (loop.wraps ? wrapped : i)) + " + " +
        std::to_string(moved) + " + " + std::to_string(pitch()) + "*(" + j + " + " +
        std::to_string(loop.row + down + 1) + " + " + std::to_string(rows_ + 4) + "*" + k + "))";
    if (!access.relation.empty()) access.relation += "; ";
    access.relation += "B[x, y, z] -> A[o] : exists e, s, t : y = 0 and z = 0 and 0 <= x < " +
                       std::to_string(blocks) + " and 0 <= e < " + std::to_string(loop.active) +
                       " and 0 <= s < " + std::to_string(loop.turns) +
                       " and t = " + std::to_string(loop.block) + "*x + e + " +
                       std::to_string(loop.block * static_cast<long>(blocks)) + "*s and t < " +
                       std::to_string(loop.count) + " and " + at + " <= o < " + at + " + " +
                       std::to_string(element_);
    for (long s = 0; s < loop.turns; ++s) {
      for (uint32_t x = 0; x < blocks; ++x) {
        for (long e = 0; e < loop.active; ++e) {
          const long t = loop.block * (x + s * static_cast<long>(blocks)) + e;
          if (t >= loop.count) continue;
          const long column = loop.wraps ? (t + right + loop.width) % loop.width : t % loop.width;
          const long line = t / loop.width % loop.height + loop.row + down + 1 +
                            (rows_ + 4) * (t / loop.width / loop.height);
          const long first = element_ * ((broadcast ? 0 : column) + moved + pitch() * line);
          for (long byte = first; byte < first + element_; ++byte)
            access.bytes[x].insert(byte);
        }
      }
    }
  }

  long pitch() const { return columns_ + 3; }

  Generator dice_;
  long element_ = 4, columns_ = 1, rows_ = 1;
};

std::optional<Strides> strides_of(const std::string& text, uint32_t blocks) {
  Budget budget({4'000'000, uint64_t{1} << 28U});
  return dro::strides_of(relation_of(text), {}, {blocks, 1, 1}, budget);
}

BlockBytes bytes_by_block(const Strides& strides, uint32_t blocks) {
  std::vector<ByteRun> runs;
  Budget budget(Budget::unlimited);
  EXPECT_TRUE(append_runs(strides, budget, runs));
  BlockBytes bytes(blocks);
  for (const ByteRun& run : runs) {
    for (int64_t byte = run.begin; byte < run.end; ++byte)
      bytes.at(run.block).insert(byte);
  }
  return bytes;
}

TEST(Strides, OfLinearLoopsAreWhatTheirBlocksTouch) {
  int answered = 0;
  constexpr int seeds = 300;
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    LinearAccesses random(seed);
    const uint32_t blocks = random.blocks();
    const RandomAccess access = random.access(blocks);
    const auto strides = strides_of(access.relation, blocks);
    if (!strides) continue;
    ++answered;
    ASSERT_EQ(bytes_by_block(*strides, blocks), access.bytes) << "seed " << seed << access.relation;
    Budget budget(Budget::unlimited);
    std::set<long> all, listed;
    for (const auto& bytes : access.bytes)
      all.insert(bytes.begin(), bytes.end());
    const auto intervals = bytes_of(*strides, budget);
    ASSERT_TRUE(intervals);
    for (const Range& range : intervals->ranges()) {
      for (int64_t byte = range.begin; byte < range.end; ++byte)
        listed.insert(byte);
    }
    EXPECT_EQ(listed, all) << "seed " << seed;
  }
  EXPECT_GT(answered, seeds * 8 / 10);
}

using BlockPair = std::pair<uint32_t, uint32_t>;  // (slave, master)

std::set<BlockPair> edges_of(const BlockBytes& slaves, const BlockBytes& masters,
                             const std::optional<ByteIntervals>& live) {
  std::map<long, std::set<uint32_t>> touching;
  for (uint32_t m = 0; m < masters.size(); ++m) {
    for (const long byte : masters[m]) {
      const ByteIntervals one({{byte, byte + 1}});
      if (!live || live->meets(one)) touching[byte].insert(m);
    }
  }
  std::set<BlockPair> edges;
  for (uint32_t s = 0; s < slaves.size(); ++s) {
    for (const long byte : slaves[s]) {
      for (const uint32_t m : touching[byte])
        edges.insert({s, m});
    }
  }
  return edges;
}

// random_rows() is some columns of some rows, in two places, and a few bytes anywhere.
ByteIntervals random_rows(LinearAccesses& random) {
  std::vector<Range> ranges;
  const long pitch = random.pick(20, 130), width = random.pick(1, pitch);
  const long second = random.pick(0, pitch);
  for (long row = random.pick(0, 3), end = row + random.pick(0, 40); row < end; ++row) {
    ranges.push_back({row * pitch, row * pitch + width});
    ranges.push_back({row * pitch + second, row * pitch + second + 2});
  }
  const long first = random.pick(0, 2000);
  ranges.push_back({first, first + random.pick(1, 300)});
  return ByteIntervals(std::move(ranges));
}

void expect_edges(const EdgeTable& table, const std::set<BlockPair>& edges) {
  std::set<BlockPair> drawn;
  for (uint32_t s = 0; s < table.slave_grid.count(); ++s) {
    const std::vector<uint32_t> of_block = masters_of(table, s);
    for (const uint32_t m : of_block)
      drawn.insert({s, m});
    EXPECT_EQ(std::set(of_block.begin(), of_block.end()).size(), of_block.size());
  }
  EXPECT_EQ(drawn, edges) << form_name(table);
  EXPECT_EQ(table.edge_count, edges.size());
  EXPECT_TRUE(is_whole(table));
}

// expect_runs() asks for runs of blocks, whose masters must be those of their blocks.
void expect_runs(const EdgeTable& table, const std::set<BlockPair>& edges, LinearAccesses& random) {
  const long blocks = static_cast<long>(table.slave_grid.count());
  const long first = random.pick(0, blocks - 1), count = random.pick(1, blocks - first);
  std::set<uint32_t> expected, found;
  for (const auto& [slave, master] : edges) {
    if (slave >= first && slave < first + count) expected.insert(master);
  }
  for_each_master_range(table, static_cast<uint32_t>(first), static_cast<uint32_t>(count),
                        [&](uint32_t begin, uint32_t end) {
                          for (uint32_t block = begin; block <= end; ++block)
                            found.insert(block);
                        });
  EXPECT_TRUE(std::ranges::includes(found, expected));
}

TEST(Strides, EdgesOfLinearLoopsAreThoseOfTheirBytes) {
  int asked = 0, answered = 0, banded = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    LinearAccesses random(seed);
    const uint32_t slaves = random.blocks(), masters = random.blocks();
    const RandomAccess later = random.access(slaves), earlier = random.access(masters);
    const auto of_later = strides_of(later.relation, slaves),
               of_earlier = strides_of(earlier.relation, masters);
    if (!of_later || !of_earlier) continue;
    std::optional<ByteIntervals> live;
    if (random.pick(0, 1) == 0) live = random_rows(random);
    const std::set<BlockPair> edges = edges_of(later.bytes, earlier.bytes, live);
    if (edges.empty()) continue;
    ++asked;
    const std::vector<StrideMeeting> meetings = {
        {&*of_later, &*of_earlier, live ? &*live : nullptr}};
    const Dim3 from{masters, 1, 1}, to{slaves, 1, 1};
    Budget budget({1'000'000, uint64_t{1} << 26U});
    const auto found = strided_edges(meetings, from, to, budget);
    if (!found) continue;
    ++answered;
    const EdgeTable strided = make_table(from, to, *found);
    expect_edges(strided, edges);
    expect_runs(strided, edges, random);
    const auto cheapest = stride_edges(meetings, from, to, budget);
    ASSERT_TRUE(cheapest);
    expect_edges(*cheapest, edges);
    // What parts show by themselves is what the rows would show.
    const auto shown = banded_form(*found);
    if (!shown) continue;
    ++banded;
    EXPECT_EQ(make_table(from, to, *shown),
              closed_form(make_table(from, to, found->rows(slaves)), budget));
  }
  EXPECT_GT(banded, answered / 10);
  EXPECT_GT(answered, asked * 9 / 10);
}

TEST(Strides, EdgesOfAMillionEvenBlocksTakeFewSteps) {
  constexpr uint32_t blocks = 1 << 20;
  constexpr int64_t bytes = int64_t{512} * blocks;
  const Dim3 grid{blocks, 1, 1};
  const Strides own = {{512, 0, 0, bytes, {}}}, ahead = {{512, 0, 4, bytes, {}}},
                twice = {{1024, 0, 0, 2 * bytes, {}}}, whole = {*every_block(blocks, bytes)};
  const auto form_of = [&](const Strides& later, const Strides& earlier, uint64_t steps) {
    Budget budget({steps, 1 << 16});
    const auto table = stride_edges({{&later, &earlier}}, grid, grid, budget);
    return table ? table->form : EdgeForm(RangeEdges{});
  };
  const BoxPair all{BlockBox::of_grid(grid), BlockBox::of_grid(grid)};
  EXPECT_EQ(form_of(own, own, 10), EdgeForm(NeighbourEdges{all, {{0, 0, 0}}}));
  EXPECT_EQ(form_of(own, ahead, 10), EdgeForm(NeighbourEdges{all, {{-1, 0, 0}, {0, 0, 0}}}));
  EXPECT_EQ(form_of(whole, own, 10), EdgeForm(AllEdges{all}));
  EXPECT_EQ(form_of(own, whole, 10), EdgeForm(AllEdges{all}));
  // Its edges are counted.
  const auto two_paces = form_of(own, twice, blocks / 4);
  EXPECT_TRUE(std::holds_alternative<StridedEdges>(two_paces));
}

TEST(Strides, AreOfGridsOfOneRowThatTheRelationKeepsTo) {
  const std::string bytes = "16x <= o < 16x + 16 and 0 <= x < 8";
  EXPECT_TRUE(strides_of("{ B[x, y, z] -> A[o] : " + bytes + " and y = 0 and z = 0 }", 8));
  EXPECT_FALSE(strides_of("{ B[x, y, z] -> A[o] : " + bytes + " and y = 0 }", 8));
  EXPECT_FALSE(strides_of("{ B[x, y, z] -> A[o] : " + bytes + " and 0 <= y <= 1 and z = 0 }", 8));
}

// As where each row of blocks touches its elements of a column, and the grid has one row left:
// all its blocks touch the same.
TEST(Strides, OfBoxesAlongYAreThoseOfTheOneRow) {
  BlockBoxes column;
  column.domain = {Interval{0, 2}, Interval{0, 0}, Interval{0, 0}};
  column.levels = {{.stride = 1, .axis = 1, .at = {{80, 95}}}};
  Budget budget(Budget::unlimited);
  const auto strides = dro::strides_of(Boxes{column}, {3, 1, 1}, budget);
  ASSERT_TRUE(strides);
  std::set<long> bytes;
  for (long byte = 80; byte < 96; ++byte)
    bytes.insert(byte);
  EXPECT_EQ(bytes_by_block(*strides, 3), BlockBytes(3, bytes));
}

// What is left of rows whose inside was written again is two ranges a row.
TEST(Strides, OfTheBordersOfRowsAreFewParts) {
  std::vector<Range> border = {{0, 4000}};
  for (int64_t row = 1; row < 499; ++row) {
    border.push_back({4000 * row, 4000 * row + 8});
    border.push_back({4000 * row + 3900, 4000 * row + 3908});
  }
  border.push_back({4000 * 499, 4000 * 500});
  const Strides all = {{1024, 0, 0, 4000 * 500, {}}};
  Budget budget({2'000, 1 << 20});
  const auto left = within(all, ByteIntervals(border), budget);
  ASSERT_TRUE(left);
  EXPECT_LE(left->size(), 5u);
  const auto bytes = bytes_of(*left, budget);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->ranges(), ByteIntervals(border).ranges());
}

// rows_text() is "thread t = 256 x + e touches element t % width of row t / width", 8 bytes each.
std::string rows_text(long blocks, long width, long height, long pitch, long first) {
  const std::string w = std::to_string(width);
  return "{ B[x, y, z] -> A[o] : exists e, t : y = 0 and z = 0 and 0 <= x < " +
         std::to_string(blocks) + " and 0 <= e < 256 and t = 256 x + e and t < " +
         std::to_string(width * height) + " and " + std::to_string(8 * first) + " + 8 t + " +
         std::to_string(8 * (pitch - width)) + "*floor(t/" + w + ") <= o < " +
         std::to_string(8 * first + 8) + " + 8 t + " + std::to_string(8 * (pitch - width)) +
         "*floor(t/" + w + ") }";
}

// Neighbours' edges of as many blocks take as many steps, about: what grows is counted here.
TEST(Strides, OfWidthsThatDifferCostWhatNeighboursCost) {
  const auto steps_of = [](const Footprint& master, const Footprint& slave, uint64_t bytes) {
    Driver driver;
    const BufferId x = driver.buffer(bytes);
    driver.launch(master, {{x, 0}});
    const uint64_t before = driver.tracker().effort();
    const auto found = driver.launch(slave, {{x, 0}});
    EXPECT_EQ(found.size(), 1u);
    const EdgeTable& table = driver.tracker().edge_table(found.at(0).dro->edges);
    EXPECT_LT(table.edge_count, 3 * table.slave_grid.count());
    return std::pair(driver.tracker().effort() - before, form_name(table));
  };
  constexpr long n = 1024, pitch = n + 5;
  const long wide = ((n + 3) * (n + 3) + 255) / 256, narrow = (n * n + 255) / 256;
  const auto [strided, form] =
      steps_of(footprint("w", {static_cast<uint32_t>(wide)},
                         {writes(rows_text(wide, n + 3, n + 3, pitch, 0))}),
               footprint("r", {static_cast<uint32_t>(narrow)},
                         {reads(rows_text(narrow, n, n, pitch, pitch + 1))}),
               uint64_t{pitch} * pitch * 8);
  EXPECT_EQ(form, "strided");
  const auto [neighbours, other] =
      steps_of(footprint("w", {4096}, {writes(chunks(4096, 2048, 2048))}),
               footprint("r", {4096}, {reads(chunks(4096, 2048, 2064))}), 4097 * 2048);
  EXPECT_EQ(other, "neighbours");
  EXPECT_LT(strided, 4 * neighbours);
}

}  // namespace
}  // namespace sluice::dro::testing
