// A random kernel on the CPU device, with every access told.
#pragma once

#include <string>

#include "evaluation.hpp"
#include "kernel_tree.hpp"

namespace sluice::analysis::random {

struct TracedRun {
  bool ran = false;     // false where its bytes are too far apart to have memory for them
  std::string problem;  // the first difference to what the evaluation says; empty: none
};

// run_traced() compiles the text of a kernel, runs its blocks one by one and compares what each
// touches with `effects`. Not thread-safe: the listener of accesses is the calling thread's.
TracedRun run_traced(const Kernel& kernel, const std::string& ptx, const Effects& effects);

}  // namespace sluice::analysis::random
