// What the lanes of one warp do with matrices together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ptx/matrix_call.hpp"

namespace sluice::hostcuda::jit {

// The side of the matrices that ldmatrix and its kin move, and of the tiles of products.
inline constexpr unsigned tile = 8;

// WarpSlots is where a warp's slots lie: those of one number for lanes 0 to 31 one after the other,
// `stride` bytes before those of the next number. First come the operation's inputs, then its
// results.
struct WarpSlots {
  std::byte* first = nullptr;
  size_t stride = 0;

  std::byte* slot(unsigned number) const { return first + number * stride; }
};

// word_at() is a slot of 32 bits of one lane, set_word() sets it.
inline uint32_t word_at(const WarpSlots& slots, unsigned slot, unsigned lane) {
  uint32_t word = 0;
  std::memcpy(&word, slots.slot(slot) + 4 * size_t{lane}, 4);
  return word;
}
inline void set_word(const WarpSlots& slots, unsigned slot, unsigned lane, uint32_t word) {
  std::memcpy(slots.slot(slot) + 4 * size_t{lane}, &word, 4);
}

// run_matrix_operation() reads the inputs of 32 lanes and writes their results. Products and sums
// of f16, bf16 and tf32 are computed in f32, in the order of k, those of f64 by fused operations;
// integers wrap, or saturate where the operation says so. Source of the layouts: PTX ISA, matrix
// fragments for mma, ldmatrix, stmatrix, movmatrix.
void run_matrix_operation(const ptx::matrix_call::Operation& operation, const WarpSlots& slots);

// spread_rows() is ldmatrix after each lane has loaded its row, gather_rows() stmatrix before each
// lane stores its row, transpose_registers() movmatrix.
void spread_rows(const ptx::matrix_call::Operation& operation, const WarpSlots& slots);
void gather_rows(const ptx::matrix_call::Operation& operation, const WarpSlots& slots);
void transpose_registers(const WarpSlots& slots);

// multiply_quad_pairs() is mma.m8n8k4 of f16, whose fragments are unlike all others.
void multiply_quad_pairs(const ptx::matrix_call::Operation& operation, const WarpSlots& slots);

}  // namespace sluice::hostcuda::jit
