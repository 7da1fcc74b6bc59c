#include "interpose/shim_device.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "base/log.hpp"
#include "interpose/device_report.hpp"
#include "interpose/window_costs.hpp"
#include "runtime/launch/transfer.hpp"

namespace sluice::interpose {
namespace {

void CUDA_CB run_work(void* data) {
  const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(data));
  (*work)();
}

// StreamEnd lets a stream go on when it is gone.
struct StreamEnd {
  explicit StreamEnd(void (*reach_event)(void*)) : reach(reach_event) {}
  ~StreamEnd() {
    if (promise != nullptr) reach(promise);
  }
  StreamEnd(const StreamEnd&) = delete;
  StreamEnd& operator=(const StreamEnd&) = delete;

  void (*const reach)(void*);
  void* promise = nullptr;
};

// WorkTogether has all that it needs when it is made, so that no stream is left without its end.
struct WorkTogether {
  std::function<void(runtime::Device::Ends)> work;
  std::vector<void*> promises;
  std::vector<StreamEnd*> of_ends;
  runtime::Device::Ends ends;
};

void CUDA_CB run_work_together(void* data) {
  const std::unique_ptr<WorkTogether> together(static_cast<WorkTogether*>(data));
  for (size_t i = 0; i < together->promises.size(); ++i)
    together->of_ends[i]->promise = together->promises[i];
  together->work(std::move(together->ends));
}

struct Libraries {
  std::mutex mutex;
  std::unordered_set<void*> handles;
};
Libraries& libraries() {
  static auto* const all = new Libraries();
  return *all;
}

int fill(const DriverCalls& calls, const runtime::Transfer& fill) {
  const auto stream = static_cast<CUstream>(fill.stream.handle);
  const auto byte = static_cast<unsigned char>(fill.value);
  const auto half = static_cast<unsigned short>(fill.value);
  const size_t count = fill.row_bytes / fill.element_bytes;
  if (fill.rows == 1) {
    if (fill.element_bytes == 1) return calls.cuMemsetD8Async(fill.to, byte, count, stream);
    if (fill.element_bytes == 2) return calls.cuMemsetD16Async(fill.to, half, count, stream);
    return calls.cuMemsetD32Async(fill.to, fill.value, count, stream);
  }
  const size_t pitch = fill.to_pitch;
  if (fill.element_bytes == 1)
    return calls.cuMemsetD2D8Async(fill.to, pitch, byte, count, fill.rows, stream);
  if (fill.element_bytes == 2)
    return calls.cuMemsetD2D16Async(fill.to, pitch, half, count, fill.rows, stream);
  return calls.cuMemsetD2D32Async(fill.to, pitch, fill.value, count, fill.rows, stream);
}

// give() has the driver do a copy or a fill.
int give(const DriverCalls& calls, const runtime::Transfer& transfer) {
  if (transfer.kind == runtime::Transfer::Kind::fill) return fill(calls, transfer);
  const auto stream = static_cast<CUstream>(transfer.stream.handle);
  if (transfer.rows == 1)
    return calls.cuMemcpyAsync(transfer.to, transfer.from, transfer.row_bytes, stream);
  CUDA_MEMCPY2D rows = {};
  rows.srcMemoryType = rows.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  rows.srcDevice = transfer.from;
  rows.srcPitch = transfer.from_pitch;
  rows.dstDevice = transfer.to;
  rows.dstPitch = transfer.to_pitch;
  rows.WidthInBytes = transfer.row_bytes;
  rows.Height = transfer.rows;
  return calls.cuMemcpy2DAsync_v2(&rows, stream);
}

using GetBlockCode = decltype(SluiceHostDeviceTable::get_block_code);
Result<SluiceBlockCode> find_code(const DriverCalls& calls, const SluiceHostDeviceTable* table,
                                  void* function, const Dim3& block, uint32_t dynamic_shared_bytes,
                                  GetBlockCode SluiceHostDeviceTable::* get) {
  if (table == nullptr) {
    return unsupported("on a GPU launches are reordered only where SLUICE_MEGAKERNEL is set",
                       "device", "launches run as they would without Sluice");
  }
  const uint32_t extents[3] = {block.x, block.y, block.z};
  SluiceBlockCode code = {};
  const int result = (table->*get)(function, extents, dynamic_shared_bytes, &code);
  if (result != CUDA_SUCCESS) {
    const char* name = nullptr;
    calls.cuGetErrorName(static_cast<CUresult>(result), &name);
    return unsupported("the CPU device has no block code for this kernel (" +
                       std::string(name == nullptr ? "unknown error" : name) + ")");
  }
  return code;
}

// device_here() is that of the calling thread's context; the first one where there is no context.
CUdevice device_here(const DriverCalls& calls) {
  CUdevice device = 0;
  if (calls.cuCtxGetDevice == nullptr || calls.cuCtxGetDevice(&device) != CUDA_SUCCESS) return 0;
  return device;
}

bool is_library(void* handle) {
  const std::lock_guard lock(libraries().mutex);
  return libraries().handles.contains(handle);
}

}  // namespace

void note_handle(CUlibrary handle) {
  const std::lock_guard lock(libraries().mutex);
  libraries().handles.insert(handle);
}

void note_handle(CUmodule handle) {
  const std::lock_guard lock(libraries().mutex);
  libraries().handles.erase(handle);
}

ShimDevice::ShimDevice(const DriverCalls& calls, const Settings& settings,
                       const std::function<void*(const char*)>& real)
    : calls_(calls) {
  constexpr unsigned char id[] = SLUICE_HOST_DEVICE_TABLE_UUID;
  const auto* table = static_cast<const SluiceHostDeviceTable*>(device_table(calls_, id));
  if (table != nullptr && table->size >= sizeof(SluiceHostDeviceTable)) table_ = table;
  if (settings.megakernel == MegakernelUse::off) return;
  if (const char* missing = driver_.look_up(real)) {
    log::warning("the driver lacks {}, which the megakernel needs: launches pass through", missing);
    return;
  }
  megakernel::DeviceExecutor::Config config{
      .workers = settings.config.workers,
      .wait_for_code = settings.megakernel == MegakernelUse::wait,
      .stress = settings.config.stress,
      .is_library = is_library,
      .measured_costs = measured_costs};
  if (settings.most_polls != 0) config.most_polls = settings.most_polls;
  executor_ = std::make_unique<megakernel::DeviceExecutor>(driver_, std::move(config));
}

int ShimDevice::launch(const runtime::LaunchCall& call) {
  if (const auto transfer = runtime::transfer_of(call)) return give(calls_, *transfer);
  return calls_.cuLaunchKernel(static_cast<CUfunction>(call.function), call.grid.x, call.grid.y,
                               call.grid.z, call.block.x, call.block.y, call.block.z,
                               call.dynamic_shared_bytes, static_cast<CUstream>(call.stream.handle),
                               call.parameters, call.extra);
}

Result<SluiceBlockCode> ShimDevice::block_code(void* function, const Dim3& block,
                                               uint32_t dynamic_shared_bytes) {
  return find_code(calls_, table_, function, block, dynamic_shared_bytes,
                   &SluiceHostDeviceTable::get_block_code);
}

Result<SluiceBlockCode> ShimDevice::traced_block_code(void* function, const Dim3& block,
                                                      uint32_t dynamic_shared_bytes) {
  return find_code(calls_, table_, function, block, dynamic_shared_bytes,
                   &SluiceHostDeviceTable::get_traced_block_code);
}

void ShimDevice::set_access_sink(const SluiceAccessSink* sink) {
  if (table_ != nullptr) table_->set_access_sink(sink);
}

Result<runtime::VariablePlace> ShimDevice::variable(void* code, const char* name) {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  CUresult result = CUDA_ERROR_NOT_SUPPORTED;
  if (is_library(code) && calls_.cuLibraryGetGlobal != nullptr) {
    result = calls_.cuLibraryGetGlobal(&address, &bytes, static_cast<CUlibrary>(code), name);
  } else if (!is_library(code) && calls_.cuModuleGetGlobal_v2 != nullptr) {
    result = calls_.cuModuleGetGlobal_v2(&address, &bytes, static_cast<CUmodule>(code), name);
  }
  if (result != CUDA_SUCCESS) return unsupported("the driver knows no such variable", name);
  return runtime::VariablePlace{address, bytes};
}

// Code may be loaded before there is a context: then for the first device.
uint32_t ShimDevice::architecture() {
  if (table_ != nullptr || calls_.cuDeviceGetAttribute == nullptr) return 0;
  const CUdevice device = device_here(calls_);
  int major = 0;
  int minor = 0;
  calls_.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  calls_.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return static_cast<uint32_t>(std::max(0, 10 * major + minor));
}

uint32_t ShimDevice::device_of(void* context) {
  const runtime::InContext scope(*this, {context, nullptr});
  return static_cast<uint32_t>(device_here(calls_));
}

void* ShimDevice::exchange_context(void* context) {
  CUcontext current = nullptr;
  if (calls_.cuCtxGetCurrent == nullptr || calls_.cuCtxGetCurrent(&current) != CUDA_SUCCESS)
    return context;
  if (current != context) calls_.cuCtxSetCurrent(static_cast<CUcontext>(context));
  return current;
}

bool ShimDevice::is_busy(const StreamKey& stream) {
  return table_ != nullptr && table_->is_busy(stream.handle) != 0;
}

int ShimDevice::enqueue(const StreamKey& stream, std::function<void()> work) {
  auto owned = std::make_unique<std::function<void()>>(std::move(work));
  const int result =
      table_ != nullptr
          ? table_->run_in_order(stream.handle, run_work, owned.get())
          : calls_.cuLaunchHostFunc(static_cast<CUstream>(stream.handle), run_work, owned.get());
  if (result == CUDA_SUCCESS) static_cast<void>(owned.release());
  return result;
}

bool ShimDevice::ends_by_itself(const StreamKey& stream) {
  return table_ != nullptr && table_->ends_by_itself(stream.handle) != 0;
}

int ShimDevice::enqueue_together(void* line, std::span<const StreamKey> streams,
                                 const std::function<void(Ends ends)>& work) {
  auto owned = std::make_unique<WorkTogether>();
  owned->work = work;
  owned->promises.resize(streams.size());
  for (size_t i = 0; i < streams.size(); ++i) {
    auto end = std::make_shared<StreamEnd>(table_->reach_event);
    owned->of_ends.push_back(end.get());
    owned->ends.push_back(std::move(end));
  }
  std::vector<void*> handles;
  for (const StreamKey& stream : streams)
    handles.push_back(stream.handle);
  const int result = table_->run_together(line, handles.data(), handles.size(), run_work_together,
                                          owned.get(), owned->promises.data());
  if (result == CUDA_SUCCESS) static_cast<void>(owned.release());
  return result;
}

bool ShimDevice::is_reached(void* event) {
  return is_done(calls_, static_cast<CUevent>(event));
}

std::shared_ptr<void> ShimDevice::promise_event(void* event, const StreamKey& stream) {
  void* promise = nullptr;
  if (table_ == nullptr || table_->promise_event(event, stream.handle, &promise) != CUDA_SUCCESS) {
    return nullptr;
  }
  return {promise, table_->reach_event};
}

runtime::GraphSteps ShimDevice::graph_steps(void* graph, const StreamKey& stream) {
  SluiceGraphSteps steps = {};
  if (table_ == nullptr || table_->graph_steps(graph, stream.handle, &steps) != CUDA_SUCCESS)
    return {};
  return {{steps.steps, steps.count}, steps.version};
}

void ShimDevice::never_wait_for_room(bool never) {
  if (table_ != nullptr) table_->never_wait_for_room(never ? 1 : 0);
}

void ShimDevice::hold_functions(bool hold) {
  if (table_ != nullptr) table_->hold_functions(hold ? 1 : 0);
}

}  // namespace sluice::interpose
