#include "hostcuda/driver/error_watch/error_watch.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <link.h>

#include "base/thread/thread_owned.hpp"
#include "hostcuda/driver/error_watch/result_use.hpp"

namespace sluice::hostcuda {
namespace {

std::atomic<ErrorWatch*> the_error_watch = nullptr;

// A program whose calls all fail has said enough.
constexpr size_t most_failures = 64;

// RuntimeCall is the outermost function of the CUDA runtime in a call; empty: there is none.
struct RuntimeCall {
  std::string function;
  std::span<void* const> returns;  // to who called it, and to those before
};

RuntimeCall runtime_call(const CallSite& site) {
  RuntimeCall found;
  const std::span<void* const> callers(site.callers.data(), site.depth);
  for (size_t i = 0; i < callers.size(); ++i) {
    Dl_info info = {};
    void* entry = nullptr;
    const char* call = static_cast<const char*>(callers[i]) - 1;
    if (dladdr1(call, &info, &entry, RTLD_DL_SYMENT) == 0) continue;
    const auto* symbol = static_cast<const ElfW(Sym)*>(entry);
    // A function that is not exported has no name here but that of one before it.
    const bool is_inside =
        symbol != nullptr && call < static_cast<const char*>(info.dli_saddr) + symbol->st_size;
    if (!is_inside || std::string_view(info.dli_fname).find("cudart") == std::string_view::npos)
      continue;
    found = {info.dli_sname, callers.subspan(i + 1)};
  }
  std::string& function = found.function;
  while (function.starts_with("_"))
    function.erase(0, 1);
  for (const std::string_view end : {"_ptsz", "_ptds"})
    if (function.ends_with(end)) function.resize(function.size() - end.size());
  return found;
}

bool is_launch(std::string_view function) {
  return function.starts_with("cudaLaunch");
}

// is_call() is false of what nvcc's code calls before main(), which returns no errors.
bool is_call(std::string_view function) {
  return function.starts_with("cuda") && !function.starts_with("cudaRegister");
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
  const RuntimeCall call = runtime_call(failure.site);
  failure.function = call.function;
  if (is_launch(failure.function)) failure.kernel = std::exchange(launched(), {});
  if (!is_call(failure.function) || !is_result_dropped(call.returns)) return;
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
