// Rewriting all kernels of a PTX module and asking the toolkit's ptxas what their bodies cost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ptx/syntax.hpp"

namespace sluice::megakernel::testing {

struct Cost {
  int registers = 0;
  int stack = 0;
  int spills = 0;  // bytes stored
};

// Assembled is what ptxas says of each entry of a text; empty where it refuses the text.
struct Assembled {
  std::map<std::string, Cost> costs;
  std::string output;
  bool accepted = false;
};
Assembled run_ptxas(const std::string& file, unsigned architecture);

// RewrittenModule holds the bodies of a module's kernels, each called by an entry of the kernel's
// name, as a worker calls it for one block.
struct RewrittenModule {
  struct Refusal {
    std::string kernel;
    std::string reason;
  };
  std::string text;
  std::string linked;    // the bodies as one megakernel; empty without any
  int worker_bytes = 0;  // of shared memory that a worker of it needs, without dynamic memory
  // The same with workers that run two blocks of each kernel at once, where they may.
  std::string linked_beside;
  int worker_bytes_beside = 0;
  std::vector<std::string> kernels;
  std::vector<std::string> meeting_lanes;  // those of `kernels` whose bodies keep states of lanes
  std::vector<Refusal> refusals;
};

// rewrite_module() rewrites the module's kernels, or only `kernel`, for `architecture` and blocks
// of 256 threads, or
// of as many as the kernel allows.
RewrittenModule rewrite_module(const ptx::Module& module, unsigned architecture,
                               const std::string& kernel = {});

// target_number() is 90 for "sm_90a".
unsigned target_number(const ptx::Module& module);

}  // namespace sluice::megakernel::testing
