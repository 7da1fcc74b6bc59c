// The flow of control in a kernel, as far as barriers ask: may some threads of a block end while
// others still meet at a barrier, or lanes of a warp while others still exchange values?
#pragma once

#include <string_view>

#include "base/dim3.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

struct FlowFacts {
  bool has_barrier = false;         // of the block, in the kernel or in what it calls
  bool has_warp_operation = false;  // that names lanes by a mask
  // A thread may end while another one of its block has a barrier ahead; or of its warp, an
  // operation of the warp. "May": uniformity is found by a conservative data-flow analysis.
  bool ends_before_barrier = false;
  bool ends_before_warp_operation = false;
};

// examine_flow() looks at a kernel that runs with blocks of `block` threads. A call counts as what
// the called function does. Thread-safe.
FlowFacts examine_flow(const ptx::Module& module, const ptx::Function& kernel, const Dim3& block);

// Barriers of the block, and operations of a warp that wait for the lanes of a mask.
bool is_block_barrier(const ptx::Instruction& instruction);
bool is_warp_operation(const ptx::Instruction& instruction);

// called_function() is the name in a direct call, empty for an indirect one.
std::string_view called_function(const ptx::Instruction& call);

}  // namespace sluice::megakernel
