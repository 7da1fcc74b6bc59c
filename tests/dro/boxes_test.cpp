// Boxes in accesses, and edges found by them, against enumeration and against isl.
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dro/boxes/box_edges.hpp"
#include "dro/edges/block_bytes.hpp"
#include "dro/edges/edge_drawing.hpp"
#include "dro/launches/access_template.hpp"
#include "dro/strided_kernels.hpp"

namespace sluice::dro::testing {
namespace {

BlockBytes bytes_by_block(const Boxes& boxes, const Dim3& grid) {
  std::vector<ByteRun> runs;
  Budget budget(Budget::unlimited);
  EXPECT_TRUE(append_runs(boxes, grid, budget, runs));
  BlockBytes bytes(grid.count());
  for (const ByteRun& run : runs) {
    for (int64_t byte = run.begin; byte < run.end; ++byte)
      bytes[run.block].insert(byte);
  }
  return bytes;
}

std::set<long> all_of(const BlockBytes& blocks) {
  std::set<long> all;
  for (const auto& block : blocks)
    all.insert(block.begin(), block.end());
  return all;
}

std::set<long> all_of(const ByteIntervals& intervals) {
  std::set<long> all;
  for (const Range& range : intervals.ranges()) {
    for (int64_t byte = range.begin; byte < range.end; ++byte)
      all.insert(byte);
  }
  return all;
}

std::optional<Boxes> boxes_of(const IslContext& context, const Relation& relation,
                              const Dim3& grid) {
  const auto source = AccessTemplate::make(context, relation, 0);
  EXPECT_TRUE(source) << source.error().line();
  Budget budget(Budget::unlimited);
  return (*source)->boxes({}, grid, budget);
}
std::optional<Boxes> boxes_of(const IslContext& context, const std::string& text,
                              const Dim3& grid) {
  return boxes_of(context, relation_of(text), grid);
}

TEST(Boxes, OfRandomStridedAccessesAreWhatTheirBlocksTouch) {
  const IslContext context;
  int found = 0;
  constexpr uint32_t count = 250;
  for (uint32_t seed = 0; seed < count; ++seed) {
    StridedGenerator generator(seed);
    const StridedArray array = generator.array();
    const Dim3 grid = generator.grid(array);
    const RandomAccess access = generator.access(array, grid);
    const auto boxes = boxes_of(context, access.relation, grid);
    if (!boxes) continue;
    ++found;
    EXPECT_EQ(bytes_by_block(*boxes, grid), access.bytes) << seed << ": " << access.relation;
    Budget budget(Budget::unlimited);
    const auto all = bytes_of(*boxes, budget);
    ASSERT_TRUE(all);
    EXPECT_EQ(all_of(*all), all_of(access.bytes)) << seed << ": " << access.relation;
  }
  EXPECT_GT(found, static_cast<int>(count) / 2);
  printf("%d of %u accesses are boxes\n", found, count);
}

TEST(Boxes, OfRowsTakeNothingOfIsl) {
  const Relation relation = relation_of(chunks(100, 8, 8));
  IslContext context;
  const IslContext::Budget none(context, 1);
  const auto source = AccessTemplate::make(context, relation, 0);
  ASSERT_TRUE(source);
  Budget budget(Budget::unlimited);
  EXPECT_TRUE((*source)->boxes({}, {100, 1, 1}, budget));
  const auto none_of_isl = (*source)->at({}, {100, 1, 1}, budget);
  ASSERT_TRUE(none_of_isl);
  EXPECT_TRUE(none_of_isl->is_null());
}

TEST(Boxes, OfRandomAffineAccessesAreWhatTheirBlocksTouch) {
  const IslContext context;
  int found = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Generator generator(seed);
    const RandomKernel kernel = generator.kernel(1, 64);
    const Dim3& grid = kernel.footprint.shape.grid;
    const Relation& relation = kernel.footprint.arguments[0].reads.relation;
    if (relation.empty()) continue;
    const auto boxes = boxes_of(context, relation, grid);
    if (!boxes) continue;
    ++found;
    EXPECT_EQ(bytes_by_block(*boxes, grid), kernel.arguments[0].reads) << seed << ": " << relation;
  }
  EXPECT_GT(found, 10);
}

// Relations as the analysis writes them for compiled kernels.
struct Written {
  const char* name;
  const char* text;
  Dim3 grid;
  std::vector<analysis::Symbol> symbols;
};

const Written written[] = {
    {"stencil's writes",
     "{ B[x, y, z = 0] -> A[o] : 0 <= x <= 31 and 0 <= y <= 127 and o >= -4 + 32768y and 4092 <= o "
     "<= 4190203 and o <= 32763 + 32768y and -127 - 128x + o <= 4096*floor((4 + o)/4096) <= -128x "
     "+ o and 4096*floor((4 + o)/4096) <= -4 + o }",
     {32, 128, 1},
     {}},
    {"stencil's reads",
     "{ B[x, y, z = 0] -> A[o] : o >= -8064 + 128x + 32768y and -3968 + 128x <= o <= 4190335 + "
     "128x "
     "and o <= 32895 + 128x + 32768y and ((o >= 128 + 128x + 32768y and o >= 4224 + 128x and "
     "4096*floor((-128 - 128x + o)/4096) >= -8187 + o and 4096*floor((-128 - 128x + o)/4096) <= "
     "-4096 - 128x + o and 4096*floor((-128 - 128x + o)/4096) <= -4100 + o) or (o <= 4182143 + "
     "128x "
     "and o <= 24703 + 128x + 32768y and 4096*floor((-128 - 128x + o)/4096) >= -8187 + o and "
     "4096*floor((-128 - 128x + o)/4096) <= -4096 - 128x + o and 4096*floor((-128 - 128x + "
     "o)/4096) "
     "<= -4100 + o) or (0 <= x <= 31 and o >= -3964 + 128x + 32768y and 132 + 128x <= o <= 4186243 "
     "+ 128x and o <= 28803 + 128x + 32768y and 4096*floor((-132 - 128x + o)/4096) >= -8191 + o "
     "and "
     "4096*floor((-132 - 128x + o)/4096) <= -4092 - 128x + o and 4096*floor((-132 - 128x + "
     "o)/4096) <= -4096 + o)) }",
     {32, 128, 1},
     {}},
    {"matrix product, column",
     "{ B[x, y, z = 0] -> A[o] : exists (e0, e1: 0 <= x <= 7 and 0 <= y <= 31 and 0 <= e0 <= 3 and "
     "1024e0 >= -258175 - 128x + o and e1 >= -1 and -4223 - 128x + o - 1024e0 <= 4096e1 <= -4096 - "
     "128x + o - 1024e0) }",
     {8, 32, 1},
     {}},
    {"tiled matrix product, row",
     "{ B[x, y, z = 0] -> A[o] : exists (e0: 0 <= x <= 31 and 0 <= y <= 1 and 0 <= e0 <= 15 and "
     "-32707 - 32768y + o <= 4e0 <= 60 - 32768y + o and 64*floor((-4 + o - 4e0)/64) <= -64 + o - "
     "4e0) }",
     {32, 2, 1},
     {}},
    {"elimination of a matrix",
     "[s1] -> { B[x, y, z = 0] -> A[o] : exists (e0: 0 <= s1 <= 256 and 0 <= x <= 63 and 0 <= y <= "
     "63 and 0 <= e0 <= 255 - s1 - 4y and e0 <= 3 and 4e0 >= -261123 - 4s1 - 16y + o and -4099 - "
     "1028s1 - 4096x - 16y + o <= 4e0 <= -4 - 1028s1 - 4096x - 16y + o and 1024*floor((-4 - 4s1 - "
     "16y + o - 4e0)/1024) <= -1024 - 4s1 - 16y + o - 4e0) }",
     {64, 64, 1},
     {{"s1", 77}}},
    {"blocked decomposition",
     "[s1, s2, s3] -> { B[x, y, z = 0] -> A[o] : 0 <= s1 <= 256 and s2 <= 32 and 0 < s3 <= 32 and "
     "0 "
     "<= x <= 31 and x < s2 and 0 <= y <= 31 and y < s3 and 15488 + 1028s1 + 64x + 16384y <= o <= "
     "31871 + 1028s1 + 64x + 16384y and 1024*floor((-128 - 4s1 - 64x + o)/1024) <= -1088 - 4s1 - "
     "64x + o }",
     {13, 13, 1},
     {{"s1", 32}, {"s2", 13}, {"s3", 13}}},
    {"three dimensions",
     "{ B[x, y, z] -> A[o] : 0 <= x <= 7 and 0 <= y <= 63 and 0 <= z <= 3 and o >= -1028 + 524288z "
     "and 261116 <= o <= 1833979 and o <= 523259 + 524288z and -4091 - 4096y + o <= "
     "262144*floor((1028 + o)/262144) <= 4 - 4096y + o and 262144*floor((1028 + o)/262144) <= "
     "-1020 "
     "+ o and -127 - 128x + o <= 1024*floor((4 + o)/1024) <= -128x + o and 1024*floor((4 + "
     "o)/1024) <= -4 + o }",
     {8, 64, 4},
     {}},
    {"three dimensions, blocks of part of a row",
     "{ B[x, y, z] -> A[o] : 0 <= x <= 1 and 0 < y <= 254 and 0 < z <= 6 and o >= 4 + 1024y + "
     "262144z and o >= 512x + 1024y + 262144z and o <= 1019 + 1024y + 262144z and o <= 511 + 512x "
     "+ 1024y + 262144z }",
     {2, 256, 8},
     {}},
    {"three dimensions, blocks of one plane, of which rows are counted through all planes",
     "{ B[x, y, z] -> A[o] : exists e : 0 <= x <= 7 and 0 <= y <= 31 and 0 < z <= 6 and 1020 + "
     "262144z <= o <= 261115 + 262144z and 4 + 1024e <= o <= 1019 + 1024e and 128x + 1024e <= o <= "
     "127 + 128x + 1024e and -4 + 8192y + 262144z <= o <= 8187 + 8192y + 262144z }",
     {8, 32, 8},
     {}},
    {"three dimensions, blocks of one row in some planes",
     "{ B[x, y, z] -> A[o] : exists e : 0 <= x <= 7 and 0 < y <= 30 and 0 <= z <= 3 and 1020 + "
     "1024y "
     "<= o <= 8125435 + 1024y and 4 + 1024y + 262144e <= o <= 1019 + 1024y + 262144e and -261124 + "
     "1024y + 2097152z <= o <= 1836027 + 1024y + 2097152z and 128x + 1024y + 262144e <= o <= 127 + "
     "128x + 1024y + 262144e }",
     {8, 32, 4},
     {}},
    {"three dimensions, blocks of one thread",
     "{ B[x, y, z] -> A[o] : 0 <= x <= 7 and 0 < y <= 6 and 0 < z <= 2 and 4x + 32y + 256z <= o <= "
     "3 + 4x + 32y + 256z }",
     {8, 8, 4},
     {}},
    {"three dimensions, a position in a row that is counted from the block's own place",
     "{ B[x, y, z] -> A[o] : exists (e, f: 0 <= x <= 1 and -15484 + 128x + 1024y + 32768z <= o <= "
     "17283 + 128x + 1024y + 32768z and 900 + 128x + 1024y <= o <= 1016707 + 128x + 1024y and "
     "16260 "
     "+ 128x + 1024y + 16384f <= o <= 17283 + 128x + 1024y + 16384f and 16516 + 128x + 16384f <= o "
     "<= 32387 + 128x + 16384f and -4 - 128x + 256e <= o <= 131 - 128x + 256e and -256x + 256e <= "
     "o "
     "<= 255 - 256x + 256e) }",
     {2, 16, 32},
     {}},
    {"two dimensions, from the last row to the first",
     "{ B[x, y, z = 0] -> A[o] : 0 <= x <= 3 and 0 <= y <= 15 and 15360 + 256x - 1024y <= o <= "
     "15615 + 256x - 1024y }",
     {4, 16, 1},
     {}},
    {"a loop of each block's threads through one row",
     "{ B[x, y = 0, z = 0] -> A[o] : exists (e0, e1: 0 <= x <= 15 and 0 <= e0 <= 63 and e0 + 64e1 "
     "<= 927 and 4e0 <= 252 + o and 256 + 4e0 + 256e1 <= o <= 259 + 4e0 + 256e1) }",
     {16, 1, 1},
     {}},
    {"a loop of each warp's lanes through its own row",
     "{ B[x, y = 0, z = 0] -> A[o] : exists (e0, e1, e2: 0 <= x <= 31 and 0 <= e0 <= 127 and -31 + "
     "e0 <= 32e1 <= e0 and -62 + 12800x + 2e0 + 3136e1 <= o <= 3137 + 12800x + 2e0 + 3136e1 and "
     "64 + 2e0 + 64e2 <= o <= 65 + 2e0 + 64e2) }",
     {32, 1, 1},
     {}},
};

TEST(Boxes, AreFoundInWhatTheAnalysisWrites) {
  const IslContext context;
  for (const Written& each : written) {
    SCOPED_TRACE(each.name);
    std::vector<std::string> names;
    std::vector<int64_t> values;
    for (const analysis::Symbol& symbol : each.symbols) {
      names.push_back(symbol.name);
      values.push_back(symbol.value);
    }
    const auto source = AccessTemplate::make(context, relation_of(each.text, names), values.size());
    ASSERT_TRUE(source) << source.error().line();
    Budget budget(Budget::unlimited);
    const auto boxes = (*source)->boxes(values, each.grid, budget);
    ASSERT_TRUE(boxes);
    std::vector<ByteRun> runs, listed;
    ASSERT_TRUE((*source)->list(values, each.grid, budget, listed));
    ASSERT_TRUE(append_runs(*boxes, each.grid, budget, runs));
    const auto blocks = static_cast<uint32_t>(each.grid.count());
    const dro::BlockBytes of_boxes(blocks, runs), of_loops(blocks, listed);
    for (uint32_t block = 0; block < blocks; ++block)
      ASSERT_TRUE(std::ranges::equal(of_boxes.of(block), of_loops.of(block))) << block;
  }
}

// A stencil in a cube reads its rows seven times over; merging seven lists of 65,536 rows took more
// than a launch may, and every block waited for all.
TEST(Boxes, OfAStencilInACubeAreListedOnce) {
  const IslContext context;
  constexpr int64_t side = 256;
  const Dim3 grid = {8, 64, 128};
  std::string text;
  for (const int64_t shift :
       {-side * side, -side, int64_t{-1}, int64_t{0}, int64_t{1}, side, side * side}) {
    text += fmt::format(
        "{} B[x, y, z] -> A[o] : exists i, j, k : 0 <= x < 8 and 0 <= y < 64 and 0 <= z < 128 and "
        "32x <= i < 32x + 32 and 4y <= j < 4y + 4 and 2z <= k < 2z + 2 and 0 < i < 255 and 0 < j < "
        "255 and 0 < k < 255 and 4i + 1024j + 262144k + {} <= o < 4i + 1024j + 262144k + {}",
        text.empty() ? "" : ";", 4 * shift, 4 * shift + 4);
  }
  const auto boxes = boxes_of(context, "{" + text + " }", grid);
  ASSERT_TRUE(boxes);
  Budget budget(Budget::unlimited);
  const auto bytes = bytes_of(*boxes, budget);
  ASSERT_TRUE(bytes);
  EXPECT_LT(budget.taken().steps, uint64_t{256} * 256);  // less than a step for each row
}

TEST(Boxes, AreNotFoundOutsideTheGridNorWhereCoordinatesDependOnEachOther) {
  const IslContext context;
  EXPECT_TRUE(boxes_of(context, chunks(100, 8, 8), {100, 1, 1}));
  EXPECT_FALSE(boxes_of(context, chunks(100, 8, 8), {99, 1, 1}));
  const char* triangle =
      "{ B[x, y, z] -> A[o] : 0 <= x <= y < 8 and z = 0 and 64y + 8x <= o < 64y + 8x + 8 }";
  EXPECT_FALSE(boxes_of(context, triangle, {8, 8, 1}));
}

TEST(Boxes, MovedByAnOffsetAreTheSameBytesFurtherOn) {
  const IslContext context;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    StridedGenerator generator(seed);
    const StridedArray array = generator.array();
    const Dim3 grid = generator.grid(array);
    const RandomAccess access = generator.access(array, grid);
    const auto boxes = boxes_of(context, access.relation, grid);
    if (!boxes) continue;
    const long offset = generator.pick(-50, 50);
    Boxes moved;
    for (const BlockBoxes& piece : *boxes) {
      const auto further = shifted(piece, offset);
      ASSERT_TRUE(further);
      moved.push_back(*further);
    }
    BlockBytes expected(grid.count());
    for (size_t block = 0; block < expected.size(); ++block) {
      for (const long byte : access.bytes[block])
        expected[block].insert(byte + offset);
    }
    EXPECT_EQ(bytes_by_block(moved, grid), expected) << "seed " << seed;
  }
}

using BlockPair = std::pair<uint32_t, uint32_t>;  // (slave, master)

// add_edges() adds the pairs of blocks that touch a common byte of `live`.
void add_edges(const BlockBytes& slaves, const BlockBytes& masters, const std::set<long>& live,
               std::set<BlockPair>& edges) {
  for (uint32_t s = 0; s < slaves.size(); ++s) {
    for (uint32_t m = 0; m < masters.size(); ++m) {
      for (const long byte : slaves[s]) {
        if (masters[m].count(byte) != 0 && live.count(byte) != 0) edges.insert({s, m});
      }
    }
  }
}

TEST(Boxes, EdgesOfRandomMeetingsAreThoseOfTheirBytes) {
  const IslContext context;
  std::map<size_t, int> forms;
  int answered = 0, some = 0, partly = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    StridedGenerator generator(seed);
    const StridedArray array = generator.array();
    const Dim3 grid = generator.grid(array);
    const Dim3 master_grid = generator.pick(0, 1) == 0 ? grid : generator.grid(array);
    std::vector<Boxes> boxes;
    std::vector<BoxMeeting> meetings;
    std::set<BlockPair> edges;
    boxes.reserve(4);
    bool good = true;
    for (long i = generator.pick(1, 2); i > 0 && good; --i) {
      const bool regular = generator.pick(0, 3) != 0;
      const auto access = [&](const Dim3& over) {
        return regular ? generator.tiles(array, over) : generator.access(array, over);
      };
      const RandomAccess later = access(grid);
      const RandomAccess earlier = generator.pick(0, 1) == 0 && master_grid == grid
                                       ? later
                                       : generator.access(array, master_grid);
      const auto slaves = boxes_of(context, later.relation, grid);
      const auto masters = boxes_of(context, earlier.relation, master_grid);
      good = slaves && masters;
      if (!good) continue;
      boxes.push_back(*slaves);
      boxes.push_back(*masters);
      // Of some earlier accesses not all bytes are live.
      std::set<long> live = all_of(earlier.bytes);
      const bool intact = generator.pick(0, 2) != 0;
      if (!intact) std::erase_if(live, [&](long) { return generator.pick(0, 3) == 0; });
      meetings.push_back({&boxes[boxes.size() - 2], &boxes.back(), intact});
      add_edges(later.bytes, earlier.bytes, live, edges);
    }
    if (!good) continue;
    ++some;
    Budget budget(Budget::unlimited);
    const auto table = box_edges(meetings, master_grid, grid, budget);
    if (!table) continue;
    ++answered;
    partly += std::ranges::any_of(meetings, [](const BoxMeeting& each) { return !each.intact; });
    std::set<BlockPair> drawn;
    for (uint32_t s = 0; s < grid.count(); ++s) {
      for (const uint32_t m : masters_of(*table, s))
        drawn.insert({s, m});
    }
    EXPECT_EQ(drawn, edges) << "seed " << seed;
    EXPECT_EQ(table->edge_count, edges.size()) << "seed " << seed;
    ++forms[table->form.index()];
  }
  // The test has seen each form but that of strides, which boxes never give.
  EXPECT_EQ(forms.size(), std::variant_size_v<EdgeForm> - 1);
  EXPECT_GT(answered, some / 5);
  EXPECT_GT(partly, 5);
  printf("%d of %d meetings are answered\n", answered, some);
}

// The tracker's answer does not tell how it was found.
TEST(Boxes, GiveTheTableThatIslDraws) {
  IslContext context;
  int compared = 0;
  for (uint32_t seed = 0; seed < 80; ++seed) {
    StridedGenerator generator(seed);
    const StridedArray array = generator.array();
    const Dim3 grid = generator.grid(array);
    const RandomAccess later = generator.tiles(array, grid), earlier = generator.tiles(array, grid);
    const auto slaves = boxes_of(context, later.relation, grid);
    const auto masters = boxes_of(context, earlier.relation, grid);
    if (!slaves || !masters) continue;
    Budget budget(Budget::unlimited);
    const auto table = box_edges({{&*slaves, &*masters, true}}, grid, grid, budget);
    if (!table) continue;
    const isl::map edges = isl::map(context.get(), later.relation)
                               .apply_range(isl::map(context.get(), earlier.relation).reverse());
    EXPECT_EQ(*table, draw_edges(context, edges, grid, grid, budget)) << "seed " << seed;
    ++compared;
  }
  EXPECT_GT(compared, 30);
}

// Rows are told block by block, and for each all products of a slave's piece with a master's are
// asked. Few of these blocks touch anything.
TEST(Boxes, ArePaidForWithEachBlockAndProduct) {
  const IslContext context;
  const Dim3 masters{512}, slaves{1U << 16U};
  std::string pieces;
  for (int column = 0; column < 16; ++column) {
    pieces += fmt::format(
        "{}B[x, y, z] -> A[o] : exists j : 0 <= x < 512 and y = 0 and z = 0 and 0 <= j <= x and "
        "4096 j + {} <= o < 4096 j + {}",
        column == 0 ? "" : "; ", 256 * column, 256 * column + 100);
  }
  const auto later = boxes_of(context, "{ " + pieces + " }", slaves);
  const auto earlier = boxes_of(context, chunks(512, 4096, 4096), masters);
  ASSERT_TRUE(later && earlier);
  ASSERT_EQ(later->size() * earlier->size(), 16U);
  Budget once(Budget::unlimited);
  const auto table = box_edges({{&*later, &*earlier, true}}, masters, slaves, once);
  ASSERT_TRUE(table && std::holds_alternative<RangeEdges>(table->form));
  // For each block two places for each eight products, its row, and a look for each eight products.
  EXPECT_GE(once.taken().steps, slaves.count() * (2 * 16 / 8 + 1 + 16 / 8));
}

}  // namespace
}  // namespace sluice::dro::testing
