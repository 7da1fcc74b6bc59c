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
  Result<SluiceBlockCode> traced_block_code(void* function, const Dim3& block,
                                            uint32_t dynamic_shared_bytes) override;
  void set_access_sink(const SluiceAccessSink* sink) override;
  int enqueue(void* stream, std::function<void()> work) override;

 private:
  using GetBlockCode = decltype(SluiceHostDeviceTable::get_block_code);
  Result<SluiceBlockCode> find_code(void* function, const Dim3& block,
                                    uint32_t dynamic_shared_bytes,
                                    GetBlockCode SluiceHostDeviceTable::* get);

  const DriverCalls& calls_;
  const SluiceHostDeviceTable* table_ = nullptr;
};

}  // namespace sluice::interpose
