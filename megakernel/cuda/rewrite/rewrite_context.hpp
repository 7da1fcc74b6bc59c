// What the functions of a kernel are rewritten by, and how one is refused.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/dim3.hpp"
#include "megakernel/cuda/rewrite/block_group.hpp"
#include "megakernel/cuda/rewrite/places.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

struct RewriteContext {
  const ptx::Module& module;
  const Places& places;
  Dim3 block;
  BlockGroup group;
  std::string prefix;      // of the names of functions that the body defines
  bool loops = false;      // over the blocks of a task (block_loop.hpp)
  bool drops_out = false;  // its barriers are of the threads that have not ended
  // Exchanges of values in a warp that may name lanes which have ended (flow.hpp).
  const std::set<const ptx::Instruction*>& exchanges_past_ends;

  // whole_warps() is how many threads a block has, rounded up to whole warps.
  uint64_t whole_warps() const { return (block.count() + 31) / 32 * 32; }
};

// Refusal is thrown where a function cannot be rewritten, and caught by rewrite_function().
struct Refusal {
  std::string reason;
};

}  // namespace sluice::megakernel
