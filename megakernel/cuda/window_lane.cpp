#include "megakernel/cuda/window_lane.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "megakernel/cuda/tables/window_tables.h"

namespace sluice::megakernel {
namespace {

// Nanoseconds. A GPU's clock may go on by a microsecond at once: shorter sums say nothing.
constexpr uint64_t least_measured = 32'000;

// What is outgrown is kept, twice as much at most: to free it the driver may wait for the device,
// and that for the thread that launches this window.
size_t grown(size_t bytes) {
  constexpr size_t least = 4096;
  return std::max(least, bytes + bytes / 2);
}

}  // namespace

CUresult WindowLane::make_event_and_report() {
  CUresult result = CUDA_SUCCESS;
  if (ended_ == nullptr) {
    result = driver_.cuEventCreate(&ended_, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
  }
  if (result != CUDA_SUCCESS || report_.host != nullptr) return result;
  result = driver_.cuMemHostAlloc(&report_.host, sizeof(SluiceReport), CU_MEMHOSTALLOC_DEVICEMAP);
  if (result != CUDA_SUCCESS) return result;
  report_.bytes = sizeof(SluiceReport);
  std::memset(report_.host, 0, report_.bytes);
  return CUDA_SUCCESS;
}

CUresult WindowLane::reserve(DeviceMemory& memory, size_t bytes, bool& fresh) {
  fresh = bytes > memory.bytes;
  if (!fresh) return CUDA_SUCCESS;
  if (memory.address != 0) outgrown_.push_back(std::exchange(memory.address, 0));
  memory.bytes = 0;
  const CUresult result = driver_.cuMemAlloc_v2(&memory.address, grown(bytes));
  if (result == CUDA_SUCCESS) memory.bytes = grown(bytes);
  return result;
}

CUresult WindowLane::reserve_signals(DeviceMemory& memory, uint32_t count, CUstream stream,
                                     bool& cleared) {
  CUresult result = reserve(memory, size_t{8} * count, cleared);
  cleared |= !knows_signals_;
  if (result == CUDA_SUCCESS && cleared && memory.address != 0) {
    result = driver_.cuMemsetD8Async(memory.address, 0, memory.bytes, stream);
  }
  return result;
}

CUresult WindowLane::reserve_pinned(PinnedMemory& memory, size_t bytes) {
  if (bytes <= memory.bytes) return CUDA_SUCCESS;
  if (memory.host != nullptr) outgrown_pinned_.push_back(std::exchange(memory.host, nullptr));
  memory.bytes = 0;
  const CUresult result = driver_.cuMemHostAlloc(&memory.host, grown(bytes), 0);
  if (result == CUDA_SUCCESS) memory.bytes = grown(bytes);
  return result;
}

CUresult WindowLane::copy(DeviceTables& tables, CUstream stream) {
  const size_t bytes = tables.bytes.size();
  bool fresh = false;
  CUresult result = reserve(tables_, bytes, fresh);
  if (result == CUDA_SUCCESS) result = reserve_pinned(staging_, bytes);
  if (result != CUDA_SUCCESS) return result;
  tables.place(tables_.address, flags_.address, counters_.address);
  std::memcpy(staging_.host, tables.bytes.data(), bytes);
  return driver_.cuMemcpyHtoDAsync_v2(tables_.address, staging_.host, bytes, stream);
}

CUresult WindowLane::load(const Window& window, const Options& options, CUstream stream,
                          Loaded& loaded) {
  CUresult result = make_event_and_report();
  if (result != CUDA_SUCCESS) return result;
  std::memset(report_.host, 0, report_.bytes);
  CUdeviceptr report = 0;
  result = driver_.cuMemHostGetDevicePointer_v2(&report, report_.host, 0);
  if (result != CUDA_SUCCESS) return result;

  DeviceTables tables =
      make_device_tables(window, signals_, options.workers, options.stress, options.renumbered);
  bool cleared = false;
  result = reserve_signals(flags_, tables.flag_count, stream, cleared);
  if (result == CUDA_SUCCESS) {
    result = reserve_signals(counters_, tables.counter_count, stream, cleared);
  }
  if (result != CUDA_SUCCESS) return result;
  knows_signals_ = true;
  if (cleared) {
    // The counters hold nothing, so the targets are others.
    signals_.counted.clear();
    tables =
        make_device_tables(window, signals_, options.workers, options.stress, options.renumbered);
  }
  tables.set_bound(options.most_polls, report);
  result = copy(tables, stream);
  loaded = {.window = tables.window,
            .pool_bytes = tables.pool_bytes,
            .launches = window.plan.launches.size()};
  return result;
}

CUresult WindowLane::fetch_times(const Loaded& loaded, CUstream stream) {
  const size_t bytes = loaded.launches * sizeof(SluiceTime);
  const CUresult result = reserve_pinned(times_, bytes);
  if (result != CUDA_SUCCESS) return result;
  return driver_.cuMemcpyDtoHAsync_v2(times_.host, loaded.window.tables + loaded.window.times,
                                      bytes, stream);
}

void WindowLane::note_times(const Window& window) const {
  std::map<schedule::BlockCost*, SluiceTime> sums;
  const auto* times = static_cast<const SluiceTime*>(times_.host);
  for (size_t i = 0; i < window.code.size(); ++i) {
    SluiceTime& sum = sums[window.code[i].cost];
    sum.nanoseconds += times[i].nanoseconds;
    sum.blocks += times[i].blocks;
  }
  for (const auto& [cost, sum] : sums) {
    if (cost == nullptr || sum.blocks == 0 || sum.nanoseconds < least_measured) continue;
    const uint64_t blocks = std::min<uint64_t>(sum.blocks, UINT32_MAX);
    cost->note(std::chrono::nanoseconds(sum.nanoseconds), static_cast<uint32_t>(blocks));
  }
}

void WindowLane::forget_signals() {
  knows_signals_ = false;
}

std::optional<std::string> WindowLane::waited_in_vain() const {
  if (report_.host == nullptr) return std::nullopt;
  SluiceReport report = {};
  std::memcpy(&report, report_.host, sizeof report);
  if (report.waited_in_vain == 0) return std::nullopt;
  return fmt::format("ticket {} waited in vain for {} {} to hold {}: it held {}", report.ticket,
                     report.is_counter != 0 ? "counter" : "flag", report.number, report.expected,
                     report.found);
}

void WindowLane::free() {
  for (DeviceMemory* memory : {&tables_, &flags_, &counters_}) {
    if (memory->address != 0) driver_.cuMemFree_v2(std::exchange(memory->address, 0));
  }
  for (PinnedMemory* memory : {&staging_, &report_, &times_}) {
    if (memory->host != nullptr) driver_.cuMemFreeHost(std::exchange(memory->host, nullptr));
  }
  for (const CUdeviceptr address : std::exchange(outgrown_, {}))
    driver_.cuMemFree_v2(address);
  for (void* const host : std::exchange(outgrown_pinned_, {}))
    driver_.cuMemFreeHost(host);
  if (ended_ != nullptr) driver_.cuEventDestroy_v2(std::exchange(ended_, nullptr));
}

}  // namespace sluice::megakernel
