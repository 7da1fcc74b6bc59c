#include "hostcuda/driver/device/context.hpp"

namespace sluice::hostcuda {

CUresult Context::get_limit(CUlimit limit, size_t* value) const {
  if (static_cast<size_t>(limit) >= limits_.size()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = limits_[limit].load();
  return CUDA_SUCCESS;
}

CUresult Context::set_limit(CUlimit limit, size_t value) {
  if (static_cast<size_t>(limit) >= limits_.size()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  limits_[limit].store(value);
  return CUDA_SUCCESS;
}

void Context::reset_limits() {
  const Context fresh(0, 0);
  for (size_t i = 0; i < limits_.size(); ++i)
    limits_[i].store(fresh.limits_[i].load());
}

ContextStack& ContextStack::of_this_thread() {
  static thread_local constinit ContextStack stack;
  return stack;
}

bool ContextStack::push(Context* context) {
  if (depth_ == capacity) return false;
  items_[depth_++] = context;
  return true;
}

Context* ContextStack::pop() {
  return depth_ == 0 ? nullptr : items_[--depth_];
}

void ContextStack::replace_top(Context* context) {
  if (depth_ > 0) --depth_;
  if (context != nullptr) items_[depth_++] = context;
}

}  // namespace sluice::hostcuda
