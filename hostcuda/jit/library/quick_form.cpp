#include "hostcuda/jit/library/quick_form.hpp"

#include <algorithm>

#include "base/processors.hpp"
#include "hostcuda/jit/library/device_fault.hpp"

namespace sluice::hostcuda::jit {

// As in host_target.cpp, no local static's guard.
uint32_t processors_beside_one() {
  static std::once_flag once;
  static uint32_t most = 1;
  std::call_once(once, [] { most = std::max<uint32_t>(2, available_processors()) - 1; });
  return most;
}

void QuickForm::run(SluiceBlockFunction quick, const SluiceBlockLaunch* launch, uint32_t first,
                    uint32_t count, void* scratch) {
  if (good_.load() == nullptr && enter(quick == nullptr ? 0 : processors_beside_one())) {
    if (quick == nullptr) {
      std::atomic_ref(*fault_).store(static_cast<uint8_t>(DeviceFault::trap));
      count = 0;
    }
    for (; count > 0 && good_.load() == nullptr; ++first, --count)
      quick(launch, first, 1, scratch);
    leave();
  }
  if (count > 0) good_.load()(launch, first, count, scratch);
}

void QuickForm::settle(SluiceBlockFunction good, uint8_t* fault) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  good_.store(good);
  is_settled_ = true;
  changed_.notify_all();
}

bool QuickForm::enter(uint32_t most) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_settled_ || inside_ < most; });
  if (good_.load() != nullptr) return false;
  ++inside_;
  return true;
}

void QuickForm::leave() {
  const std::lock_guard lock(mutex_);
  --inside_;
  changed_.notify_one();
}

}  // namespace sluice::hostcuda::jit

void sluice_jit_run_quick(SluiceBlockFunction quick, const SluiceBlockLaunch* launch,
                          uint32_t first, uint32_t count, void* scratch,
                          sluice::hostcuda::jit::QuickForm* form) {
  form->run(quick, launch, first, count, scratch);
}
