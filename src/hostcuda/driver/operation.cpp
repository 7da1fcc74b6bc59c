#include "hostcuda/driver/operation.hpp"

namespace sluice::hostcuda {

CUresult HostOperation::run(BlockPool&) const {
  ContextStack& stack = ContextStack::of_this_thread();
  stack.push(&context_);
  function_(data_);
  stack.pop();
  return CUDA_SUCCESS;
}

}  // namespace sluice::hostcuda
