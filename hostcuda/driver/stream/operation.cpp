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

bool CopyOperation::describe(std::vector<SluiceGraphStep>& steps) const {
  const bool is_flat =
      copy_.depth == 1 && copy_.destination.side != Side::host && copy_.source.side != Side::host;
  if (is_flat) {
    SluiceGraphStep& step = steps.emplace_back();
    step.to = copy_.destination.address;
    step.from = copy_.source.address;
    step.row_bytes = copy_.width;
    step.rows = copy_.height;
    step.to_pitch = copy_.destination.pitch;
    step.from_pitch = copy_.source.pitch;
  }
  return is_flat;
}

bool FillOperation::describe(std::vector<SluiceGraphStep>& steps) const {
  SluiceGraphStep& step = steps.emplace_back();
  step.is_fill = 1;
  step.to = fill_.address;
  step.row_bytes = fill_.width * fill_.element_bytes;
  step.rows = fill_.height;
  step.to_pitch = fill_.pitch;
  step.value = fill_.value;
  step.element_bytes = static_cast<uint32_t>(fill_.element_bytes);
  return true;
}

}  // namespace sluice::hostcuda
