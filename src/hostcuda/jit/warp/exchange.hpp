// What threads of a block tell each other at a point where they meet: the part of a block
// function that is plain C++. The compiled code calls it between its loops over threads.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/matrix_call.hpp"

namespace sluice::hostcuda::jit {

enum class SyncOperation : uint32_t {
  barrier,  // of the block; the next three combine a predicate of the threads that take part
  barrier_and,
  barrier_or,
  barrier_popc,
  warp_barrier,  // from here on: of the lanes named in a mask
  matrix,        // of all lanes of a warp, see matrix_operations.hpp
  yield,         // of nobody: a thread that may wait for others lets them run
  active_mask,
  shuffle_up,
  shuffle_down,
  shuffle_butterfly,
  shuffle_index,
  vote_all,
  vote_any,
  vote_uniform,
  vote_ballot,
  match_any,
  match_all,
  reduce_add,
  reduce_and,
  reduce_or,
  reduce_xor,
  reduce_min,
  reduce_max,
  reduce_unsigned_min,
  reduce_unsigned_max,
};

inline constexpr uint32_t barriers_of_a_block = 16;

// is_block_wide() tells barriers of the block from operations of a warp.
inline bool is_block_wide(SyncOperation operation) {
  return operation <= SyncOperation::barrier_popc;
}

// PointCode is what exchange() knows of a synchronisation point.
struct PointCode {
  SyncOperation operation = SyncOperation::barrier;
  uint16_t reserved = 0;
  ptx::matrix_call::Operation matrix;  // where the operation is `matrix`
};

// ExchangeLayout is where the arrays of per-thread state lie in a block's private memory, each
// with one element a thread. In memory it is followed by a PointCode for each synchronisation
// point of the kernel. Compiled code carries it as constant data.
struct ExchangeLayout {
  uint32_t threads = 0;
  // Barriers have numbers and counts, which threads bring in `lane` and `clamp`.
  uint32_t has_numbered_barriers = 0;
  uint64_t state = 0;      // i32: where the thread goes on, see advance()
  uint64_t mask = 0;       // i32: lanes that take part
  uint64_t value = 0;      // i64
  uint64_t lane = 0;       // i32: a shuffle's lane operand; a barrier's number
  uint64_t clamp = 0;      // i32: a shuffle's c operand; a barrier's count, 0 for all threads
  uint64_t result = 0;     // i64
  uint64_t predicate = 0;  // i8: the second result
  uint64_t arrived = 0;    // i32 for each of 16 barriers: threads that arrived and don't wait
  uint64_t slots = 0;      // of matrix operations: all threads' first slots, then the second

  const PointCode* points() const { return reinterpret_cast<const PointCode*>(this + 1); }
};

// ExchangePlan is the same while the code is made.
struct ExchangePlan : ExchangeLayout {
  std::vector<PointCode> codes;
};

// States of a thread: n >= 0 goes on after point n - 1 (0: at the kernel's start), -n waits at
// point n - 1, `exited` is done.
inline constexpr int32_t exited = INT32_MIN;

// exchange() computes every thread's results at one point to which all threads that are left came
// together. `alive`, where not null, is one byte a thread, 0 for the exited.
extern "C" void sluice_jit_exchange(const ExchangeLayout* layout, uint32_t point,
                                    unsigned char* memory, const uint8_t* alive);

// advance() lets the threads go on that wait for nobody any more: at a barrier once as many as it
// counts wait or have arrived (without a count, every thread that has not exited), at an operation
// of a warp once the lanes of its mask are there. It returns 0 once all have exited. Threads that
// wait for what never comes (CUDA leaves it undefined, a GPU hangs) go on together.
extern "C" uint32_t sluice_jit_advance(const ExchangeLayout* layout, unsigned char* memory);

// arrive() is bar.arrive of one thread: it counts at a barrier and does not wait.
extern "C" void sluice_jit_arrive(const ExchangeLayout* layout, unsigned char* memory,
                                  uint32_t barrier, uint64_t thread);

}  // namespace sluice::hostcuda::jit
