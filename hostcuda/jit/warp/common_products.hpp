// The products of matrices that today's kernels ask for, each by code for its sizes alone.
#pragma once

#include "hostcuda/jit/warp/matrix_operations.hpp"

namespace sluice::hostcuda::jit {

// multiply_common() does what run_matrix_operation() says for products of f16, bf16 and tf32 in the
// shapes that nvcc makes of wmma and of the mma instructions since sm_80; it is false, and has done
// nothing, for others.
bool multiply_common(const ptx::matrix_call::Operation& operation, const WarpSlots& slots);

}  // namespace sluice::hostcuda::jit
