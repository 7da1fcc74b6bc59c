// The driver below the shim as the runtime sees it.
#pragma once

#include "interpose/driver_calls.hpp"
#include "runtime/device.hpp"

namespace sluice::interpose {

class ShimDevice : public runtime::Device {
 public:
  // `calls` must outlive the device. Asks the driver for the private table of the CPU device.
  explicit ShimDevice(const DriverCalls& calls);

  int launch(const runtime::LaunchCall& call) override;
  Result<SluiceBlockCode> block_code(void* function, const Dim3& block,
                                     uint32_t dynamic_shared_bytes) override;
  int enqueue(void* stream, std::function<void()> work) override;

 private:
  const DriverCalls& calls_;
  const SluiceHostDeviceTable* table_ = nullptr;
};

}  // namespace sluice::interpose
