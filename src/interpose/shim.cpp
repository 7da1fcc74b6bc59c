#include "interpose/shim.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "interpose/driver_search.hpp"
#include "interpose/environment.hpp"
#include "interpose/program_file.hpp"
#include "interpose/settings.hpp"
#include "interpose/shim_device.hpp"
#include "runtime/analysis_model.hpp"
#include "runtime/model_cache.hpp"

namespace sluice::interpose {
namespace {

std::atomic<runtime::Runtime*> current_runtime{nullptr};

// The status of a program that ended under SLUICE_CHECK_FOOTPRINTS with accesses outside its
// footprints, whatever its own would have been.
constexpr int exit_footprint_violation = 86;

std::string library_folder() {
  Dl_info info = {};
  dladdr(reinterpret_cast<const void*>(&library_folder), &info);
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

// race_exit_status() is what a program ends with in which races were found; 0: with its own.
int race_exit_status() {
  return std::atoi(environment("SLUICE_RACE_STATUS").c_str()) & 255;
}

void throw_assertion(const char* condition, const char* file, int line) {
  throw AssertionFailure{condition, file, line};
}

// How long a program that ends waits for launches that cannot begin, such as those behind a host
// function that never returns. Without Sluice it would not wait at all.
constexpr std::chrono::milliseconds patience_at_exit{500};

void finish_runtime() {
  const ErrnoGuard guard;
  runtime::Runtime* runtime = current_runtime.load();
  if (runtime == nullptr) return;
  runtime->finish(patience_at_exit);
  int status = 0;
  if (const uint64_t violations = runtime->footprint_violations(); violations > 0) {
    log::error("{} with the footprints: a kernel leaves its buffers, or the analysis is wrong",
               violations == 1 ? "1 access does not agree"
                               : fmt::format("{} accesses do not agree", violations));
    status = exit_footprint_violation;
  } else if (runtime->races() > 0) {
    status = race_exit_status();
  }
  if (status == 0) return;
  // A handler of atexit() cannot change the exit status in any other way.
  std::fflush(nullptr);
  _exit(status);
}

// A forked child has none of the threads that the runtime needs.
void leave_runtime_in_child() {
  current_runtime.store(nullptr);
}

runtime::ModelMaker model_maker(const Settings& settings) {
  runtime::ModelMaker maker = runtime::analysis_model_maker();
  if (settings.analysis_cache.empty()) return maker;
  return runtime::cached_model_maker(std::move(maker),
                                     std::make_shared<const CacheFolder>(settings.analysis_cache),
                                     build_identity());
}

}  // namespace

Shim& Shim::get() {
  static Shim* const shim = new Shim();
  return *shim;
}

Shim::Shim() {
  const ErrnoGuard guard;
  off_ = is_set("SLUICE_OFF");

  const Result<DeviceChoice> choice = device_choice(environment("SLUICE_DEVICE"));
  if (!choice) log::warning("SLUICE_DEVICE: {} (now: auto)", choice.error().line());
  const Result<FoundDriver> driver =
      find_driver(choice.value_or(DeviceChoice::automatic), library_folder());
  if (!driver) {
    log::error("{}", driver.error().line());
    return;
  }
  if (refuse_static_runtime(driver->is_cpu_device)) return;
  library_ = open_driver(driver->path);
  if (library_ == nullptr) {
    log::error("the driver cannot be opened: {}", dlerror());
    return;
  }
  log::info("driver {}{}", driver->path, off_ ? ", Sluice off" : "");
#define SLUICE_WRAPPED(symbol) \
  calls_.symbol = reinterpret_cast<decltype(calls_.symbol)>(real(#symbol));
#include "interpose/wrapped.def"
  SLUICE_WRAPPED(cuGetExportTable)
  SLUICE_WRAPPED(cuDevicePrimaryCtxGetState)
  SLUICE_WRAPPED(cuGetErrorName)
  SLUICE_WRAPPED(cuLibraryGetGlobal)
  SLUICE_WRAPPED(cuModuleGetGlobal_v2)
#undef SLUICE_WRAPPED
}

bool Shim::refuse_static_runtime(bool is_cpu_device) const {
  if (!is_cpu_device) return false;
  const std::string program = program_path();
  const Result<ProgramFile> file = inspect_program(program);
  if (!file || !file->has_static_cuda_runtime) return false;
  log::error("{}", static_runtime_error(program).line());
  return true;
}

void* Shim::real(const char* symbol) const {
  return library_ == nullptr ? nullptr : dlsym(library_, symbol);
}

runtime::Runtime* Shim::runtime() const {
  return current_runtime.load(std::memory_order_acquire);
}

void Shim::start_runtime() {
  static std::once_flag once;
  std::call_once(once, [this] {
    if (off_) return;
    set_assertion_handler(throw_assertion);
    // Both are leaked: threads of the device may use them until the process is gone.
    const Settings settings = read_settings();
    auto* device = new ShimDevice(calls_);
    device->use_megakernel(settings, [this](const char* symbol) { return real(symbol); });
    Result<std::unique_ptr<runtime::Runtime>> made =
        runtime::Runtime::create(settings.config, *device, model_maker(settings));
    if (!made) {
      log::error("{}; the program runs without Sluice", made.error().line());
      return;
    }
    current_runtime.store(made->release(), std::memory_order_release);
    std::atexit(finish_runtime);
    pthread_atfork(nullptr, nullptr, leave_runtime_in_child);
  });
}

}  // namespace sluice::interpose
