// mma: products of matrices that a warp holds, against the fragments' formulas in the PTX manual.
// Values are small integers, so any order of sums gives the same result.
#include <bit>
#include <functional>
#include <limits>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/warps/warp_registers.hpp"

namespace sluice::hostcuda {
namespace {

struct Cell {
  unsigned row = 0;
  unsigned column = 0;
};

// MmaCase is one mma with its fragments: where element i of a lane lies, as the manual's
// formulas have it, with g the lane's group of four and t its number in it.
struct MmaCase {
  const char* name;  // after mma.sync.aligned.
  unsigned m, n, k;
  const char* a_type;
  const char* accumulator;
  std::function<Cell(unsigned g, unsigned t, unsigned i)> a, b;
  unsigned a_elements, b_elements;
};

Cell cell_of_c(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, 2 * t + (i & 1)};
}

const std::vector<MmaCase>& cases() {
  const auto wide_a = [](unsigned g, unsigned t, unsigned i) -> Cell {
    return {i < 2 || (4 <= i && i < 6) ? g : g + 8, 2 * t + (i & 1) + (i >= 4 ? 8 : 0)};
  };
  const auto pairs_b = [](unsigned g, unsigned t, unsigned i) -> Cell {
    return {2 * t + (i & 1) + (i >= 2 ? 8 : 0), g};
  };
  const auto single_a = [](unsigned g, unsigned t, unsigned i) -> Cell {
    return {i % 2 == 0 ? g : g + 8, t + 4 * (i / 2)};
  };
  const auto single_b = [](unsigned g, unsigned t, unsigned i) -> Cell { return {t + 4 * i, g}; };
  const auto bytes_a = [](unsigned g, unsigned t, unsigned i) -> Cell {
    return {i < 4 || (8 <= i && i < 12) ? g : g + 8, 4 * t + (i & 3) + (i >= 8 ? 16 : 0)};
  };
  const auto bytes_b = [](unsigned g, unsigned t, unsigned i) -> Cell {
    return {4 * t + (i & 3) + (i >= 4 ? 16 : 0), g};
  };
  const auto nibbles_a = [](unsigned g, unsigned t, unsigned i) -> Cell {
    return {i < 8 || (16 <= i && i < 24) ? g : g + 8, 8 * t + (i & 7) + (i >= 16 ? 32 : 0)};
  };
  const auto nibbles_b = [](unsigned g, unsigned t, unsigned i) -> Cell {
    return {8 * t + (i & 7) + (i >= 8 ? 32 : 0), g};
  };
  const auto bits_a = [](unsigned g, unsigned t, unsigned i) -> Cell {
    return {i < 32 || (64 <= i && i < 96) ? g : g + 8, 32 * t + (i & 31) + (i >= 64 ? 128 : 0)};
  };
  const auto bits_b = [](unsigned g, unsigned t, unsigned i) -> Cell {
    return {32 * t + (i & 31) + (i >= 32 ? 128 : 0), g};
  };
  static const std::vector<MmaCase> all = {
      {"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, "f16", "f32", wide_a, pairs_b, 4, 2},
      {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 8, "f16", "f16", wide_a, pairs_b, 4, 2},
      {"m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, "f16", "f32", wide_a, pairs_b, 8, 4},
      {"m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, "f16", "f16", wide_a, pairs_b, 8, 4},
      {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 8, "bf16", "f32", wide_a, pairs_b, 4, 2},
      {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, "bf16", "f32", wide_a, pairs_b, 8, 4},
      {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, "tf32", "f32", single_a, single_b, 2, 1},
      {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, "tf32", "f32", single_a, single_b, 4, 2},
      {"m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, "f64", "f64", single_a, single_b, 1, 1},
      {"m16n8k4.row.col.f64.f64.f64.f64", 16, 8, 4, "f64", "f64", single_a, single_b, 2, 1},
      {"m16n8k8.row.col.f64.f64.f64.f64", 16, 8, 8, "f64", "f64", single_a, single_b, 4, 2},
      {"m16n8k16.row.col.f64.f64.f64.f64", 16, 8, 16, "f64", "f64", single_a, single_b, 8, 4},
      {"m8n8k16.row.col.s32.s8.s8.s32", 8, 8, 16, "s8", "s32", bytes_a, bytes_b, 4, 4},
      {"m16n8k16.row.col.s32.u8.u8.s32", 16, 8, 16, "u8", "s32", bytes_a, bytes_b, 8, 4},
      {"m16n8k32.row.col.s32.s8.s8.s32", 16, 8, 32, "s8", "s32", bytes_a, bytes_b, 16, 8},
      {"m16n8k32.row.col.satfinite.s32.u8.u8.s32", 16, 8, 32, "u8", "s32", bytes_a, bytes_b, 16, 8},
      {"m8n8k32.row.col.s32.s4.s4.s32", 8, 8, 32, "s4", "s32", nibbles_a, nibbles_b, 8, 8},
      {"m16n8k32.row.col.s32.u4.u4.s32", 16, 8, 32, "u4", "s32", nibbles_a, nibbles_b, 16, 8},
      {"m16n8k64.row.col.s32.s4.s4.s32", 16, 8, 64, "s4", "s32", nibbles_a, nibbles_b, 32, 16},
      {"m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 8, 8, 128, "b1", "s32", bits_a, bits_b, 32, 32},
      {"m16n8k128.row.col.s32.b1.b1.s32.and.popc", 16, 8, 128, "b1", "s32", bits_a, bits_b, 64, 32},
      {"m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 8, 256, "b1", "s32", bits_a, bits_b, 128,
       64},
  };
  return all;
}

class Mma : public testing::TestWithParam<size_t> {
 protected:
  const MmaCase& example() const { return cases()[GetParam()]; }
};

// multiplied() is what one pair of elements adds to the sum.
double multiplied(const MmaCase& example, double a, double b) {
  if (std::string_view(example.a_type) != "b1") return a * b;
  const bool ands = std::string_view(example.name).find("and") != std::string_view::npos;
  return ands ? (a != 0 && b != 0) : (a != b);
}

TEST_P(Mma, GivesTheProductInTheManualsFragments) {
  const MmaCase& the_case = example();
  const ElementType type(the_case.a_type);
  const ElementType sums(the_case.accumulator);
  std::mt19937 random(static_cast<unsigned>(GetParam()) + 1);
  const auto make = [&](unsigned rows, unsigned columns, const ElementType& of) {
    std::vector<std::vector<double>> matrix(rows, std::vector<double>(columns));
    for (auto& row : matrix) {
      for (double& value : row)
        value = of.random(random);
    }
    return matrix;
  };
  const auto a = make(the_case.m, the_case.k, type);
  const auto b = make(the_case.k, the_case.n, type);
  const auto c = make(the_case.m, the_case.n, sums);
  const unsigned c_elements = the_case.m / 8 * 2;

  WarpRegisters in_a(type, the_case.a_elements);
  WarpRegisters in_b(type, the_case.b_elements);
  WarpRegisters in_c(sums, c_elements);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned g = lane / 4;
    const unsigned t = lane % 4;
    for (unsigned i = 0; i < the_case.a_elements; ++i) {
      const Cell cell = the_case.a(g, t, i);
      in_a.set(lane, i, a[cell.row][cell.column]);
    }
    for (unsigned i = 0; i < the_case.b_elements; ++i) {
      const Cell cell = the_case.b(g, t, i);
      in_b.set(lane, i, b[cell.row][cell.column]);
    }
    for (unsigned i = 0; i < c_elements; ++i) {
      const Cell cell = cell_of_c(g, t, i);
      in_c.set(lane, i, c[cell.row][cell.column]);
    }
  }
  const std::string instruction = std::string("mma.sync.aligned.") + the_case.name;
  for (const WarpPlace& place : warp_places()) {
    const WarpRegisters out = run_warp_instruction(
        instruction, place, WarpRegisters(sums, c_elements), {&in_a, &in_b, &in_c});
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < c_elements; ++i) {
        const Cell cell = cell_of_c(lane / 4, lane % 4, i);
        double expected = c[cell.row][cell.column];
        for (unsigned k = 0; k < the_case.k; ++k)
          expected += multiplied(the_case, a[cell.row][k], b[k][cell.column]);
        ASSERT_EQ(out.get(lane, i), expected)
            << instruction << " " << place.name << " lane " << lane << " element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Mma, testing::Range<size_t>(0, cases().size()));

// The quad pairs' own fragments.
TEST(MmaQuadPairs, MultipliesFourPairsOfMatrices) {
  const ElementType half("f16");
  for (const char* layouts : {"row.col", "row.row", "col.col", "col.row"}) {
    for (const char* sum : {"f32", "f16"}) {
      const bool a_by_columns = layouts[0] == 'c';
      const bool b_by_columns = layouts[4] == 'c';
      const bool wide = std::string_view(sum) == "f32";
      const ElementType sums(sum);
      std::mt19937 random(7);
      WarpRegisters a(half, 4);
      WarpRegisters b(half, 4);
      WarpRegisters c(sums, 8);
      double left[4][8][4];
      double right[4][4][8];
      double expected[4][8][8];
      const auto cell_of_sum = [&](unsigned lane, unsigned i) -> Cell {
        const unsigned up = lane < 16 ? 0 : 4;
        if (!wide) return {lane % 4 + up, i};
        return {(lane & 1) + (i & 2) + up, (i & 4) + (lane & 2) + (i & 1)};
      };
      for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned pair = lane % 16 / 4;
        const unsigned up = lane < 16 ? 0 : 4;
        for (unsigned i = 0; i < 4; ++i) {
          const Cell in_a = a_by_columns ? Cell{i + up, lane % 4} : Cell{lane % 4 + up, i};
          const Cell in_b = b_by_columns ? Cell{i, lane % 4 + up} : Cell{lane % 4, i + up};
          a.set(lane, i, left[pair][in_a.row][in_a.column] = half.random(random));
          b.set(lane, i, right[pair][in_b.row][in_b.column] = half.random(random));
        }
        for (unsigned i = 0; i < 8; ++i) {
          const Cell cell = cell_of_sum(lane, i);
          c.set(lane, i, expected[pair][cell.row][cell.column] = sums.random(random));
        }
      }
      const std::string name =
          fmt::format("mma.sync.aligned.m8n8k4.{}.{}.f16.f16.{}", layouts, sum, sum);
      const WarpRegisters out =
          run_warp_instruction(name, warp_places()[0], WarpRegisters(sums, 8), {&a, &b, &c});
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < 8; ++i) {
          const unsigned pair = lane % 16 / 4;
          const Cell cell = cell_of_sum(lane, i);
          double value = expected[pair][cell.row][cell.column];
          for (unsigned k = 0; k < 4; ++k)
            value += left[pair][cell.row][k] * right[pair][k][cell.column];
          ASSERT_EQ(out.get(lane, i), value) << name << " lane " << lane << " element " << i;
        }
      }
    }
  }
}

// Halves that are no common numbers, each the only one of its row that is not zero.
TEST(MmaHalves, AreWhatTheirBitsSay) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::pair<uint32_t, float> values[] = {
      {0x0001, 0x1p-24F}, {0x8001, -0x1p-24F}, {0x03FF, 1023 * 0x1p-24F}, {0x0400, 0x1p-14F},
      {0x7BFF, 65504.0F}, {0xFBFF, -65504.0F}, {0x7C00, infinity},        {0xFC00, -infinity},
      {0x3C00, 1.0F},     {0xC000, -2.0F},     {0x3555, 0x1.554p-2F},     {0x0000, 0.0F}};
  constexpr uint32_t one = 0x3C00;
  const ElementType half("f16");
  WarpRegisters a(half, 8), b(half, 4), zero(half, 4), no_a(half, 8);
  WarpRegisters wide_zero(ElementType("f32"), 4);
  for (unsigned g = 0; g < 8; ++g) {
    a.word(4 * g, 0) = values[g].first;
    a.word(4 * g, 1) = values[(g + 8) % std::size(values)].first;
    b.word(4 * g, 0) = one;
  }
  const auto& place = warp_places()[0];
  const WarpRegisters wide = run_warp_instruction(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", place, wide_zero, {&a, &b, &wide_zero});
  const char* narrow_name = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
  const WarpRegisters narrow = run_warp_instruction(narrow_name, place, zero, {&a, &b, &zero});
  const WarpRegisters kept = run_warp_instruction(narrow_name, place, zero, {&no_a, &b, &narrow});
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned upper = 0; upper < 2; ++upper) {
      const auto& [bits, value] = values[(lane / 4 + 8 * upper) % std::size(values)];
      for (unsigned column = 0; column < 2; ++column) {
        const auto word = static_cast<uint32_t>(wide.word(lane, 2 * upper + column));
        EXPECT_EQ(std::bit_cast<float>(word), value) << std::hex << bits;
      }
      EXPECT_EQ(narrow.word(lane, upper), bits << 16 | bits) << std::hex << bits;
      EXPECT_EQ(kept.word(lane, upper), bits << 16 | bits) << std::hex << bits;
    }
  }
}

TEST(MmaIntegers, SaturatesOnlyWhereItIsAsked) {
  const ElementType byte("s8");
  const ElementType sums("s32");
  WarpRegisters ones(byte, 4);
  WarpRegisters c(sums, 2);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i)
      ones.set(lane, i, 1);
    c.set(lane, 0, 0x7FFFFFF8);
    c.set(lane, 1, -5);
  }
  const auto run = [&](const char* name) {
    return run_warp_instruction(name, warp_places()[0], WarpRegisters(sums, 2), {&ones, &ones, &c});
  };
  const WarpRegisters wrapped = run("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32");
  const WarpRegisters kept = run("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32");
  EXPECT_EQ(wrapped.get(9, 0), -2147483640.0);
  EXPECT_EQ(kept.get(9, 0), 2147483647.0);
  EXPECT_EQ(wrapped.get(9, 1), 11);
  EXPECT_EQ(kept.get(9, 1), 11);
}

}  // namespace
}  // namespace sluice::hostcuda
