// The flow of control in a kernel, as far as barriers ask: may some threads of a block end while
// others still meet at a barrier, or lanes of a warp while others still exchange values?
#pragma once

#include <set>
#include <string_view>

#include "base/dim3.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

struct FlowFacts {
  bool has_barrier = false;  // of the block, in the kernel or in what it calls
  // A thread may end, or return from a called function, while another one of its block has a
  // barrier ahead. "May": uniformity is found by a conservative data-flow analysis.
  bool ends_before_barrier = false;
  // Exchanges of values in a warp, of the kernel and of what it calls, that may name lanes which
  // have ended, or of which the block has none.
  std::set<const ptx::Instruction*> exchanges_past_ends;
  bool has_matrix_operation = false;
  bool asks_who_is_active = false;
};

// examine_flow() looks at a kernel that runs with blocks of `block` threads. A call counts as what
// the called function does. Thread-safe.
FlowFacts examine_flow(const ptx::Module& module, const ptx::Function& kernel, const Dim3& block);

// called_function() is the name in a direct call, empty for an indirect one.
std::string_view called_function(const ptx::Instruction& call);

}  // namespace sluice::megakernel
