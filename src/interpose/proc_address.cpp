// cuInit and the look-up of driver functions by name, which cudart uses for everything.
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/log.hpp"
#include "interpose/enter.hpp"
#include "interpose/shim.hpp"
#include "interpose/wrappers.hpp"

namespace sluice::interpose {
namespace {

// The driver's address of each function → the slots with that address: a driver may give several
// forms of one name the same code.
using SlotsByAddress = std::unordered_map<void*, std::vector<size_t>>;

const SlotsByAddress& slots_by_address() {
  static const SlotsByAddress* const slots = [] {
    auto* made = new SlotsByAddress();
    for (size_t i = 0; i < driver_function_count(); ++i) {
      if (void* real = Shim::get().real(driver_function_name(i))) (*made)[real].push_back(i);
    }
    return made;
  }();
  return *slots;
}

bool per_thread(std::string_view symbol) {
  return symbol.ends_with("_ptsz") || symbol.ends_with("_ptds");
}

// exported_for() maps what the driver returned for `name` to the shim's own export.
void* exported_for(const char* name, void* address, cuuint64_t flags) {
  const auto found = slots_by_address().find(address);
  if (found == slots_by_address().end()) {
    log::info("{}: the driver returned a form that its library does not export; not intercepted",
              name);
    return address;
  }
  const bool wants_per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  for (const size_t slot : found->second) {
    const std::string_view symbol = driver_function_name(slot);
    if (base_name(symbol) == name && per_thread(symbol) == wants_per_thread) {
      return sluice_interpose_exports[slot];
    }
  }
  return sluice_interpose_exports[found->second.front()];
}

}  // namespace
}  // namespace sluice::interpose

using namespace sluice::interpose;

extern "C" CUresult sluice_wrap_cuInit(unsigned int flags) {
  const ErrnoGuard guard;
  Shim& shim = Shim::get();
  const CUresult result = shim.calls().cuInit(flags);
  if (result == CUDA_SUCCESS) shim.start_runtime();
  return result;
}

extern "C" CUresult sluice_wrap_cuGetProcAddress_v2(const char* symbol, void** function,
                                                    int version, cuuint64_t flags,
                                                    CUdriverProcAddressQueryResult* status) {
  const ErrnoGuard guard;
  const CUresult result =
      Shim::get().calls().cuGetProcAddress_v2(symbol, function, version, flags, status);
  if (result == CUDA_SUCCESS && function != nullptr && *function != nullptr) {
    *function = exported_for(symbol, *function, flags);
  }
  return result;
}

extern "C" CUresult sluice_wrap_cuGetProcAddress(const char* symbol, void** function, int version,
                                                 cuuint64_t flags) {
  const ErrnoGuard guard;
  const CUresult result = Shim::get().calls().cuGetProcAddress(symbol, function, version, flags);
  if (result == CUDA_SUCCESS && function != nullptr && *function != nullptr) {
    *function = exported_for(symbol, *function, flags);
  }
  return result;
}
