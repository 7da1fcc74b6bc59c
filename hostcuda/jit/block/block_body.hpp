// The regions of a kernel as the function of one block.
#pragma once

#include <memory>
#include <optional>

#include <llvm/IR/Function.h>

#include "hostcuda/jit/block/combined_reductions.hpp"
#include "hostcuda/jit/block/region_clone.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"
#include "hostcuda/jit/regions/known_ends.hpp"
#include "hostcuda/jit/regions/live_values.hpp"
#include "hostcuda/jit/regions/regions.hpp"
#include "hostcuda/jit/warp/exchange.hpp"

namespace sluice::hostcuda::jit {

// BlockBody is the function of one block and the memory that it needs.
struct BlockBody {
  llvm::Function* function = nullptr;  // see BodyFrame
  uint64_t private_bytes = 0;          // of `memory`
  uint64_t bytes_below_shared = 0;     // that must precede `shared`
  uint32_t most_blocks = 1;            // neighbours in a row of the grid that it runs at once
  uint64_t shared_bytes = 0;           // of their static shared memory
  bool waits_for_blocks = false;       // insert_waits()
  std::optional<Reductions> reductions = std::nullopt;  // that begin and end with a call
};

// KernelRegions is a thread function ready to be emitted.
struct KernelRegions {
  std::vector<SyncPoint> points;
  std::vector<llvm::BasicBlock*> branches;  // cuts of a structured plan
  bool early_exits = false;
  llvm::DenseSet<const llvm::BasicBlock*> entered_by_the_rest = {};  // of early exits
  // Of early exits, where blocks run one by one: then early_exits is set only where it does not
  // know them all.
  std::optional<KnownEnds> known_ends = std::nullopt;
  uint32_t most_blocks = 1;  // neighbours in a row of the grid that run at once
  bool one_row = false;      // they are one row of threads
  uint32_t kept_blocks = 1;  // the most of them whose threads keep values
  LiveValues live;
  std::vector<llvm::AllocaInst*> locals;
};

// emit_structured() runs each region as one nest of loops over all threads, and the kernel's
// uniform branches between them.
BlockBody emit_structured(BodyFrame& frame, const KernelRegions& regions, ExchangePlan& layout);

// emit_states() gives every thread a state: each pass over the threads runs those that can go on
// to their next synchronisation point. Right for every kernel, and slow.
BlockBody emit_states(BodyFrame& frame, const KernelRegions& regions, ExchangePlan& layout);

// emit_block_body() cuts the thread function into regions and emits them. It may put another
// function in place of the thread's.
BlockBody emit_block_body(ThreadFunction& thread, const KernelContext& context,
                          ExchangePlan& layout);

}  // namespace sluice::hostcuda::jit
