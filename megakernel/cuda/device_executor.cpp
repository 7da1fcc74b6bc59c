#include "megakernel/cuda/device_executor.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "megakernel/signals_blocked.hpp"

namespace sluice::megakernel {
namespace {

int attribute_of(const CudaDriver& driver, CUdevice_attribute attribute) {
  CUdevice device = 0;
  int value = 0;
  if (driver.cuCtxGetDevice(&device) != CUDA_SUCCESS) return 0;
  driver.cuDeviceGetAttribute(&value, attribute, device);
  return value;
}

std::vector<uint32_t> bodies_of(const Window& window) {
  std::vector<uint32_t> bodies;
  for (const LaunchCode& launch : window.code)
    bodies.push_back(launch.device->body);
  std::sort(bodies.begin(), bodies.end());
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
  return bodies;
}

}  // namespace

DeviceExecutor::DeviceExecutor(const CudaDriver& driver, Config config)
    : driver_(driver), config_(std::move(config)), store_(driver, config_.wait_for_code) {}

DeviceExecutor::~DeviceExecutor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (follower_.joinable()) follower_.join();
  free_all_buffers(true);
}

void DeviceExecutor::free_all_buffers(bool is_context_there) {
  const std::lock_guard lock(mutex_);
  for (auto* list : {&free_buffers_, &lost_buffers_}) {
    for (const auto& buffers : *list) {
      if (!is_context_there) break;
      for (const DeviceMemory* memory : {&buffers->tables, &buffers->flags, &buffers->counters}) {
        if (memory->address != 0) driver_.cuMemFree_v2(memory->address);
      }
      if (buffers->ended != nullptr) driver_.cuEventDestroy_v2(buffers->ended);
    }
    list->clear();
  }
}

WindowBackend::Answer DeviceExecutor::find_code(const Kernel& kernel, uint32_t& body) {
  if (body == no_body) {
    CUcontext context = nullptr;
    if (driver_.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) {
      return {.reason = "the launching thread has no context"};
    }
    const Result<uint32_t> place = store_.add(*kernel.module, kernel.name, kernel.block, context);
    if (!place) return {.reason = place.error().line()};
    body = *place;
    context_ = context;
  }
  const CodeStore::Found found = store_.find(body);
  switch (found.state) {
    case CodeStore::State::refused:
      return {.reason = found.reason};
    case CodeStore::State::pending:
      return {.reason = "its code for the megakernel is not ready yet", .pending = true};
    case CodeStore::State::ready:
      break;
  }
  Result<std::shared_ptr<const DeviceCode>> code = make_code(kernel, found);
  if (!code) return {.reason = code.error().line()};
  return {.code = std::move(*code)};
}

Result<std::shared_ptr<const DeviceCode>> DeviceExecutor::make_code(
    const Kernel& kernel, const CodeStore::Found& found) const {
  const TaskBody& body = *found.body;
  auto code = std::make_shared<DeviceCode>();
  code->body = found.number;
  code->threads = body.threads;
  code->parameter_bytes = body.parameter_bytes;
  code->dynamic_offset = body.dynamic_offset;
  code->independent = body.independent;
  const int most = attribute_of(driver_, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  if (code->pool_bytes(kernel.dynamic_shared_bytes) > static_cast<uint64_t>(std::max(0, most))) {
    return unsupported("a worker would need more shared memory than a block may have",
                       fmt::format("kernel {}", kernel.name));
  }
  for (const std::string& variable : body.variables) {
    const CUresult result = address_of(kernel, variable, code->addresses.emplace_back());
    if (result == CUDA_SUCCESS) continue;
    return unsupported(fmt::format("the driver does not tell where variable {} lies (error {})",
                                   variable, static_cast<int>(result)),
                       fmt::format("kernel {}", kernel.name));
  }
  return code;
}

CUresult DeviceExecutor::address_of(const Kernel& kernel, const std::string& variable,
                                    uint64_t& address) const {
  CUdeviceptr found = 0;
  size_t bytes = 0;
  const bool is_library = config_.is_library != nullptr && config_.is_library(kernel.code);
  const CUresult result =
      is_library ? driver_.cuLibraryGetGlobal(&found, &bytes, static_cast<CUlibrary>(kernel.code),
                                              variable.c_str())
                 : driver_.cuModuleGetGlobal_v2(&found, &bytes, static_cast<CUmodule>(kernel.code),
                                                variable.c_str());
  address = found;
  return result;
}

void DeviceExecutor::context_ends(void* context) {
  if (context_ == nullptr || (context != nullptr && context != context_)) return;
  CUcontext current = nullptr;
  driver_.cuCtxGetCurrent(&current);
  // Where the context has ended already, all that was in it has gone with it.
  free_all_buffers(driver_.cuCtxSetCurrent(context_) == CUDA_SUCCESS);
  store_.forget();
  driver_.cuCtxSetCurrent(current);
  context_ = nullptr;
}

uint32_t DeviceExecutor::workers() const {
  if (config_.workers != 0) return config_.workers;
  CUcontext context = nullptr;
  if (driver_.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) return 1;
  // How many workers a processor holds is known once there is code; one is not far off for
  // planning.
  return static_cast<uint32_t>(
      std::max(1, attribute_of(driver_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)));
}

std::unique_ptr<DeviceExecutor::Buffers> DeviceExecutor::take_buffers() {
  const std::lock_guard lock(mutex_);
  if (free_buffers_.empty()) return std::make_unique<Buffers>();
  std::unique_ptr<Buffers> buffers = std::move(free_buffers_.back());
  free_buffers_.pop_back();
  return buffers;
}

CUresult DeviceExecutor::reserve(DeviceMemory& memory, size_t bytes, bool& fresh) const {
  fresh = bytes > memory.bytes;
  if (!fresh) return CUDA_SUCCESS;
  if (memory.address != 0) driver_.cuMemFree_v2(std::exchange(memory.address, 0));
  memory.bytes = 0;
  const size_t grown = std::max<size_t>(4096, bytes + bytes / 2);
  const CUresult result = driver_.cuMemAlloc_v2(&memory.address, grown);
  if (result == CUDA_SUCCESS) memory.bytes = grown;
  return result;
}

CUresult DeviceExecutor::prepare(Buffers& buffers, const CodeStore::Loaded& code,
                                 const Window& window, CUstream stream, uint64_t& pool_bytes) {
  ++windows_;
  const uint32_t stress = config_.stress == 0 ? 0 : std::max(1U, config_.stress + windows_);
  DeviceTables tables = make_device_tables(window, buffers.signals, stress, code.renumbered);
  bool fresh = false;
  CUresult result = reserve(buffers.flags, size_t{8} * tables.flag_count, fresh);
  if (result == CUDA_SUCCESS && fresh) {
    result = driver_.cuMemsetD8Async(buffers.flags.address, 0, buffers.flags.bytes, stream);
  }
  if (result == CUDA_SUCCESS) {
    result = reserve(buffers.counters, size_t{8} * tables.counter_count, fresh);
  }
  if (result == CUDA_SUCCESS && fresh) {
    result = driver_.cuMemsetD8Async(buffers.counters.address, 0, buffers.counters.bytes, stream);
    // The new counters hold nothing, so the targets are others.
    buffers.signals.counted.clear();
    tables = make_device_tables(window, buffers.signals, stress, code.renumbered);
  }
  if (result == CUDA_SUCCESS) result = reserve(buffers.tables, tables.bytes.size(), fresh);
  if (result != CUDA_SUCCESS) return result;
  tables.set_signals(buffers.flags.address, buffers.counters.address);
  pool_bytes = tables.pool_bytes;
  buffers.bytes = std::move(tables.bytes);
  return driver_.cuMemcpyHtoDAsync_v2(buffers.tables.address, buffers.bytes.data(),
                                      buffers.bytes.size(), stream);
}

uint32_t DeviceExecutor::resident_workers(const CodeStore::Loaded& code, uint64_t pool_bytes) {
  if (config_.workers != 0) return config_.workers;
  int blocks = 0;
  driver_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, code.function,
                                                      static_cast<int>(code.threads), pool_bytes);
  const int processors = attribute_of(driver_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  return static_cast<uint32_t>(std::max(1, blocks) * std::max(1, processors));
}

CUresult DeviceExecutor::launch(Buffers& buffers, const CodeStore::Loaded& code,
                                const Window& window, uint64_t pool_bytes, CUstream stream) {
  const auto tasks = static_cast<uint32_t>(std::min<size_t>(window.plan.tasks.size(), UINT32_MAX));
  const uint32_t workers = std::min(resident_workers(code, pool_bytes), tasks);
  void* parameters[] = {&buffers.tables.address};
  return driver_.cuLaunchKernel(code.function, workers, 1, 1, code.threads, 1, 1,
                                static_cast<unsigned>(pool_bytes), stream, parameters, nullptr);
}

int DeviceExecutor::submit(void* handle, std::shared_ptr<const Window> window,
                           std::function<void(int)> done) {
  auto* stream = static_cast<CUstream>(handle);
  Running running{.buffers = take_buffers(),
                  .context = context_,
                  .stream = stream,
                  .code = store_.code_for(bodies_of(*window)),
                  .window = std::move(window),
                  .done = std::move(done)};
  Buffers& buffers = *running.buffers;
  uint64_t pool_bytes = 0;
  CUresult result = CUDA_SUCCESS;
  if (buffers.ended == nullptr)
    result =
        driver_.cuEventCreate(&buffers.ended, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
  if (result == CUDA_SUCCESS)
    result = prepare(buffers, *running.code, *running.window, stream, pool_bytes);
  if (result == CUDA_SUCCESS) {
    result = launch(buffers, *running.code, *running.window, pool_bytes, stream);
  }
  if (result != CUDA_SUCCESS) {
    const std::lock_guard lock(mutex_);
    lost_buffers_.push_back(std::move(running.buffers));
    return result;
  }
  running.has_event = driver_.cuEventRecord(buffers.ended, stream) == CUDA_SUCCESS;
  {
    const std::lock_guard lock(mutex_);
    running_.push_back(std::move(running));
    if (!follower_.joinable()) {
      const SignalsBlocked blocked;
      follower_ = std::thread([this] { follow(); });
    }
  }
  changed_.notify_all();
  return CUDA_SUCCESS;
}

// Windows are told of in the order in which they were given, which may be later than they end.
void DeviceExecutor::follow() {
  pthread_setname_np(pthread_self(), "sluice-follower");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !running_.empty(); });
    if (running_.empty()) return;
    Running ended = std::move(running_.front());
    running_.pop_front();
    lock.unlock();
    driver_.cuCtxSetCurrent(ended.context);
    const CUresult result = ended.has_event ? driver_.cuEventSynchronize(ended.buffers->ended)
                                            : driver_.cuStreamSynchronize(ended.stream);
    lock.lock();
    (result == CUDA_SUCCESS ? free_buffers_ : lost_buffers_).push_back(std::move(ended.buffers));
    lock.unlock();
    ended.done(result);
    ended = {};
    lock.lock();
  }
}

}  // namespace sluice::megakernel
