// Where the exported symbols lead: the C++ side of the jump table.
#include "interpose/symbols/enter.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/log.hpp"
#include "interpose/run_time_code/remembered_code.hpp"
#include "interpose/shim.hpp"
#include "interpose/wrappers/wrappers.hpp"

namespace sluice::interpose {
namespace {

std::atomic<const Front*> known_front{nullptr};

// The dynamic linker's lock orders what a thread does to open this library before all who open it
// again; a store in the one, under that lock, and a load in the others say so in C++ as well.
std::atomic<bool> is_open{false};
__attribute__((constructor)) void note_open() {
  is_open.store(true, std::memory_order_release);
}

constexpr const char* function_names[] = {
#define SLUICE_DRIVER_FUNCTION(name) name,
#include "driver_functions.inc"
#undef SLUICE_DRIVER_FUNCTION
};

CUresult no_driver() {
  return CUDA_ERROR_NO_DEVICE;
}
CUresult not_in_driver() {
  return CUDA_ERROR_NOT_SUPPORTED;
}

// OnOwnStream is a wrapper as the _ptsz form of its function.
template <auto wrapper>
struct OnOwnStream;
template <class... Taken, CUresult (*wrapper)(Taken...)>
struct OnOwnStream<wrapper> {
  static CUstream own(CUstream stream) { return per_thread(stream); }
  template <class Other>
  static Other own(Other other) {
    return other;
  }
  static CUresult call(Taken... given) { return wrapper(own(given)...); }
};

void* wrapper_of(std::string_view symbol) {
#define SLUICE_WRAPPED(name) \
  if (symbol == #name) return reinterpret_cast<void*>(&sluice_wrap_##name);
#define SLUICE_WRAPPED_STREAM(name)                                         \
  if (symbol == #name) return reinterpret_cast<void*>(&sluice_wrap_##name); \
  if (symbol == #name "_ptsz")                                              \
    return reinterpret_cast<void*>(&OnOwnStream<sluice_wrap_##name>::call);
#include "interpose/symbols/wrapped.def"
  return nullptr;
}

bool harmless(std::string_view symbol) {
  static const auto* const names = new std::unordered_set<std::string_view>{
#define SLUICE_HARMLESS(name) #name,
#include "interpose/symbols/harmless.def"
#undef SLUICE_HARMLESS
  };
  return names->contains(base_name(symbol));
}

// waits_for_the_device() is true of functions without a wrapper that may order work in a way that
// is not modelled. Under a check for races they count as ordering everything, so that no race is
// reported that is none.
bool waits_for_the_device(std::string_view symbol) {
  const std::string_view name = base_name(symbol);
  if (name.ends_with("Async")) return false;
  for (const std::string_view start :
       {"cuMemcpy", "cuMemset", "cuCtx", "cuDevicePrimaryCtx", "cuMemFree", "cuModuleUnload",
        "cuSignalExternal", "cuWaitExternal", "cuMemUnmap"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

// writes_nothing() is true of functions without a wrapper that are known to write no memory of the
// device that is there already, or by way of a wrapped one.
bool writes_nothing(std::string_view symbol) {
  const std::string_view name = base_name(symbol);
  for (const std::string_view start :
       {"cuInit",          "cuCtx",       "cuDevice",      "cuModule",      "cuLibrary",
        "cuFunc",          "cuKernel",    "cuLink",        "cuOccupancy",   "cuStream",
        "cuEvent",         "cuGraph",     "cuThread",      "cuUserObject",  "cuPointer",
        "cuProfiler",      "cuMemAlloc",  "cuMemFree",     "cuMemHost",     "cuMemGet",
        "cuMemPool",       "cuMemAdvise", "cuMemPrefetch", "cuMemRangeGet", "cuTexObject",
        "cuGetProcAddress"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

void leave_to_driver(std::string_view symbol) {
  flushed_runtime();
  streams_may_end();
  if (races() != nullptr && !writes_nothing(symbol)) sluice::runtime::tell_unknown_call(*races());
  if (waits_for_the_device(symbol)) tell_races(&sluice::runtime::StreamClocks::device_done);
}

}  // namespace

std::string_view base_name(std::string_view symbol) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (symbol.ends_with(suffix)) symbol.remove_suffix(suffix.size());
  }
  const size_t version = symbol.rfind("_v");
  if (version != std::string_view::npos && version + 2 < symbol.size() &&
      symbol.find_first_not_of("0123456789", version + 2) == std::string_view::npos) {
    symbol = symbol.substr(0, version);
  }
  return symbol;
}

size_t driver_function_count() {
  return std::size(function_names);
}
const char* driver_function_name(size_t index) {
  return function_names[index];
}

const Front& front() {
  return *known_front.load(std::memory_order_acquire);
}

namespace {

// Spare is a function of the driver in a slot without a name.
struct Spare {
  std::string name;
  std::atomic<bool> is_told{false};
  std::atomic<void*> function{nullptr};
};
struct Spares {
  std::mutex mutex;  // of who takes one
  std::vector<Spare> all{front().spare};
};
Spares& spares() {
  static auto* const all = new Spares();
  return *all;
}

// What no header declares may give the device work, or show what launches do.
void* enter_spare(Spare& spare) {
  if (!spare.is_told.exchange(true)) {
    log::warning(
        "{}: not known to this version of Sluice: each call closes the windows, and what it does "
        "with memory or launches is not seen",
        spare.name);
  }
  leave_to_driver(spare.name);
  return spare.function.load(std::memory_order_acquire);
}

}  // namespace

void* spare_export(const char* name, void* function) {
  const std::lock_guard lock(spares().mutex);
  for (size_t i = 0; i < spares().all.size(); ++i) {
    Spare& spare = spares().all[i];
    if (spare.function == nullptr) {
      spare.name = name;
      spare.function.store(function, std::memory_order_release);
    }
    if (spare.function == function) return front().exports[driver_function_count() + i];
  }
  return nullptr;
}

namespace {

// enter() is Engine::enter(): a slot that needs no work at later calls is pointed there, so that
// they cost one jump.
void* enter(size_t index) {
  const KeepErrno keep;
  if (index >= std::size(function_names))
    return enter_spare(spares().all[index - std::size(function_names)]);
  // Functions that close the windows come here at every call: they are looked up once.
  static std::atomic<void*> observing[std::size(function_names)];
  if (void* known = observing[index].load(std::memory_order_relaxed)) {
    leave_to_driver(function_names[index]);
    return known;
  }
  const char* symbol = function_names[index];
  const Shim& shim = Shim::get();
  if (!shim.driver_ready()) return reinterpret_cast<void*>(&no_driver);
  const bool lasts = shim.is_decided();  // asked first: what is read then is the driver for good
  void* real = shim.real(symbol);
  if (void* wrapper = wrapper_of(symbol); wrapper != nullptr && real != nullptr) {
    if (lasts) front().slots[index].store(wrapper, std::memory_order_relaxed);
    return wrapper;
  }
  if (real == nullptr) {
    log::warning(
        "{}: the driver has no such function; the call returns "
        "CUDA_ERROR_NOT_SUPPORTED",
        symbol);
    return reinterpret_cast<void*>(&not_in_driver);
  }
  if (harmless(symbol)) {
    if (lasts) front().slots[index].store(real, std::memory_order_relaxed);
    return real;
  }
  if (lasts) observing[index].store(real, std::memory_order_relaxed);
  leave_to_driver(symbol);
  return real;
}

constexpr Engine engine = {enter, remember_code};

}  // namespace
}  // namespace sluice::interpose

const sluice::interpose::Engine* sluice_engine(const sluice::interpose::Front* front) {
  using namespace sluice::interpose;
  static_cast<void>(is_open.load(std::memory_order_acquire));
  if (front->count != driver_function_count()) return nullptr;
  known_front.store(front, std::memory_order_release);
  return &engine;
}
