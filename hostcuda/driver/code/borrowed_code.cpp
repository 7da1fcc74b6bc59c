#include "hostcuda/driver/code/borrowed_code.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/log.hpp"
#include "hostcuda/jit/library/fault_guard.hpp"

namespace sluice::hostcuda {
namespace {

struct Borrowed {
  std::mutex mutex;
  std::vector<std::weak_ptr<Kernel>> kernels;  // guarded by mutex
};

Borrowed& borrowed() {
  static Borrowed* const all = new Borrowed;  // outlives the threads that end with the process
  return *all;
}

}  // namespace

void note_borrowed(const std::shared_ptr<Kernel>& kernel) {
  const std::lock_guard lock(borrowed().mutex);
  std::vector<std::weak_ptr<Kernel>>& kernels = borrowed().kernels;
  std::erase_if(kernels, [](const std::weak_ptr<Kernel>& known) { return known.expired(); });
  const bool known =
      std::any_of(kernels.begin(), kernels.end(),
                  [&](const std::weak_ptr<Kernel>& other) { return other.lock() == kernel; });
  if (!known) kernels.push_back(kernel);
}

CUresult take_borrowed_fault() {
  const std::lock_guard lock(borrowed().mutex);
  for (const std::weak_ptr<Kernel>& known : borrowed().kernels) {
    const std::shared_ptr<Kernel> kernel = known.lock();
    if (kernel == nullptr) continue;
    const DeviceFault fault = kernel->take_fault();
    if (fault != DeviceFault::none) return fault_error(*kernel, fault);
  }
  return CUDA_SUCCESS;
}

CUresult fault_error(const Kernel& kernel, DeviceFault fault) {
  if (fault == jit::illegal_address) {
    log::error(
        "kernel {}: an access to address {:#x}, where no memory is; the context can't be used any "
        "more",
        kernel.name(), jit::last_fault_address());
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  switch (fault) {
    case DeviceFault::trap:
      log::error("kernel {}: a thread executed a trap; the context can't be used any more",
                 kernel.name());
      return CUDA_ERROR_LAUNCH_FAILED;
    case DeviceFault::assertion:
      log::error("kernel {}: an assertion failed; the context can't be used any more",
                 kernel.name());
      return CUDA_ERROR_ASSERT;
    case DeviceFault::none:
      break;
  }
  return CUDA_SUCCESS;
}

}  // namespace sluice::hostcuda
