// Exchanges in a warp of which some lanes may have ended. On a GPU `shfl.sync` and its like wait
// for the lanes of their mask that have not exited. A worker's lanes never exit, so a body that
// needs it keeps a state for each thread in shared memory: running, ended, or the mask of the
// exchange that it has come to. A lane waits until every other lane of its mask has ended or has
// come with the same mask, and exchanges with those that have come. Both stay true until the
// exchange, which needs this lane, so all that meet find the same lanes. Why it is right:
// docs/megakernel.md.
#pragma once

#include <cstdint>
#include <string>

#include "megakernel/cuda/rewrite/rewrite_context.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// LaneMeeting writes the PTX of one function for it.
class LaneMeeting {
 public:
  explicit LaneMeeting(const RewriteContext& context)
      : group_(context.group), states_(context.places.own_offset()) {}

  // declare() goes before all else in a function.
  static void declare(ptx::Block& out);
  // open() goes at the start of a body, where all lanes of its warps are together. Threads from
  // `threads` on have ended.
  void open(ptx::Block& out, uint64_t threads) const;
  // close() goes where a lane ends; `under` is "@%p " where it ends under a guard, or empty.
  void close(ptx::Block& out, const std::string& under) const;
  // meet() is the exchange with its mask narrowed to the lanes that come to it.
  void meet(ptx::Block& out, ptx::Instruction exchange);

 private:
  std::string own_state_place() const;

  const BlockGroup& group_;
  const uint32_t states_;  // the offset in the worker's pool of a u32 for each thread
  unsigned meetings_ = 0;
};

}  // namespace sluice::megakernel
