// cuInit and the look-up of driver functions by name, which cudart uses for everything.
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/log.hpp"
#include "interpose/shim.hpp"
#include "interpose/symbols/enter.hpp"
#include "interpose/wrappers/wrappers.hpp"

namespace sluice::interpose {
namespace {

// The driver's address of each function → the slots with that address: a driver may give several
// forms of one name the same code.
using SlotsByAddress = std::unordered_map<void*, std::vector<size_t>>;

// Of the driver that there is now: until cuInit it may be another one than later.
const SlotsByAddress& slots_by_address() {
  static std::mutex mutex;
  static auto* const by_driver = new std::map<const void*, SlotsByAddress>();
  const Shim& shim = Shim::get();
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = by_driver->try_emplace(shim.library());
  for (size_t i = 0; is_new && i < driver_function_count(); ++i) {
    if (void* real = shim.real(driver_function_name(i))) found->second[real].push_back(i);
  }
  return found->second;
}

bool per_thread(std::string_view symbol) {
  return symbol.ends_with("_ptsz") || symbol.ends_with("_ptds");
}

// tell_of() says once for each name that a form of it goes by the shim.
void tell_of(const char* name) {
  static std::mutex mutex;
  static auto* const told = new std::set<std::string>();
  const std::lock_guard lock(mutex);
  if (told->insert(name).second) {
    log::warning("{}: the driver returned a form that its library does not export; not intercepted",
                 name);
  }
}

// exported_for() maps what the driver returned for `name` to the shim's own export, of that
// function or, where the driver has one that nobody here has heard of, one without a name.
void* exported_for(const char* name, void* address, cuuint64_t flags) {
  const SlotsByAddress& slots = slots_by_address();
  const auto found = slots.find(address);
  if (found == slots.end()) {
    if (void* const spare = spare_export(name, address)) return spare;
    tell_of(name);
    return address;
  }
  const bool wants_per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  for (const size_t slot : found->second) {
    const std::string_view symbol = driver_function_name(slot);
    if (base_name(symbol) == name && per_thread(symbol) == wants_per_thread) {
      return front().exports[slot];
    }
  }
  return front().exports[found->second.front()];
}

CUresult note_address(CUresult result, const char* symbol, void** function, cuuint64_t flags) {
  if (result == CUDA_SUCCESS && function != nullptr && *function != nullptr)
    *function = exported_for(symbol, *function, flags);
  return result;
}

}  // namespace
}  // namespace sluice::interpose

using namespace sluice::interpose;

extern "C" CUresult sluice_wrap_cuInit(unsigned int flags) {
  const KeepErrno keep;
  Shim& shim = Shim::get();
  const CUresult result = shim.initialise(flags);
  if (result == CUDA_SUCCESS) shim.start_runtime();
  return result;
}

SLUICE_NOTED(cuGetProcAddress, (const char* symbol, void** function, int version, cuuint64_t flags),
             (symbol, function, version, flags), note_address, symbol, function, flags)
SLUICE_NOTED(cuGetProcAddress_v2,
             (const char* symbol, void** function, int version, cuuint64_t flags,
              CUdriverProcAddressQueryResult* status),
             (symbol, function, version, flags, status), note_address, symbol, function, flags)
