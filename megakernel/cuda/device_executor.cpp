#include "megakernel/cuda/device_executor.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/thread/signals_blocked.hpp"
#include "megakernel/cuda/occupancy.hpp"

namespace sluice::megakernel {
namespace {

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
    : driver_(driver), config_(std::move(config)) {}

DeviceExecutor::~DeviceExecutor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (follower_.joinable()) follower_.join();
  context_ends(nullptr);
}

DeviceExecutor::Context& DeviceExecutor::context_of(void* handle) {
  const std::lock_guard lock(mutex_);
  return contexts_
      .try_emplace(handle, driver_, static_cast<CUcontext>(handle), config_.wait_for_code)
      .first->second;
}

WindowBackend::Answer DeviceExecutor::find_code(const Kernel& kernel, uint32_t& body) {
  if (is_off_) return {.reason = "a window waited in vain, and the megakernel is off since then"};
  const RelaxedCapture relaxed(driver_);
  if (kernel.context == nullptr) return {.reason = "the launching thread has no context"};
  CodeStore& store = context_of(kernel.context).store;
  if (body == no_body) {
    const Result<uint32_t> place =
        store.add(*kernel.module, kernel.name, kernel.block, registers_of(kernel));
    if (!place) return {.reason = place.error().line()};
    body = *place;
    costs();  // told of as soon as there is a kernel
  }
  const CodeStore::Found found = store.find(body);
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
  auto code = std::make_shared<DeviceCode>(device_code(body, found.number));
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

uint32_t DeviceExecutor::registers_of(const Kernel& kernel) const {
  auto* function = static_cast<CUfunction>(kernel.function);
  int registers = 0;
  if (kernel.function == nullptr) return 0;
  if (is_in_library(kernel) &&
      driver_.cuKernelGetFunction(&function, static_cast<CUkernel>(kernel.function)) !=
          CUDA_SUCCESS) {
    return 0;
  }
  const CUresult result =
      driver_.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
  return result == CUDA_SUCCESS ? static_cast<uint32_t>(std::max(0, registers)) : 0;
}

CUresult DeviceExecutor::address_of(const Kernel& kernel, const std::string& variable,
                                    uint64_t& address) const {
  CUdeviceptr found = 0;
  size_t bytes = 0;
  const CUresult result =
      is_in_library(kernel)
          ? driver_.cuLibraryGetGlobal(&found, &bytes, static_cast<CUlibrary>(kernel.code),
                                       variable.c_str())
          : driver_.cuModuleGetGlobal_v2(&found, &bytes, static_cast<CUmodule>(kernel.code),
                                         variable.c_str());
  address = found;
  return result;
}

void DeviceExecutor::context_ends(void* context) {
  const RelaxedCapture relaxed(driver_);
  CUcontext current = nullptr;
  driver_.cuCtxGetCurrent(&current);
  std::map<void*, Context> ending;
  std::unique_lock lock(mutex_);
  for (auto entry = contexts_.begin(); entry != contexts_.end();) {
    const auto next = std::next(entry);
    if (context == nullptr || entry->first == context) {
      changed_.wait(lock, [&] { return entry->second.running == 0; });
      ending.insert(contexts_.extract(entry));
    }
    entry = next;
  }
  lock.unlock();
  while (!ending.empty()) {
    end(ending.begin()->second);
    ending.erase(ending.begin());  // in that context too
  }
  driver_.cuCtxSetCurrent(current);
}

// In its context all that goes with it is freed, unless that has ended already.
void DeviceExecutor::end(Context& context) {
  if (driver_.cuCtxSetCurrent(context.handle) != CUDA_SUCCESS) return;
  for (auto* list : {&context.free_lanes, &context.lost_lanes}) {
    for (const auto& lane : *list)
      lane->free();
  }
}

WindowBackend::Capacity DeviceExecutor::capacity(const Window& window, void* handle) {
  Context& context = context_of(handle);
  std::shared_ptr<const CodeStore::Loaded> code = context.store.code();
  if (is_crowded(window, *code)) code = context.store.known_code(bodies_of(window));
  // A driver takes half a millisecond to tell its clocks.
  std::call_once(context.memory_is_known, [&] { context.memory = memory_of(driver_); });
  return {.workers = workers_for(*code, pool_bytes_of(window)),
          .cache_bytes = context.memory.cache_bytes,
          .memory_bytes = context.memory.bytes_each_microsecond};
}

std::unique_ptr<WindowLane> DeviceExecutor::take_lane(Context& context) {
  const std::lock_guard lock(mutex_);
  if (context.free_lanes.empty()) return std::make_unique<WindowLane>(driver_);
  std::unique_ptr<WindowLane> lane = std::move(context.free_lanes.back());
  context.free_lanes.pop_back();
  return lane;
}

uint32_t DeviceExecutor::workers_for(const CodeStore::Loaded& code, uint64_t pool_bytes) const {
  return config_.workers != 0 ? config_.workers : resident_workers(driver_, code, pool_bytes);
}

// is_crowded() is whether some launch has more tasks than there are workers of that module, or more
// blocks as long as there is no plan. Where it has not, more workers would have nothing to do.
bool DeviceExecutor::is_crowded(const Window& window, const CodeStore::Loaded& code) const {
  const uint64_t workers = workers_for(code, pool_bytes_of(window));
  const auto& planned = window.plan.launches;
  if (!planned.empty()) {
    return std::ranges::any_of(
        planned, [&](const schedule::LaunchTasks& tasks) { return task_count(tasks) > workers; });
  }
  return std::ranges::any_of(window.code, [&](const LaunchCode& launch) {
    const uint32_t* grid = launch.launch->grid;
    return uint64_t{grid[0]} * grid[1] * grid[2] * launch.device->beside.threads >
           workers * code.threads;
  });
}

// Brings the window to the device and launches it.
CUresult DeviceExecutor::launch(Running& running) {
  const Window& window = *running.window;
  const CodeStore::Loaded& code = *running.code;
  const uint32_t number = ++windows_;
  const WindowLane::Options options{
      .stress = config_.stress == 0 ? 0 : std::max(1U, config_.stress + number),
      .most_polls = config_.most_polls,
      .workers = workers_of(driver_, code, window),
      .renumbered = code.renumbered};
  WindowLane::Loaded loaded;
  const CUresult result = running.lane->load(window, options, running.stream, loaded);
  if (result != CUDA_SUCCESS) return result;
  const uint32_t workers = std::min(workers_for(code, loaded.pool_bytes), window.plan.flag_count);
  set_workers(loaded.window, workers);
  void* parameters[] = {&loaded.window};
  const CUresult launched = driver_.cuLaunchKernel(code.function, workers, 1, 1, code.threads, 1, 1,
                                                   static_cast<unsigned>(loaded.pool_bytes),
                                                   running.stream, parameters, nullptr);
  if (launched == CUDA_SUCCESS) {
    running.has_times = running.lane->fetch_times(loaded, running.stream) == CUDA_SUCCESS;
  }
  return launched;
}

int DeviceExecutor::submit(const StreamKey& stream, std::shared_ptr<const Window> window,
                           std::function<void(int)> done) {
  if (is_off_) return CUDA_ERROR_LAUNCH_FAILED;
  const RelaxedCapture relaxed(driver_);
  Running running = running_in(stream, std::move(done));
  CodeStore& store = running.context->store;
  running.code = store.code();
  if (is_crowded(*window, *running.code)) running.code = store.crowded_code(bodies_of(*window));
  running.window = std::move(window);
  const CUresult result = launch(running);
  const bool is_event_there = running.lane->ended() != nullptr;
  running.has_event = is_event_there &&
                      driver_.cuEventRecord(running.lane->ended(), running.stream) == CUDA_SUCCESS;
  if (result != CUDA_SUCCESS) {
    // What it had queued may still use the lane, which serves again once that has ended.
    running.lane->forget_signals();
    running.done = nullptr;
  }
  keep_following(std::move(running));
  return result;
}

int DeviceExecutor::when_done(const StreamKey& stream, std::function<void(int)> done) {
  const RelaxedCapture relaxed(driver_);
  Running running = running_in(stream, std::move(done));
  CUresult result = running.lane->make_event_and_report();
  if (result == CUDA_SUCCESS) result = driver_.cuEventRecord(running.lane->ended(), running.stream);
  if (result != CUDA_SUCCESS) {
    const std::lock_guard lock(mutex_);
    running.context->free_lanes.push_back(std::move(running.lane));
    return result;
  }
  running.has_event = true;
  keep_following(std::move(running));
  return CUDA_SUCCESS;
}

DeviceExecutor::Running DeviceExecutor::running_in(const StreamKey& stream,
                                                   std::function<void(int)> done) {
  Context& context = context_of(stream.context);
  return {.context = &context,
          .lane = take_lane(context),
          .stream = static_cast<CUstream>(stream.handle),
          .done = std::move(done)};
}

WindowBackend::Costs DeviceExecutor::costs() {
  CUdevice device = 0;
  driver_.cuCtxGetDevice(&device);
  const auto [known, is_new] = costs_.try_emplace(device);
  if (!is_new) return known->second;
  std::array<char, 256> name{};
  driver_.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device);
  const auto measured =
      config_.measured_costs != nullptr ? config_.measured_costs(name.data()) : std::nullopt;
  known->second = measured.value_or(Costs());
  log::info("{}: a plain launch takes {} ns and a window {} ns, {}", name.data(),
            known->second.plain_launch, known->second.window,
            measured ? "as gpu-day measured" : "as long as nothing was measured (scripts/gpu-day)");
  return known->second;
}

void DeviceExecutor::keep_following(Running running) {
  {
    const std::lock_guard lock(mutex_);
    ++running.context->running;
    running_.push_back(std::move(running));
    if (!follower_.joinable()) {
      const SignalsBlocked blocked;
      follower_ = std::thread([this] { follow(); });
    }
  }
  changed_.notify_all();
}

CUresult DeviceExecutor::wait_for(const Running& running) {
  const RelaxedCapture relaxed(driver_);
  driver_.cuCtxSetCurrent(running.context->handle);
  const CUresult result = running.has_event ? driver_.cuEventSynchronize(running.lane->ended())
                                            : driver_.cuStreamSynchronize(running.stream);
  const std::optional<std::string> vain = running.lane->waited_in_vain();
  if (!vain) return result;
  is_off_ = true;
  log::error("the megakernel ended with an error: {}; it is off in this process now", *vain);
  return result == CUDA_SUCCESS ? CUDA_ERROR_LAUNCH_FAILED : result;
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
    const CUresult result = wait_for(ended);
    if (result == CUDA_SUCCESS && ended.has_times) ended.lane->note_times(*ended.window);
    ended.code = nullptr;  // as long as there is its context
    lock.lock();
    auto& lanes = result == CUDA_SUCCESS ? ended.context->free_lanes : ended.context->lost_lanes;
    lanes.push_back(std::move(ended.lane));
    --ended.context->running;
    changed_.notify_all();
    lock.unlock();
    if (ended.done != nullptr) ended.done(result);
    ended = {};
    lock.lock();
  }
}

}  // namespace sluice::megakernel
