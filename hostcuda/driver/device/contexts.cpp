#include "hostcuda/driver/device/contexts.hpp"

namespace sluice::hostcuda {

Context* Contexts::add(unsigned flags) {
  all_.push_back(std::make_unique<Context>(all_.size() + 1, flags));
  return all_.back().get();
}

Context* Contexts::make(unsigned flags) {
  const std::lock_guard lock(mutex_);
  return add(flags);
}

Context* Contexts::find(CUcontext handle) const {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Context>& context : all_) {
    if (context->handle() == handle) return context.get();
  }
  return nullptr;
}

Context* Contexts::primary() const {
  const std::lock_guard lock(mutex_);
  return primary_;
}

Context* Contexts::retain_primary() {
  const std::lock_guard lock(mutex_);
  if (primary_ == nullptr) primary_ = add(primary_flags_);
  ++primary_users_;
  primary_->set_alive(true);
  return primary_;
}

CUresult Contexts::release_primary(bool* last) {
  const std::lock_guard lock(mutex_);
  if (primary_users_ == 0) return CUDA_ERROR_INVALID_CONTEXT;
  *last = --primary_users_ == 0;
  return CUDA_SUCCESS;
}

CUresult Contexts::set_primary_flags(unsigned flags) {
  if ((flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(mutex_);
  primary_flags_ = flags;
  if (primary_ != nullptr) primary_->set_flags(flags);
  return CUDA_SUCCESS;
}

void Contexts::primary_state(unsigned* flags, bool* active) const {
  const std::lock_guard lock(mutex_);
  *flags = primary_flags_;
  *active = primary_users_ > 0;
}

}  // namespace sluice::hostcuda
