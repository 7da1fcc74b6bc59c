// mma.m8n8k4 of f16: lanes 4 q to 4 q + 3 and 16 + 4 q to 16 + 4 q + 3 hold the q-th matrices.
#include <array>

#include "hostcuda/jit/warp/matrix_elements.hpp"
#include "hostcuda/jit/warp/matrix_operations.hpp"

// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): places in one warp's matrices
namespace sluice::hostcuda::jit {
namespace {

using namespace ptx::matrix_call;

constexpr unsigned extent = 8;
constexpr unsigned depth = 4;

struct Place {
  unsigned row = 0;
  unsigned column = 0;
};

// `upper` is 4 for the lanes from 16 on.
unsigned upper(unsigned lane) {
  return lane / 16 * 4;
}

Place place_in_a(unsigned lane, unsigned element, bool by_columns) {
  if (by_columns) return {element + upper(lane), lane % 4};
  return {lane % 4 + upper(lane), element};
}

Place place_in_b(unsigned lane, unsigned element, bool by_columns) {
  if (by_columns) return {element, lane % 4 + upper(lane)};
  return {lane % 4, element + upper(lane)};
}

Place place_in_accumulator(unsigned lane, unsigned element, bool is_half) {
  if (is_half) return {lane % 4 + upper(lane), element};
  return {(lane & 1) + (element & 2) + upper(lane), (element & 4) + (lane & 2) + (element & 1)};
}

// element_at() is one of a lane's elements of a matrix whose slots start at `first`.
float element_at(const WarpSlots& slots, unsigned first, unsigned lane, unsigned number,
                 bool is_half) {
  if (!is_half) return std::bit_cast<float>(word_at(slots, first + number, lane));
  return float_of_half(word_at(slots, first + number / 2, lane) >> number % 2 * 16 & 0xFFFF);
}

struct Matrices {
  std::array<std::array<float, depth>, extent> a{};
  std::array<std::array<float, extent>, depth> b{};
  std::array<std::array<float, extent>, extent> c{};
};

template <class Visit>
void for_each_lane_of_pair(unsigned pair, Visit visit) {
  for (unsigned i = 0; i < 8; ++i)
    visit(4 * pair + i % 4 + i / 4 * 16);
}

Matrices read(const Operation& operation, const WarpSlots& slots, unsigned pair) {
  Matrices matrices;
  const unsigned first_b = a_slots(operation);
  const unsigned first_c = first_b + b_slots(operation);
  const bool c_is_half = operation.c == Element::f16;
  for_each_lane_of_pair(pair, [&](unsigned lane) {
    for (unsigned i = 0; i < depth; ++i) {
      const Place in_a = place_in_a(lane, i, operation.has(a_by_columns));
      const Place in_b = place_in_b(lane, i, operation.has(b_by_columns));
      matrices.a[in_a.row][in_a.column] = element_at(slots, 0, lane, i, true);
      matrices.b[in_b.row][in_b.column] = element_at(slots, first_b, lane, i, true);
    }
    for (unsigned i = 0; i < extent; ++i) {
      const Place in_c = place_in_accumulator(lane, i, c_is_half);
      matrices.c[in_c.row][in_c.column] = element_at(slots, first_c, lane, i, c_is_half);
    }
  });
  return matrices;
}

void multiply(Matrices& matrices) {
  for (unsigned row = 0; row < extent; ++row) {
    for (unsigned column = 0; column < extent; ++column) {
      for (unsigned k = 0; k < depth; ++k)
        matrices.c[row][column] += matrices.a[row][k] * matrices.b[k][column];
    }
  }
}

void write(const Operation& operation, const Matrices& matrices, const WarpSlots& slots,
           unsigned pair) {
  const unsigned first = input_slots(operation);
  const bool is_half = operation.d == Element::f16;
  for_each_lane_of_pair(pair, [&](unsigned lane) {
    for (unsigned i = 0; i < extent; ++i) {
      const Place place = place_in_accumulator(lane, i, is_half);
      const float value = matrices.c[place.row][place.column];
      if (is_half) {
        const auto half = static_cast<uint16_t>(half_of_float(value));
        std::memcpy(slots.slot(first + i / 2) + 4 * lane + i % 2 * 2, &half, 2);
      } else {
        std::memcpy(slots.slot(first + i) + 4 * lane, &value, 4);
      }
    }
  });
}

}  // namespace

void multiply_quad_pairs(const Operation& operation, const WarpSlots& slots) {
  for (unsigned pair = 0; pair < 4; ++pair) {
    Matrices matrices = read(operation, slots, pair);
    multiply(matrices);
    write(operation, matrices, slots, pair);
  }
}

}  // namespace sluice::hostcuda::jit
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
