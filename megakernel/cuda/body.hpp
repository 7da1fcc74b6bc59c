// A kernel's own PTX as a task body: a function that a worker of the megakernel calls for one
// block. Rules and reasons: docs/megakernel.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dim3.hpp"
#include "base/result.hpp"
#include "megakernel/cuda/side_by_side.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// TaskBody is one kernel rewritten for one block size. Its function takes the block's %ctaid as
// three u32 and reads everything else from the worker's shared memory (worker_memory.h).
struct TaskBody {
  std::string function;                // name of the body's .func
  std::vector<ptx::ModuleItem> items;  // that function, what it calls, prototypes it needs
  // The same for a group of the threads of a worker that runs several of its blocks at once; empty
  // where no worker does, and why.
  std::vector<ptx::ModuleItem> group_items;
  std::string one_at_a_time;
  SideBySide beside;
  uint32_t version_major = 0;  // of the PTX it came from
  uint32_t version_minor = 0;
  std::string target;  // "sm_75"

  Dim3 block;
  uint32_t parameter_bytes = 0;  // of the launch's parameter block, rounded up to 8
  // Module variables whose 64-bit addresses follow the parameters, in this order.
  std::vector<std::string> variables;
  uint32_t dynamic_offset = 0;  // of the dynamic shared memory in the pool: all before it is fixed
  // Threads that end early drop out of its barriers (rewrite/body_end.hpp), which needs sm_80.
  bool drops_out = false;
  bool meets_lanes = false;  // lanes that end early are left out of exchanges (lane_meeting.hpp)
  bool prints = false;

  // staged_bytes() is the size of what a launch stages: parameters and addresses.
  uint32_t staged_bytes() const {
    return parameter_bytes + 8 * static_cast<uint32_t>(variables.size());
  }
};

// rewrite_body() makes the body of `kernel` for blocks of `block` threads. Every symbol it defines
// begins with `prefix`, so that bodies of several modules can stand in one. What cannot be
// rewritten is refused as unsupported, with the place and the reason. Thread-safe.
Result<TaskBody> rewrite_body(const ptx::Module& module, std::string_view kernel, const Dim3& block,
                              std::string_view prefix);

}  // namespace sluice::megakernel
