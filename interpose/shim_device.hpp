// The driver below the shim as the runtime sees it.
#pragma once

#include <functional>
#include <memory>

#include "interpose/driver/driver_calls.hpp"
#include "interpose/settings.hpp"
#include "megakernel/cuda/device_executor.hpp"
#include "runtime/device.hpp"

namespace sluice::interpose {

// is_done() asks it whether what an event was last recorded after is done; false for no event.
bool is_done(const DriverCalls& driver, CUevent event);

class ShimDevice : public runtime::Device {
 public:
  // `calls` must outlive the device. Asks the driver for the private table of the CPU device.
  // Windows run by the megakernel's own PTX where the settings say so; `real(symbol)` is the
  // driver's function of that name.
  ShimDevice(const DriverCalls& calls, const Settings& settings,
             const std::function<void*(const char*)>& real);

  int launch(const runtime::LaunchCall& call) override;
  Result<SluiceBlockCode> block_code(void* function, const Dim3& block,
                                     uint32_t dynamic_shared_bytes) override;
  Result<SluiceBlockCode> traced_block_code(void* function, const Dim3& block,
                                            uint32_t dynamic_shared_bytes) override;
  void set_access_sink(const SluiceAccessSink* sink) override;
  megakernel::WindowBackend* windows() override { return executor_.get(); }
  Result<runtime::VariablePlace> variable(void* code, const char* name) override;
  uint32_t architecture() override;
  uint32_t device_of(void* context) override;
  void* exchange_context(void* context) override;
  bool has_host_memory() override { return table_ != nullptr; }
  bool is_busy(const StreamKey& stream) override;
  int enqueue(const StreamKey& stream, std::function<void()> work) override;
  bool ends_by_itself(const StreamKey& stream) override;
  void* make_line() override { return table_ != nullptr ? table_->make_line() : nullptr; }
  int enqueue_together(void* line, std::span<const StreamKey> streams,
                       const std::function<void(Ends ends)>& work) override;
  bool is_reached(void* event) override;
  std::shared_ptr<void> promise_event(void* event, const StreamKey& stream) override;
  runtime::GraphSteps graph_steps(void* graph, const StreamKey& stream) override;
  void never_wait_for_room(bool never) override;
  void hold_functions(bool hold) override;

 private:
  const DriverCalls& calls_;
  const SluiceHostDeviceTable* table_ = nullptr;
  megakernel::CudaDriver driver_;
  std::unique_ptr<megakernel::DeviceExecutor> executor_;
};

// note_handle() remembers that a handle of loaded code is a CUmodule or a CUlibrary, which the
// driver asks to be told apart. Thread-safe.
void note_handle(CUmodule handle);
void note_handle(CUlibrary handle);

}  // namespace sluice::interpose
