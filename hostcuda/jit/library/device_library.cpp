#include "hostcuda/jit/library/device_library.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <unordered_set>

#include "base/log.hpp"
#include "base/thread/give_way.hpp"
#include "hostcuda/jit/library/device_printf.hpp"
#include "hostcuda/jit/library/fault_guard.hpp"
#include "hostcuda/jit/library/frames.hpp"
#include "hostcuda/jit/library/memory_barrier.hpp"
#include "hostcuda/jit/texture/texture_calls.hpp"
#include "ptx/mbarrier_call.hpp"
#include "ptx/texture_call.hpp"

namespace sluice::hostcuda::jit {
namespace {

// CUDA's device heap starts with 8 MiB and grows only by cudaDeviceSetLimit; the CPU device's is
// bounded by the machine's memory. It is leaked on purpose, as all state of the driver.
struct DeviceHeap {
  std::mutex mutex;
  std::unordered_set<void*> blocks;
};

DeviceHeap& heap() {
  static auto* the_heap = new DeviceHeap;
  return *the_heap;
}

extern "C" int32_t sluice_device_vprintf(const char* format, const std::byte* arguments) {
  if (format == nullptr) return -1;
  int count = 0;
  append_device_output(format_device_text(format, arguments, &count));
  return count;
}

extern "C" void sluice_device_assertfail(const char* message, const char* file, uint32_t line,
                                         const char* function, uint64_t) {
  const auto text = [](const char* string) { return string != nullptr ? string : "?"; };
  log::error("{}:{}: {}: assertion `{}` failed on the device", text(file), line, text(function),
             text(message));
}

extern "C" void* sluice_device_malloc(uint64_t bytes) {
  if (bytes == 0) return nullptr;
  // Rounded up without a wrap: nobody has that much memory.
  if (bytes > UINT64_MAX / 2) return nullptr;
  void* block = std::aligned_alloc(16, (bytes + 15) / 16 * 16);
  if (block == nullptr) return nullptr;
  DeviceHeap& the_heap = heap();
  const std::lock_guard lock(the_heap.mutex);
  the_heap.blocks.insert(block);
  return block;
}

extern "C" void sluice_device_free(void* block) {
  if (block == nullptr) return;
  DeviceHeap& the_heap = heap();
  {
    const std::lock_guard lock(the_heap.mutex);
    if (the_heap.blocks.erase(block) == 0) {
      log::error("a kernel freed {}, which no kernel has allocated; it is left alone", block);
      return;
    }
  }
  std::free(block);
}

extern "C" uint64_t sluice_device_nanoseconds() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

extern "C" void sluice_device_yield() {
  // Whom the thread waits for may have been ended.
  end_if_faulted();
  give_way();
}

// cudaGraphSetConditional: the handle is the address of the value (driver/graph/conditional.hpp).
extern "C" void sluice_device_set_conditional(uint64_t handle, uint32_t value) {
  std::atomic_ref(*reinterpret_cast<uint32_t*>(handle)).store(value);
}

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

const std::vector<DeviceFunction>& device_functions() {
  static const auto* functions = new std::vector<DeviceFunction>{
      {"vprintf", "sluice_device_vprintf", address_of(&sluice_device_vprintf), false, "488"},
      {"__assertfail", "sluice_device_assertfail", address_of(&sluice_device_assertfail), true,
       "088488"},
      {"malloc", "sluice_device_malloc", address_of(&sluice_device_malloc), false, "88"},
      {"free", "sluice_device_free", address_of(&sluice_device_free), false, "08"},
      {"cudaGraphSetConditional", "sluice_device_set_conditional",
       address_of(&sluice_device_set_conditional), false, "084"},
      {"%globaltimer", "sluice_device_nanoseconds", address_of(&sluice_device_nanoseconds), false,
       "8"},
      // '@' is 16 bytes.
      {ptx::texture_call::fetch, "sluice_texture_fetch", address_of(&sluice_texture_fetch), false,
       "@844444"},
      {ptx::texture_call::fetch_level, "sluice_texture_fetch_level",
       address_of(&sluice_texture_fetch_level), false, "@8444444"},
      {ptx::texture_call::level, "sluice_texture_level", address_of(&sluice_texture_level), false,
       "48444444"},
      {ptx::texture_call::load, "sluice_surface_load", address_of(&sluice_surface_load), false,
       "@844444"},
      {ptx::texture_call::store, "sluice_surface_store", address_of(&sluice_surface_store), false,
       "084444488"},
      {ptx::texture_call::query, "sluice_texture_query", address_of(&sluice_texture_query), false,
       "484"},
      {ptx::mbarrier_call::init, "sluice_mbarrier_init", address_of(&sluice_mbarrier_init), false,
       "084"},
      {ptx::mbarrier_call::arrive, "sluice_mbarrier_arrive", address_of(&sluice_mbarrier_arrive),
       false, "8844"},
      {ptx::mbarrier_call::test, "sluice_mbarrier_test", address_of(&sluice_mbarrier_test), false,
       "488"},
      {ptx::mbarrier_call::test_parity, "sluice_mbarrier_test_parity",
       address_of(&sluice_mbarrier_test_parity), false, "484"},
      {frame_new_name, "sluice_device_frame_new", address_of(&sluice_device_frame_new), false,
       "8888"},
      {frame_free_name, "sluice_device_frame_free", address_of(&sluice_device_frame_free), false,
       "88"},
      {frame_free_all_name, "sluice_device_frame_free_all",
       address_of(&sluice_device_frame_free_all), false, "08"},
      {"nanosleep", "sluice_device_yield", address_of(&sluice_device_yield), false, "0"},
  };
  return *functions;
}

const DeviceFunction* find_device_function(std::string_view name) {
  for (const DeviceFunction& function : device_functions()) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

}  // namespace sluice::hostcuda::jit
