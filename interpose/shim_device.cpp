#include "interpose/shim_device.hpp"

#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "base/log.hpp"

namespace sluice::interpose {
namespace {

void CUDA_CB run_work(void* data) {
  const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(data));
  (*work)();
}

struct Libraries {
  std::mutex mutex;
  std::unordered_set<void*> handles;
};
Libraries& libraries() {
  static auto* const all = new Libraries();
  return *all;
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

void ShimDevice::use_megakernel(const Settings& settings,
                                const std::function<void*(const char*)>& real) {
  if (settings.megakernel == MegakernelUse::off) return;
  if (const char* missing = driver_.look_up(real)) {
    log::warning("the driver lacks {}, which the megakernel needs: launches pass through", missing);
    return;
  }
  executor_ = std::make_unique<megakernel::DeviceExecutor>(
      driver_, megakernel::DeviceExecutor::Config{
                   .workers = settings.config.workers,
                   .wait_for_code = settings.megakernel == MegakernelUse::wait,
                   .stress = settings.config.stress,
                   .is_library = is_library});
}

ShimDevice::ShimDevice(const DriverCalls& calls) : calls_(calls) {
  constexpr unsigned char bytes[] = SLUICE_HOST_DEVICE_TABLE_UUID;
  CUuuid uuid = {};
  static_assert(sizeof(bytes) == sizeof(uuid));
  std::memcpy(&uuid, bytes, sizeof(uuid));
  const void* table = nullptr;
  if (calls_.cuGetExportTable != nullptr &&
      calls_.cuGetExportTable(&table, &uuid) == CUDA_SUCCESS && table != nullptr) {
    const auto* found = static_cast<const SluiceHostDeviceTable*>(table);
    if (found->size >= sizeof(SluiceHostDeviceTable)) table_ = found;
  }
}

int ShimDevice::launch(const runtime::LaunchCall& call) {
  return calls_.cuLaunchKernel(static_cast<CUfunction>(call.function), call.grid.x, call.grid.y,
                               call.grid.z, call.block.x, call.block.y, call.block.z,
                               call.dynamic_shared_bytes, static_cast<CUstream>(call.stream),
                               call.parameters, call.extra);
}

Result<SluiceBlockCode> ShimDevice::block_code(void* function, const Dim3& block,
                                               uint32_t dynamic_shared_bytes) {
  return find_code(function, block, dynamic_shared_bytes, &SluiceHostDeviceTable::get_block_code);
}

Result<SluiceBlockCode> ShimDevice::traced_block_code(void* function, const Dim3& block,
                                                      uint32_t dynamic_shared_bytes) {
  return find_code(function, block, dynamic_shared_bytes,
                   &SluiceHostDeviceTable::get_traced_block_code);
}

void ShimDevice::set_access_sink(const SluiceAccessSink* sink) {
  if (table_ != nullptr) table_->set_access_sink(sink);
}

Result<SluiceBlockCode> ShimDevice::find_code(void* function, const Dim3& block,
                                              uint32_t dynamic_shared_bytes,
                                              GetBlockCode SluiceHostDeviceTable::* get) {
  if (table_ == nullptr) {
    return unsupported("on a GPU launches are reordered only where SLUICE_MEGAKERNEL is set",
                       "device", "launches run as they would without Sluice");
  }
  const uint32_t extents[3] = {block.x, block.y, block.z};
  SluiceBlockCode code = {};
  const int result = (table_->*get)(function, extents, dynamic_shared_bytes, &code);
  if (result != CUDA_SUCCESS) {
    const char* name = nullptr;
    calls_.cuGetErrorName(static_cast<CUresult>(result), &name);
    return unsupported("the CPU device has no block code for this kernel (" +
                       std::string(name == nullptr ? "unknown error" : name) + ")");
  }
  return code;
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

int ShimDevice::enqueue(void* stream, std::function<void()> work) {
  auto owned = std::make_unique<std::function<void()>>(std::move(work));
  const int result = table_ != nullptr ? table_->run_in_order(stream, run_work, owned.get())
                                       : calls_.cuLaunchHostFunc(static_cast<CUstream>(stream),
                                                                 run_work, owned.get());
  if (result == CUDA_SUCCESS) static_cast<void>(owned.release());
  return result;
}

}  // namespace sluice::interpose
