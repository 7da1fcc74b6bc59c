#include "hostcuda/jit/warp/matrix_operations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "hostcuda/jit/warp/common_products.hpp"
#include "hostcuda/jit/warp/matrix_elements.hpp"

// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): places in one warp's matrices
namespace sluice::hostcuda::jit {
namespace {

using namespace ptx::matrix_call;

// The largest product: m32n8k16, m16n8k64.
constexpr unsigned most_rows = 32;
constexpr unsigned most_columns = 32;
constexpr unsigned most_depth = 64;

using Row = float __attribute__((vector_size(32)));  // of an 8 x 8 tile

// An accumulator's row holds the even columns of a tile before the odd ones, as slots do.
struct alignas(64) FloatMatrices {
  std::array<float, most_rows * most_depth> a;     // [row][k]
  std::array<float, most_depth * most_columns> b;  // [column tile][k][8]
  std::array<float, most_rows * most_columns> c;   // [column tile][row][8]
};

SLUICE_INLINE void read_a(const Operation& operation, const WarpSlots& slots, FloatMatrices& to) {
  const unsigned width = 4 * elements_in_slot(operation.a);
  const unsigned tiles = operation.m / tile;
  alignas(64) std::array<float, tile * 32> elements;
  for (unsigned number = 0; number < a_slots(operation); ++number) {
    decode_tile(operation.a, slots.slot(number), elements.data());
    float* corner = to.a.data() + number % tiles * tile * operation.k + number / tiles * width;
    for (unsigned row = 0; row < tile; ++row) {
      // Widths are multiples of four: a copy whose size is known needs no call.
      for (unsigned column = 0; column < width; column += 4)
        std::memcpy(corner + row * operation.k + column, elements.data() + row * width + column,
                    16);
    }
  }
}

SLUICE_INLINE void read_b(const Operation& operation, const WarpSlots& slots, FloatMatrices& to) {
  const unsigned depth = 4 * elements_in_slot(operation.b);
  const unsigned tiles = operation.k / depth;
  alignas(64) std::array<float, tile * 32> elements;
  for (unsigned number = 0; number < b_slots(operation); ++number) {
    decode_tile(operation.b, slots.slot(a_slots(operation) + number), elements.data());
    float* corner = to.b.data() + (number / tiles * operation.k + number % tiles * depth) * tile;
    for (unsigned k = 0; k < depth; ++k) {
#pragma GCC unroll 8
      for (unsigned place = 0; place < tile; ++place) {
        const unsigned column = place < 4 ? 2 * place : 2 * place - 7;
        corner[k * tile + place] = elements[column * depth + k];
      }
    }
  }
}

// visit(slot number, matrix) goes over the accumulator's tiles.
template <class Visit>
SLUICE_INLINE void for_each_tile(const Operation& operation, FloatMatrices& matrices, Visit visit) {
  const unsigned rows = operation.m / tile;
  const unsigned tiles = rows * (operation.n / tile);
  for (unsigned number = 0; number < tiles; ++number) {
    const unsigned place = number / rows * operation.m + number % rows * tile;
    visit(number, matrices.c.data() + place * tile);
  }
}

SLUICE_INLINE void read_c(const Operation& operation, const WarpSlots& slots, FloatMatrices& to) {
  const unsigned first = a_slots(operation) + b_slots(operation);
  for_each_tile(operation, to, [&](unsigned number, float* place) SLUICE_INLINE_LAMBDA {
    if (operation.c == Element::f16) {
      alignas(64) std::array<float, 2 * warp_lanes> elements;
      decode_tile(Element::f16, slots.slot(first + number), elements.data());
      for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        place[lane / 4 * tile + lane % 4] = elements[2 * lane];
        place[lane / 4 * tile + 4 + lane % 4] = elements[2 * lane + 1];
      }
      return;
    }
    for (unsigned row = 0; row < tile; ++row) {
      std::memcpy(place + row * tile, slots.slot(first + 2 * number) + 16 * row, 16);
      std::memcpy(place + row * tile + 4, slots.slot(first + 2 * number + 1) + 16 * row, 16);
    }
  });
}

SLUICE_INLINE void write_d(const Operation& operation, FloatMatrices& from,
                           const WarpSlots& slots) {
  const unsigned first = input_slots(operation);
  for_each_tile(operation, from, [&](unsigned number, const float* place) SLUICE_INLINE_LAMBDA {
    if (operation.d == Element::f16) {
      for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        const float* pair = place + lane / 4 * tile + lane % 4;
        const uint32_t word = half_of_float(pair[0]) | half_of_float(pair[4]) << 16;
        std::memcpy(slots.slot(first + number) + 4 * lane, &word, 4);
      }
      return;
    }
    for (unsigned row = 0; row < tile; ++row) {
      std::memcpy(slots.slot(first + 2 * number) + 16 * row, place + row * tile, 16);
      std::memcpy(slots.slot(first + 2 * number + 1) + 16 * row, place + row * tile + 4, 16);
    }
  });
}

// C += A B, eight rows of a tile at once so that their sums don't wait for each other, and in
// registers, for which the loop over them must be unrolled.
SLUICE_INLINE void multiply_tiles(const Operation& operation, FloatMatrices& matrices) {
  for_each_tile(operation, matrices, [&](unsigned number, float* place) SLUICE_INLINE_LAMBDA {
    const unsigned rows = operation.m / tile;
    const float* a = matrices.a.data() + number % rows * tile * operation.k;
    const float* b = matrices.b.data() + number / rows * operation.k * tile;
    Row sums[tile];
    std::memcpy(sums, place, sizeof(sums));
    for (unsigned k = 0; k < operation.k; ++k) {
      Row right;
      std::memcpy(&right, b + k * tile, sizeof(right));
#pragma GCC unroll 8
      for (unsigned row = 0; row < tile; ++row)
        sums[row] += a[row * operation.k + k] * right;
    }
    std::memcpy(place, sums, sizeof(sums));
  });
}

SLUICE_FOR_MACHINES void multiply_floats(const Operation& operation, const WarpSlots& slots) {
  FloatMatrices matrices;
  read_a(operation, slots, matrices);
  read_b(operation, slots, matrices);
  read_c(operation, slots, matrices);
  multiply_tiles(operation, matrices);
  write_d(operation, matrices, slots);
}

int32_t add_integers(int32_t accumulated, int64_t product, bool saturates) {
  const int64_t sum = accumulated + product;
  if (!saturates) return static_cast<int32_t>(static_cast<uint32_t>(sum));
  using Limits = std::numeric_limits<int32_t>;
  return static_cast<int32_t>(std::clamp<int64_t>(sum, Limits::min(), Limits::max()));
}

// Sums of at most 64 products of bytes or nibbles are exact in f32.
SLUICE_FOR_MACHINES void multiply_integers(const Operation& operation, const WarpSlots& slots) {
  FloatMatrices matrices;
  read_a(operation, slots, matrices);
  read_b(operation, slots, matrices);
  std::fill_n(matrices.c.data(), operation.m * operation.n, 0.0F);
  multiply_tiles(operation, matrices);
  const unsigned first = a_slots(operation) + b_slots(operation);
  const unsigned result = input_slots(operation);
  const bool saturates = operation.has(ptx::matrix_call::saturates);
  for_each_tile(operation, matrices, [&](unsigned number, const float* place) SLUICE_INLINE_LAMBDA {
    for (unsigned half = 0; half < 2; ++half) {
      std::array<int32_t, warp_lanes> values;
      std::memcpy(values.data(), slots.slot(first + 2 * number + half), sizeof(values));
      for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        const float product = place[lane / 4 * tile + 4 * half + lane % 4];
        values[lane] = add_integers(values[lane], static_cast<int32_t>(product), saturates);
      }
      std::memcpy(slots.slot(result + 2 * number + half), values.data(), sizeof(values));
    }
  });
}

// Rows of an 8 x 8 tile of f64, the even columns of each before the odd ones.
using DoubleTile = std::array<std::array<double, tile>, tile>;

SLUICE_INLINE void read_double_tile(const std::byte* even, const std::byte* odd, DoubleTile& to) {
  for (unsigned row = 0; row < tile; ++row) {
    std::memcpy(to[row].data(), even + 32 * row, 32);
    std::memcpy(to[row].data() + 4, odd + 32 * row, 32);
  }
}

SLUICE_INLINE void write_double_tile(const DoubleTile& from, std::byte* even, std::byte* odd) {
  for (unsigned row = 0; row < tile; ++row) {
    std::memcpy(even + 32 * row, from[row].data(), 32);
    std::memcpy(odd + 32 * row, from[row].data() + 4, 32);
  }
}

// Slots of A and B hold one f64 each: 8 x 4 and 4 x 8 tiles.
SLUICE_FOR_MACHINES void multiply_doubles(const Operation& operation, const WarpSlots& slots) {
  const unsigned rows = operation.m / tile;
  const unsigned depth = operation.k / 4;
  const std::byte* b_slot = slots.slot(depth * rows);
  const std::byte* c_slot = b_slot + depth * slots.stride;
  std::byte* d_slot = slots.slot(depth * rows + depth + 2 * rows);
  for (unsigned number = 0; number < rows; ++number) {
    alignas(64) DoubleTile sums;
    read_double_tile(c_slot + 2 * number * slots.stride, c_slot + (2 * number + 1) * slots.stride,
                     sums);
    for (unsigned step = 0; step < depth; ++step) {
      alignas(64) std::array<double, warp_lanes> a;
      alignas(64) std::array<double, warp_lanes> b;
      std::memcpy(a.data(), slots.slot(step * rows + number), sizeof(a));
      std::memcpy(b.data(), b_slot + step * slots.stride, sizeof(b));
      for (unsigned k = 0; k < 4; ++k) {
        alignas(64) std::array<double, tile> right;
        for (unsigned place = 0; place < tile; ++place)
          right[place] = b[(place < 4 ? 2 * place : 2 * place - 7) * 4 + k];
        for (unsigned row = 0; row < tile; ++row) {
          for (unsigned column = 0; column < tile; ++column)
            sums[row][column] = __builtin_fma(a[4 * row + k], right[column], sums[row][column]);
        }
      }
    }
    write_double_tile(sums, d_slot + 2 * number * slots.stride,
                      d_slot + (2 * number + 1) * slots.stride);
  }
}

// Rows of A and columns of B are sequences of words, each slot's four lanes after those before.
void multiply_bits(const Operation& operation, const WarpSlots& slots) {
  const unsigned rows = operation.m / tile;
  const unsigned words = operation.k / 32;
  const unsigned first_b = a_slots(operation);
  const unsigned first_c = first_b + b_slots(operation);
  for (unsigned row = 0; row < operation.m; ++row) {
    for (unsigned column = 0; column < operation.n; ++column) {
      int64_t ones = 0;
      for (unsigned word = 0; word < words; ++word) {
        const unsigned a_slot = word / 4 * rows + row / tile;
        const uint32_t a = word_at(slots, a_slot, row % tile * 4 + word % 4);
        const uint32_t b = word_at(slots, first_b + word / 4, column * 4 + word % 4);
        ones += std::popcount(operation.has(ands) ? a & b : a ^ b);
      }
      const unsigned slot = 2 * (row / tile) + column % 2;
      const unsigned lane = row % tile * 4 + column / 2;
      const auto accumulated = static_cast<int32_t>(word_at(slots, first_c + slot, lane));
      set_word(slots, input_slots(operation) + slot, lane,
               static_cast<uint32_t>(add_integers(accumulated, ones, operation.has(saturates))));
    }
  }
}

}  // namespace

void run_matrix_operation(const Operation& operation, const WarpSlots& slots) {
  switch (operation.kind) {
    case Kind::spread_rows:
      return spread_rows(operation, slots);
    case Kind::gather_rows:
      return gather_rows(operation, slots);
    case Kind::transpose:
      return transpose_registers(slots);
    case Kind::multiply:
      break;
  }
  if (operation.has(quad_pairs)) return multiply_quad_pairs(operation, slots);
  switch (operation.a) {
    case Element::f64:
      return multiply_doubles(operation, slots);
    case Element::b1:
      return multiply_bits(operation, slots);
    case Element::f16:
    case Element::bf16:
    case Element::tf32:
      if (!multiply_common(operation, slots)) multiply_floats(operation, slots);
      return;
    default:
      return multiply_integers(operation, slots);
  }
}

}  // namespace sluice::hostcuda::jit
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
