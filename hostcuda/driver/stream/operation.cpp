#include "hostcuda/driver/stream/operation.hpp"

#include "hostcuda/driver/code/borrowed_code.hpp"

namespace sluice::hostcuda {

CUresult HostOperation::run(BlockPool&) const {
  ContextStack& stack = ContextStack::of_this_thread();
  stack.push(&context_);
  function_(data_);
  stack.pop();
  return take_borrowed_fault();
}

}  // namespace sluice::hostcuda
