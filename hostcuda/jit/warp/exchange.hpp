// What threads of a block tell each other at a point where they meet: the part of a block
// function that is plain C++. The compiled code calls it between its loops over threads.
#pragma once

#include <cstdint>
#include <string_view>
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
  meeting,       // of those lanes that come to it
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

// NamedOperation is an operation and how the name of the function that stands for it in lifted code
// begins, after "llvm.nvvm." or "sluice.".
struct NamedOperation {
  std::string_view prefix;
  SyncOperation operation;
};

// A longer prefix stands before a shorter one.
inline constexpr NamedOperation named_operations[] = {
    {"barrier.red.and", SyncOperation::barrier_and},
    {"barrier.red.or", SyncOperation::barrier_or},
    {"barrier.red.popc", SyncOperation::barrier_popc},
    {"barrier0.and", SyncOperation::barrier_and},
    {"barrier0.or", SyncOperation::barrier_or},
    {"barrier0.popc", SyncOperation::barrier_popc},
    {"barrier0", SyncOperation::barrier},
    {"bar.sync", SyncOperation::barrier},
    {"barrier.sync", SyncOperation::barrier},
    {"barrier.n", SyncOperation::barrier},
    {"bar.warp.sync", SyncOperation::warp_barrier},
    {"warp.wait", SyncOperation::warp_barrier},
    {"yield", SyncOperation::yield},
    {"meeting", SyncOperation::meeting},
    {"activemask", SyncOperation::active_mask},
    {"shfl.sync.up", SyncOperation::shuffle_up},
    {"shfl.sync.down", SyncOperation::shuffle_down},
    {"shfl.sync.bfly", SyncOperation::shuffle_butterfly},
    {"shfl.sync.idx", SyncOperation::shuffle_index},
    {"shfl.up", SyncOperation::shuffle_up},
    {"shfl.down", SyncOperation::shuffle_down},
    {"shfl.bfly", SyncOperation::shuffle_butterfly},
    {"shfl.idx", SyncOperation::shuffle_index},
    {"vote.all", SyncOperation::vote_all},
    {"vote.any", SyncOperation::vote_any},
    {"vote.uni", SyncOperation::vote_uniform},
    {"vote.ballot", SyncOperation::vote_ballot},
    {"match.any", SyncOperation::match_any},
    {"match.all", SyncOperation::match_all},
    {"redux.sync.add", SyncOperation::reduce_add},
    {"redux.sync.and", SyncOperation::reduce_and},
    {"redux.sync.or", SyncOperation::reduce_or},
    {"redux.sync.xor", SyncOperation::reduce_xor},
    {"redux.sync.min", SyncOperation::reduce_min},
    {"redux.sync.max", SyncOperation::reduce_max},
    {"redux.sync.umin", SyncOperation::reduce_unsigned_min},
    {"redux.sync.umax", SyncOperation::reduce_unsigned_max},
    {"lockstep.any", SyncOperation::barrier_or},
    {"lockstep", SyncOperation::barrier},
};

inline constexpr uint32_t barriers_of_a_block = 16;

// is_block_wide() tells barriers of the block from operations of a warp.
inline bool is_block_wide(SyncOperation operation) {
  return operation <= SyncOperation::barrier_popc;
}

// takes_whoever_is_there() tells the operations that name no lanes.
inline bool takes_whoever_is_there(SyncOperation operation) {
  return operation == SyncOperation::yield || operation == SyncOperation::meeting ||
         operation == SyncOperation::active_mask;
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
  uint64_t tries = 0;      // WarpTries for each warp, where lanes meet and yield
  uint64_t slots = 0;      // of matrix operations: all threads' first slots, then the second

  const PointCode* points() const { return reinterpret_cast<const PointCode*>(this + 1); }
};

// WarpTries is how often the lanes of a warp that may wait for others have been let on and come
// back to where they were, by way of other places perhaps, while others were at a meeting ahead of
// them.
struct WarpTries {
  uint64_t states = 0;    // where they were: a digest
  uint32_t count = 0;     // of returns
  uint16_t rounds = 0;    // since they were there
  uint16_t patience = 0;  // rounds after which another place is looked for
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
// of a warp once the lanes of its mask are there. Lanes at a meeting go on once no lane of the warp
// is left that can go on without them or is at a meeting of a lower number: points are numbered in
// program_order(), so lanes that have parted come together as early as they can, as on a GPU. Those
// that may wait in a loop are waited for as long as that gets them anywhere. It returns 0 once all
// have exited. Threads that wait for what never comes (CUDA leaves it undefined, a GPU hangs) go on
// together.
extern "C" uint32_t sluice_jit_advance(const ExchangeLayout* layout, unsigned char* memory);

// arrive() is bar.arrive of one thread: it counts at a barrier and does not wait.
extern "C" void sluice_jit_arrive(const ExchangeLayout* layout, unsigned char* memory,
                                  uint32_t barrier, uint64_t thread);

}  // namespace sluice::hostcuda::jit
