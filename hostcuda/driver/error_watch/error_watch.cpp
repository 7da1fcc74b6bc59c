#include "hostcuda/driver/error_watch/error_watch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <link.h>

#include "base/thread/thread_owned.hpp"

namespace sluice::hostcuda {
namespace {

std::atomic<ErrorWatch*> the_error_watch = nullptr;

// A program whose calls all fail has said enough.
constexpr size_t most_failures = 64;

// function_of() is the outermost function of the CUDA runtime in a call.
std::string function_of(const CallSite& site) {
  std::string found;
  for (size_t i = 0; i < site.depth; ++i) {
    Dl_info info = {};
    void* entry = nullptr;
    const char* call = static_cast<const char*>(site.callers[i]) - 1;
    if (dladdr1(call, &info, &entry, RTLD_DL_SYMENT) == 0) continue;
    const auto* symbol = static_cast<const ElfW(Sym)*>(entry);
    // A function that is not exported has no name here but that of one before it.
    const bool is_inside =
        symbol != nullptr && call < static_cast<const char*>(info.dli_saddr) + symbol->st_size;
    if (!is_inside || std::string_view(info.dli_fname).find("cudart") == std::string_view::npos)
      continue;
    found = info.dli_sname;
  }
  while (found.starts_with("_"))
    found.erase(0, 1);
  for (const std::string_view end : {"_ptsz", "_ptds"})
    if (found.ends_with(end)) found.resize(found.size() - end.size());
  return found;
}

bool is_launch(std::string_view function) {
  return function.starts_with("cudaLaunch");
}

// is_work() is true of functions that nobody calls to see whether they fail.
bool is_work(std::string_view function) {
  constexpr std::array beginnings = {"cudaMemcpy",
                                     "cudaMemset",
                                     "cudaFree",
                                     "cudaStreamSynchronize",
                                     "cudaDeviceSynchronize",
                                     "cudaEventSynchronize",
                                     "cudaEventRecord",
                                     "cudaStreamWaitEvent",
                                     "cudaGraphLaunch"};
  return is_launch(function) || std::ranges::any_of(beginnings, [&](const char* beginning) {
           return function.starts_with(beginning);
         });
}

struct Launched {
  std::string kernel;
};
std::string& launched() {
  return ThreadOwned<Launched>::get().kernel;
}

}  // namespace

ErrorWatch* ErrorWatch::get() {
  return the_error_watch.load(std::memory_order_acquire);
}

bool ErrorWatch::watch() {
  ErrorWatch* none = nullptr;
  auto* made = new ErrorWatch;
  if (the_error_watch.compare_exchange_strong(none, made)) return true;
  delete made;
  return false;
}

void ErrorWatch::launches(const std::string& kernel) {
  if (get() != nullptr) launched() = kernel;
}

void ErrorWatch::failed(int error, const char* name) {
  Failure failure{std::this_thread::get_id(), error, name, {}, {}, CallSite::of_this_call()};
  failure.function = function_of(failure.site);
  if (!is_work(failure.function)) return;
  if (is_launch(failure.function)) failure.kernel = std::exchange(launched(), {});
  const std::lock_guard lock(mutex_);
  const bool is_known = std::ranges::any_of(failures_, [&](const Failure& known) {
    return known.error == error && known.thread == failure.thread &&
           known.function == failure.function && known.kernel == failure.kernel;
  });
  if (!is_known && failures_.size() < most_failures) failures_.push_back(std::move(failure));
}

void ErrorWatch::asked() {
  const std::lock_guard lock(mutex_);
  std::erase_if(failures_, [](const Failure& failure) {
    return failure.thread == std::this_thread::get_id();
  });
}

void ErrorWatch::asked_for_text(int error) {
  const std::lock_guard lock(mutex_);
  std::erase_if(failures_, [&](const Failure& failure) { return failure.error == error; });
}

void ErrorWatch::tell_ignored(SluiceErrorTold told, void* data) {
  std::vector<Failure> failures;
  {
    const std::lock_guard lock(mutex_);
    failures.swap(failures_);
  }
  for (const Failure& failure : failures) {
    const SluiceIgnoredError error = {failure.function.c_str(), failure.name.c_str(),
                                      failure.kernel.empty() ? nullptr : failure.kernel.c_str(),
                                      failure.site.callers.data(), failure.site.depth};
    told(data, &error);
  }
}

}  // namespace sluice::hostcuda
