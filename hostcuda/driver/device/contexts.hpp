// All contexts of the device, its primary one among them.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "hostcuda/driver/device/context.hpp"

namespace sluice::hostcuda {

// Contexts keeps every context for good: what Context says of those destroyed. Thread-safe.
class Contexts {
 public:
  // make() is a new context, never nullptr: lack of memory throws.
  Context* make(unsigned flags);
  // find() returns nullptr for what was never a context.
  Context* find(CUcontext handle) const;

  // The primary context, which is alive while somebody retains it; nullptr where nobody ever has.
  Context* primary() const;
  Context* retain_primary();

  // release_primary() gives back one retain. `last` says that nobody retains it any more, so that
  // its contents go. CUDA_ERROR_INVALID_CONTEXT where nobody did.
  CUresult release_primary(bool* last);

  // The flags may be set before there is a primary context.
  CUresult set_primary_flags(unsigned flags);
  void primary_state(unsigned* flags, bool* active) const;

 private:
  Context* add(unsigned flags);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Context>> all_;  // guarded by mutex_, as all below
  Context* primary_ = nullptr;
  unsigned primary_users_ = 0;
  unsigned primary_flags_ = 0;
};

}  // namespace sluice::hostcuda
