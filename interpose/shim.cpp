#include "interpose/shim.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "interpose/driver/find_driver.hpp"
#include "interpose/driver/program_file.hpp"
#include "interpose/environment.hpp"
#include "interpose/error_watch.hpp"
#include "interpose/host_watch.hpp"
#include "interpose/memory_watch.hpp"
#include "interpose/models/analysis_library.hpp"
#include "interpose/settings.hpp"
#include "interpose/shim_device.hpp"
#include "interpose/symbols/exit.hpp"
#include "interpose/thread_watch.hpp"
#include "runtime/code/model_cache.hpp"

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

// How long a program that ends waits for launches that cannot begin, such as those behind a host
// function that never returns. Without Sluice it would not wait at all.
constexpr std::chrono::milliseconds patience_at_exit{500};

// When the runtime started, and whether its end is told.
std::chrono::steady_clock::time_point runtime_began;
SummaryUse chosen_summary = SummaryUse::off;
bool tells_leaks = false;

void tell_summary(const runtime::Runtime& runtime) {
  using namespace std::chrono_literals;
  if (chosen_summary == SummaryUse::off) return;
  const bool is_long = std::chrono::steady_clock::now() - runtime_began > 1s;
  if (chosen_summary == SummaryUse::automatic && (!is_long || isatty(STDERR_FILENO) == 0)) return;
  // As what is always told unless the log is off.
  log::error("{} ({}): {}", std::filesystem::path(program_path()).filename().string(), getpid(),
             runtime.outcome().summary);
}

void finish_runtime() {
  const KeepErrno keep;
  runtime::Runtime* runtime = current_runtime.load();
  if (runtime == nullptr) return;
  runtime->finish(patience_at_exit);
  if (tells_leaks) tell_leaks(Shim::get().calls());
  tell_ignored_errors(Shim::get().calls());
  tell_summary(*runtime);
  int status = 0;
  if (const uint64_t violations = runtime->outcome().footprint_violations; violations > 0) {
    log::error("{} with the footprints: a kernel leaves its buffers, or the analysis is wrong",
               violations == 1 ? "1 access does not agree"
                               : fmt::format("{} accesses do not agree", violations));
    status = exit_footprint_violation;
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

std::string cpu_folder() {
  return library_folder() + "/cpu";
}

// static_runtime() is why the program's static CUDA runtime, if it has one, would call this driver.
std::optional<Error> static_runtime() {
  const Result<ProgramFile> file = inspect_program(program_path(), cpu_folder());
  if (!file || !file->has_static_cuda_runtime) return std::nullopt;
  if (file->obstacle) return file->obstacle;
  if (is_replaced(*file)) return std::nullopt;
  return static_runtime_error(program_path());
}

// runtime_of_others() names the CUDA runtime in this process that is not the CPU device's; empty
// where there is none.
std::string runtime_of_others() {
  if (static_runtime()) return "its static CUDA runtime";
  struct Search {
    std::string cpu_folder;
    std::string found;
  } search{cpu_folder(), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* data) {
        auto& [own, found] = *static_cast<Search*>(data);
        const std::filesystem::path path(library->dlpi_name);
        std::error_code error;
        const bool is_runtime = path.filename().string().starts_with("libcudart.so");
        if (is_runtime && !std::filesystem::equivalent(path.parent_path(), own, error)) {
          found = path.string();
        }
        return 0;
      },
      &search);
  return search.found;
}

runtime::ModelMaker model_maker(const Settings& settings) {
  runtime::ModelMaker maker =
      late_model_maker(library_folder(), settings.config.waits_for_analysis);
  if (settings.analysis_cache.empty()) return maker;
  return runtime::cached_model_maker(std::move(maker),
                                     std::make_shared<const CacheFolder>(settings.analysis_cache),
                                     build_identity() + analysis_identity(library_folder()));
}

}  // namespace

void throw_assertion(const char* condition, const char* file, int line) {
  throw AssertionFailure{condition, file, line};
}

Shim& Shim::get() {
  static Shim* const shim = new Shim();
  return *shim;
}

Shim::Shim() : driver_(new Driver) {
  const KeepErrno keep;
  off_ = is_set("SLUICE_OFF");

  const Result<DeviceChoice> choice = device_choice(environment("SLUICE_DEVICE"));
  if (!choice) log::warning("SLUICE_DEVICE: {} (now: auto)", choice.error().line());
  const Result<FoundDriver> found =
      find_driver(choice.value_or(DeviceChoice::automatic), library_folder());
  if (!found) {
    log::error("{}", found.error().line());
    return;
  }
  if (found->is_cpu_device) {
    if (const std::optional<Error> error = static_runtime()) {
      // The audit library has told of it, where there is one.
      const bool is_told = environment("LD_AUDIT").find("libsluice-audit") != std::string::npos;
      if (!is_told) log::error("{}", error->line());
      return;
    }
  }
  const Driver* driver = open(found->path);
  if (driver == nullptr) return;
  driver_.store(driver);
  decided_.store(!found->is_by_signs);
  log::info("driver {}{}", found->path, off_ ? ", Sluice off" : "");
}

const Shim::Driver* Shim::open(const std::string& path) {
  auto driver = std::make_unique<Driver>();
  driver->library = open_driver(path);
  if (driver->library == nullptr) {
    log::error("the driver cannot be opened: {}", dlerror());
    return nullptr;
  }
  const auto find = [&](auto& call, const char* symbol) {
    call =
        reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(driver->library, symbol));
  };
#define SLUICE_WRAPPED(symbol) find(driver->calls.symbol, #symbol);
#include "interpose/symbols/wrapped.def"
  find(driver->calls.cuGetExportTable, "cuGetExportTable");
  find(driver->calls.cuDeviceGetCount, "cuDeviceGetCount");
  find(driver->calls.cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState");
  find(driver->calls.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  find(driver->calls.cuCtxGetCurrent, "cuCtxGetCurrent");
  find(driver->calls.cuCtxGetDevice, "cuCtxGetDevice");
  find(driver->calls.cuCtxSetCurrent, "cuCtxSetCurrent");
  find(driver->calls.cuStreamGetCtx, "cuStreamGetCtx");
  find(driver->calls.cuGetErrorName, "cuGetErrorName");
  find(driver->calls.cuFuncGetAttribute, "cuFuncGetAttribute");
  find(driver->calls.cuKernelGetAttribute, "cuKernelGetAttribute");
  find(driver->calls.cuPointerGetAttribute, "cuPointerGetAttribute");
  return driver.release();
}

void* Shim::real(const char* symbol) const {
  return library() == nullptr ? nullptr : dlsym(library(), symbol);
}

bool Shim::has_device() const {
  int devices = 0;
  return calls().cuDeviceGetCount != nullptr &&
         calls().cuDeviceGetCount(&devices) == CUDA_SUCCESS && devices > 0;
}

CUresult Shim::initialise(unsigned flags) {
  if (is_decided()) return calls().cuInit(flags);
  const std::lock_guard lock(deciding_);
  const CUresult result = calls().cuInit(flags);
  if (is_decided() || result == CUDA_ERROR_INVALID_VALUE) return result;
  const bool usable = result == CUDA_SUCCESS && has_device();
  if (!usable) fall_back(result);
  decided_.store(true, std::memory_order_release);
  return usable ? result : calls().cuInit(flags);
}

void Shim::fall_back(CUresult reason) {
  if (const std::string runtime = runtime_of_others(); !runtime.empty()) {
    log::error(
        "the driver has no usable device (error {}), and {} works with NVIDIA's driver alone; use "
        "--device cpu",
        static_cast<int>(reason), runtime);
    return;
  }
  if (const Driver* cpu = open(cpu_folder() + "/libcuda.so.1")) {
    log::info("the driver has no usable device (error {}): the CPU device takes its place",
              static_cast<int>(reason));
    driver_.store(cpu, std::memory_order_release);
  }
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
    auto* device =
        new ShimDevice(calls(), settings, [this](const char* symbol) { return real(symbol); });
    Result<std::unique_ptr<runtime::Runtime>> made =
        runtime::Runtime::create(settings.config, *device, model_maker(settings));
    if (!made) {
      log::error("{}; the program runs without Sluice", made.error().line());
      return;
    }
    const Settings::DeviceChecks& checks = settings.device_checks;
    if (checks.host) watch_host(calls(), settings.config);
    if (checks.threads) watch_threads(calls(), settings.config);
    if (checks.accesses || checks.leaks) watch_memory(calls(), settings.config);
    tells_leaks = checks.leaks;
    if (checks.errors) watch_errors(calls(), settings.config);
    runtime_began = std::chrono::steady_clock::now();
    chosen_summary = settings.summary;
    current_runtime.store(made->release(), std::memory_order_release);
    at_exit(finish_runtime);
    pthread_atfork(nullptr, nullptr, leave_runtime_in_child);
  });
}

}  // namespace sluice::interpose
