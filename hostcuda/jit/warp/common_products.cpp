#include "hostcuda/jit/warp/common_products.hpp"

#include "hostcuda/jit/warp/matrix_elements.hpp"

// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): places in one warp's matrices
namespace sluice::hostcuda::jit {
namespace {

using namespace ptx::matrix_call;

using Row = float __attribute__((vector_size(32)));       // of an 8 x 8 tile
using Words = uint32_t __attribute__((vector_size(32)));  // the slots of eight lanes
using Halves = uint16_t __attribute__((vector_size(16)));
using HalfRow = float __attribute__((vector_size(16)));

template <class Vector>
SLUICE_INLINE Vector load(const void* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

// Elements of 16 bits in the upper halves of words, as floats; a tf32 is a word, whose lower 13
// bits are ignored.
template <Element element>
SLUICE_INLINE Row floats_of(Words bits) {
  if constexpr (element == Element::bf16) return (Row)bits;
  if constexpr (element == Element::tf32) return (Row)(bits & 0xFFFFE000);
  // As float_of_half() has it, with the sign in its place.
  using Signed = int32_t __attribute__((vector_size(32)));
  const Row moved = (Row)((Words)((Signed)bits >> 3) & 0x8FFFE000) * 0x1p112F;
  const Signed is_special = (Signed)(bits & 0x7FFF0000) >= 0x7C000000;
  return (Row)((Words)moved | ((Words)is_special & 0x7F800000));
}

// Shape is a product whose accumulators' columns lie in tiles of eight, and whose rows do.
template <unsigned m, unsigned n, unsigned k, Element element, Element accumulator>
struct Shape {
  static constexpr Operation operation{m,       n,       k,           Kind::multiply,
                                       element, element, accumulator, accumulator};
  static constexpr unsigned in_slot = element == Element::tf32 ? 1 : 2;
  static constexpr unsigned depth = 4 * in_slot;  // of a slot's tile, along k
  static constexpr unsigned rows = m / tile, columns = n / tile, steps = k / depth;
  static constexpr unsigned slots_of_tile = accumulator == Element::f16 ? 1 : 2;
  static constexpr unsigned first_b = rows * steps;
  static constexpr unsigned first_c = first_b + columns * steps;
  static constexpr unsigned first_d = first_c + rows * columns * slots_of_tile;

  float a[rows * steps][tile][depth];
  Row b[columns][k];

  // Columns of B lie one after the other, with their even ones first in a row.
  SLUICE_INLINE void read_b(const WarpSlots& slots) {
    for (unsigned number = 0; number < columns * steps; ++number) {
      const std::byte* slot = slots.slot(first_b + number);
      const auto of_01 = load<Words>(slot), of_23 = load<Words>(slot + 32);
      const auto of_45 = load<Words>(slot + 64), of_67 = load<Words>(slot + 96);
      // Each half of a vector is transposed for itself.
      const Words low = __builtin_shufflevector(of_01, of_23, 0, 8, 1, 9, 4, 12, 5, 13);
      const Words high = __builtin_shufflevector(of_01, of_23, 2, 10, 3, 11, 6, 14, 7, 15);
      const Words low2 = __builtin_shufflevector(of_45, of_67, 0, 8, 1, 9, 4, 12, 5, 13);
      const Words high2 = __builtin_shufflevector(of_45, of_67, 2, 10, 3, 11, 6, 14, 7, 15);
      const Words words[4] = {__builtin_shufflevector(low, low2, 0, 1, 8, 9, 4, 5, 12, 13),
                              __builtin_shufflevector(low, low2, 2, 3, 10, 11, 6, 7, 14, 15),
                              __builtin_shufflevector(high, high2, 0, 1, 8, 9, 4, 5, 12, 13),
                              __builtin_shufflevector(high, high2, 2, 3, 10, 11, 6, 7, 14, 15)};
      Row* to = b[number / steps] + number % steps * depth;
      for (unsigned word = 0; word < 4; ++word) {
        if constexpr (in_slot == 1) {
          to[word] = floats_of<element>(words[word]);
        } else {
          to[2 * word] = floats_of<element>(words[word] << 16);
          to[2 * word + 1] = floats_of<element>(words[word] & 0xFFFF0000);
        }
      }
    }
  }

  SLUICE_INLINE void read_a(const WarpSlots& slots) {
    for (unsigned number = 0; number < rows * steps; ++number) {
      const std::byte* slot = slots.slot(number);
      float* to = a[number][0];
      for (unsigned i = 0; i < tile * depth; i += 8) {
        Words bits;
        if constexpr (in_slot == 1) {
          bits = load<Words>(slot + 4 * i);
        } else {
          bits = __builtin_convertvector(load<Halves>(slot + 2 * i), Words) << 16;
        }
        const Row floats = floats_of<element>(bits);
        std::memcpy(to + i, &floats, sizeof(floats));
      }
    }
  }

  SLUICE_INLINE static Row read_c(const std::byte* even, const std::byte* odd) {
    if constexpr (accumulator == Element::f16) {
      using Four = uint32_t __attribute__((vector_size(16)));
      const auto words = load<Four>(even);
      return floats_of<Element::f16>(
          __builtin_shufflevector(words << 16, words & 0xFFFF0000, 0, 1, 2, 3, 4, 5, 6, 7));
    }
    return __builtin_shufflevector(load<HalfRow>(even), load<HalfRow>(odd), 0, 1, 2, 3, 4, 5, 6, 7);
  }

  SLUICE_INLINE static void write_d(Row row, std::byte* even, std::byte* odd) {
    if constexpr (accumulator == Element::f16) {
      for (unsigned i = 0; i < 4; ++i) {
        const uint32_t word = half_of_float(row[i]) | half_of_float(row[i + 4]) << 16;
        std::memcpy(even + 4 * i, &word, 4);
      }
      return;
    }
    std::memcpy(even, &row, 16);
    std::memcpy(odd, reinterpret_cast<const std::byte*>(&row) + 16, 16);
  }

  // Eight rows at once, so that their sums don't wait for each other, and in registers, for which
  // the loops over them must be unrolled.
  SLUICE_INLINE void multiply_tile(const WarpSlots& slots, unsigned row, unsigned column) {
    const unsigned number = slots_of_tile * (column * rows + row);
    const std::byte* c = slots.slot(first_c + number);
    const std::byte* c_odd = slots.slot(first_c + number + slots_of_tile - 1);
    Row sums[tile];
#pragma GCC unroll 8
    for (unsigned i = 0; i < tile; ++i)
      sums[i] = read_c(c + 16 * i, c_odd + 16 * i);
    for (unsigned step = 0; step < steps; ++step) {
      const auto& left = a[step * rows + row];
#pragma GCC unroll 8
      for (unsigned in_step = 0; in_step < depth; ++in_step) {
        const Row right = b[column][step * depth + in_step];
#pragma GCC unroll 8
        for (unsigned i = 0; i < tile; ++i)
          sums[i] += left[i][in_step] * right;
      }
    }
    std::byte* d = slots.slot(first_d + number);
    std::byte* d_odd = slots.slot(first_d + number + slots_of_tile - 1);
#pragma GCC unroll 8
    for (unsigned i = 0; i < tile; ++i)
      write_d(sums[i], d + 16 * i, d_odd + 16 * i);
  }

  SLUICE_INLINE static void multiply(const WarpSlots& slots) {
    Shape matrices;
    matrices.read_a(slots);
    matrices.read_b(slots);
    for (unsigned column = 0; column < columns; ++column) {
      for (unsigned row = 0; row < rows; ++row)
        matrices.multiply_tile(slots, row, column);
    }
  }
};

template <class... Shapes>
SLUICE_INLINE bool multiply_one_of(const Operation& operation, const WarpSlots& slots) {
  return ((operation == Shapes::operation && (Shapes::multiply(slots), true)) || ...);
}

}  // namespace

SLUICE_FOR_MACHINES bool multiply_common(const Operation& operation, const WarpSlots& slots) {
  constexpr Element f16 = Element::f16, bf16 = Element::bf16, tf32 = Element::tf32,
                    f32 = Element::f32;
  return multiply_one_of<
      Shape<16, 8, 16, f16, f32>, Shape<16, 8, 16, bf16, f32>, Shape<16, 8, 16, f16, f16>,
      Shape<16, 8, 8, f16, f32>, Shape<16, 8, 8, tf32, f32>, Shape<16, 16, 16, f16, f32>,
      Shape<16, 16, 16, bf16, f32>, Shape<16, 16, 16, f16, f16>, Shape<16, 16, 8, tf32, f32>>(
      operation, slots);
}

}  // namespace sluice::hostcuda::jit
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
