// Initialisation, versions, errors and look-up of entry points.
#include "hostcuda/driver/api/entry.hpp"

#include <cstring>
#include <string_view>
#include <utility>

#include "hostcuda/block_abi.h"
#include "hostcuda/driver/api/event_promise.hpp"
#include "hostcuda/driver/api/graph/graph_steps.hpp"
#include "hostcuda/driver/api/host_function.hpp"
#include "hostcuda/driver/api/window_order.hpp"
#include "hostcuda/driver/code/borrowed_code.hpp"
#include "hostcuda/driver/device/error_names.hpp"
#include "hostcuda/driver/error_watch/error_watch.hpp"
#include "hostcuda/driver/host_watch/host_watch.hpp"
#include "hostcuda/driver/launch_watch/watched_launch.hpp"
#include "hostcuda/driver/memory_watch/memory_watch.hpp"
#include "hostcuda/driver/operations/launch.hpp"
#include "hostcuda/driver/stream/operation.hpp"
#include "hostcuda/driver/thread_watch/thread_watch.hpp"

using namespace sluice::hostcuda;

extern "C" {
#define SLUICE_PER_THREAD(symbol, form) decltype(symbol) form;
#include "hostcuda/driver/api/per_thread.def"
#undef SLUICE_PER_THREAD
// Declared in cudaProfiler.h, which not every toolkit brings.
CUresult cuProfilerStart();
CUresult cuProfilerStop();
}

namespace {

// Export is one row of exports.def.
struct Export {
  std::string_view name;  // without its version suffix
  int version;            // of CUDA, from which on this function is what the name means
  void* function;
};

constexpr auto address_of = [](auto* function) { return reinterpret_cast<void*>(function); };

const Export exports[] = {
#define SLUICE_EXPORT(name, version, symbol) {#name, version, address_of(&symbol)},
#include "hostcuda/driver/api/exports.def"
#undef SLUICE_EXPORT
};

// per_thread_form() is the form of a function for programs with a default stream per thread, the
// function itself where there is none.
void* per_thread_form(void* function) {
  static const std::pair<void*, void*> forms[] = {
#define SLUICE_PER_THREAD(symbol, form) {address_of(&symbol), address_of(&form)},
#include "hostcuda/driver/api/per_thread.def"
#undef SLUICE_PER_THREAD
  };
  for (const auto& [symbol, form] : forms) {
    if (symbol == function) return form;
  }
  return function;
}

struct Found {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

// find_export() picks the newest form of the name that a program of that version knows.
Found find_export(std::string_view name, int version) {
  Found found;
  int newest = 0;
  for (const Export& row : exports) {
    if (row.name != name) continue;
    if (row.version > version) {
      if (newest == 0) found.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    } else if (row.version > newest) {
      newest = row.version;
      found = {row.function, CU_GET_PROC_ADDRESS_SUCCESS};
    }
  }
  return found;
}

bool is_valid_query(const char* symbol, void** function, int version, cuuint64_t flags) {
  constexpr cuuint64_t known =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  return symbol != nullptr && *symbol != '\0' && function != nullptr && version <= cuda_version &&
         (flags & ~known) == 0 && (flags & known) != known;
}

int find_block_code(void* function, const uint32_t block[3], uint32_t dynamic_shared_bytes,
                    CodeVariant variant, SluiceBlockCode* code) {
  return with_driver([&](Driver& driver) -> CUresult {
    const std::shared_ptr<Kernel> kernel = driver.kernels.find(static_cast<CUfunction>(function));
    if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (block == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const sluice::Dim3 size{block[0], block[1], block[2]};
    const CUresult result = check_block(*kernel, size, dynamic_shared_bytes);
    if (result != CUDA_SUCCESS) return result;
    // Launches watch their blocks; who runs these by himself does not.
    if (WatchedLaunch::is_wanted()) return CUDA_ERROR_NOT_SUPPORTED;
    note_borrowed(kernel);
    return kernel->block_code(size, dynamic_shared_bytes, code, variant);
  });
}

int get_block_code(void* function, const uint32_t block[3], uint32_t dynamic_shared_bytes,
                   SluiceBlockCode* code) {
  return find_block_code(function, block, dynamic_shared_bytes, CodeVariant::plain, code);
}

int get_traced_block_code(void* function, const uint32_t block[3], uint32_t dynamic_shared_bytes,
                          SluiceBlockCode* code) {
  return find_block_code(function, block, dynamic_shared_bytes, CodeVariant::traced, code);
}

int run_in_order(void* handle, CUhostFn function, void* data) {
  return submit_function<BlocksOperation>(static_cast<CUstream>(handle), function, data);
}

void never_wait_for_room(int never) {
  Engine::never_wait_for_room(never != 0);
}

void hold_functions(int hold) {
  Driver* driver = Driver::get();
  if (driver == nullptr) return;
  if (hold != 0) {
    driver->engine.functions().begin();
  } else {
    driver->engine.functions().end();
  }
}

int begin_to_watch_threads(SluiceThreadTold told, void* data) {
  return with_driver([&](Driver& driver) -> CUresult {
    return ThreadWatch::watch(driver.memory, told, data) ? CUDA_SUCCESS : CUDA_ERROR_NOT_PERMITTED;
  });
}

int begin_to_watch_memory(SluiceMemoryTold told, void* data) {
  return with_driver([&](Driver& driver) -> CUresult {
    return MemoryWatch::watch(driver.memory, told, data) ? CUDA_SUCCESS : CUDA_ERROR_NOT_PERMITTED;
  });
}

void tell_leaks() {
  if (MemoryWatch* watch = MemoryWatch::get()) watch->tell_leaks();
}

int begin_to_watch_errors() {
  return with_driver([&](Driver&) -> CUresult {
    return ErrorWatch::watch() ? CUDA_SUCCESS : CUDA_ERROR_NOT_PERMITTED;
  });
}

// with_errors() calls a member of the watch, if there is one.
template <auto member, class... Arguments>
void with_errors(Arguments... arguments) {
  if (ErrorWatch* watch = ErrorWatch::get()) (watch->*member)(arguments...);
}

int begin_to_watch_host(SluiceHostTold told, void* data) {
  return with_driver([&](Driver& driver) -> CUresult {
    return watch_host(driver, told, data) ? CUDA_SUCCESS : CUDA_ERROR_NOT_PERMITTED;
  });
}

constexpr SluiceHostDeviceTable host_device_table = {
    .size = sizeof(SluiceHostDeviceTable),
    .get_block_code = get_block_code,
    .get_traced_block_code = get_traced_block_code,
    .set_access_sink = set_access_sink,
    .run_in_order = run_in_order,
    .never_wait_for_room = never_wait_for_room,
    .hold_functions = hold_functions,
    .promise_event = promise_event,
    .reach_event = reach_event,
    .graph_steps = graph_steps,
    .ends_by_itself = ends_by_itself,
    .make_line = make_line,
    .run_together = run_together,
    .is_busy = is_busy,
};
constexpr unsigned char host_device_table_uuid[16] = SLUICE_HOST_DEVICE_TABLE_UUID;

constexpr SluiceHostTouchTable host_touch_table = {
    .size = sizeof(SluiceHostTouchTable),
    .watch_host = begin_to_watch_host,
};
constexpr unsigned char host_touch_table_uuid[16] = SLUICE_HOST_TOUCH_TABLE_UUID;

constexpr SluiceThreadRaceTable thread_race_table = {
    .size = sizeof(SluiceThreadRaceTable),
    .watch_threads = begin_to_watch_threads,
};
constexpr unsigned char thread_race_table_uuid[16] = SLUICE_THREAD_RACE_TABLE_UUID;

constexpr SluiceMemoryFaultTable memory_fault_table = {
    .size = sizeof(SluiceMemoryFaultTable),
    .watch_memory = begin_to_watch_memory,
    .tell_leaks = tell_leaks,
};
constexpr unsigned char memory_fault_table_uuid[16] = SLUICE_MEMORY_FAULT_TABLE_UUID;

constexpr SluiceIgnoredErrorTable ignored_error_table = {
    .size = sizeof(SluiceIgnoredErrorTable),
    .watch_errors = begin_to_watch_errors,
    .failed = with_errors<&ErrorWatch::failed>,
    .asked = with_errors<&ErrorWatch::asked>,
    .asked_for_text = with_errors<&ErrorWatch::asked_for_text>,
    .tell_ignored = with_errors<&ErrorWatch::tell_ignored>,
};
constexpr unsigned char ignored_error_table_uuid[16] = SLUICE_IGNORED_ERROR_TABLE_UUID;

}  // namespace

CUresult cuInit(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return guarded([] { return Driver::initialise(); });
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = cuda_version;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = error_name(error);
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return guarded([&] {
    *text = error_text(error);
    return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (!is_valid_query(symbol, function, version, flags)) return CUDA_ERROR_INVALID_VALUE;
  const Found found = find_export(symbol, version);
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  *function = per_thread ? per_thread_form(found.function) : found.function;
  if (status != nullptr) *status = found.status;
  // A caller that asks for the status hears from it what is missing; one that doesn't, from the
  // result.
  return found.function != nullptr || status != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// The first form, of CUDA 11.3, has no status.
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (table == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto is = [id](const unsigned char(&uuid)[16]) {
    return std::memcmp(id->bytes, uuid, sizeof uuid) == 0;
  };
  const void* found = nullptr;
  if (is(host_device_table_uuid)) found = &host_device_table;
  if (is(host_touch_table_uuid)) found = &host_touch_table;
  if (is(thread_race_table_uuid)) found = &thread_race_table;
  if (is(memory_fault_table_uuid)) found = &memory_fault_table;
  if (is(ignored_error_table_uuid)) found = &ignored_error_table;
  *table = found;
  return *table != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
