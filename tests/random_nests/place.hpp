// Where a statement of a random nest stands.
#pragma once

#include "nest_tree.hpp"

namespace sluice::nests {

struct Place {
  unsigned depth = 0;            // loops around it
  unsigned nested = 0;           // statements around it
  int64_t visits = 1;            // of one thread, at most about
  bool meets = false;            // all threads that have not ended come here together
  bool all_there = true;         // and none has ended
  bool warp_meets = false;       // all lanes of a warp, or of its arm, come here together
  bool in_loop = false;          // it may be left
  bool loop_meets = false;       // the loop around it may not be left by some threads alone
  bool loop_warp_meets = false;  // nor by some lanes alone

  bool together() const { return meets || warp_meets; }
  // Where all must come to a round's end together, they jump together.
  bool may_jump() const {
    if (!in_loop) return false;
    if (loop_meets) return meets;
    return warp_meets || !loop_warp_meets;
  }
};

// Whether some threads may not come to the end of a round and still go on with the next.
bool jumps_past(const Statements& statements);

}  // namespace sluice::nests
