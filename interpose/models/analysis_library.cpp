#include "interpose/models/analysis_library.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <pthread.h>

#include "base/cache_folder.hpp"
#include "interpose/shim.hpp"

namespace sluice::interpose {
namespace {

std::string path_in(const std::string& folder) {
  return folder + "/libsluice-analysis.so";
}

// open_maker() leaves the library open. Programs that bring an LLVM of their own do not see its
// symbols.
Result<const runtime::ModelMaker*> open_maker(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr)
    return system_error(std::string("the analysis cannot be opened: ") + dlerror(), path,
                        "install Sluice as a whole");
  const auto make =
      reinterpret_cast<decltype(&sluice_model_maker)>(dlsym(library, "sluice_model_maker"));
  if (make == nullptr) return system_error("this is not the analysis", path);
  return make(throw_assertion);
}

// A fork waits so long while the library is being opened, which takes some milliseconds.
constexpr std::chrono::seconds patience_of_fork{1};

// Late is the library, opened at the first call of get(). One for the process, and never destroyed.
class Late {
 public:
  explicit Late(std::string path) : path_(std::move(path)) {}

  const Result<const runtime::ModelMaker*>& get() {
    const std::lock_guard lock(opening_);
    if (!maker_) maker_ = open_maker(path_);
    return *maker_;
  }
  // While another thread is inside the dynamic linker, a child would get that half changed. But who
  // forks in a library's constructor has the linker's lock, which that thread may be waiting for.
  void before_fork() { is_held_ = opening_.try_lock_for(patience_of_fork); }
  void after_fork() {
    if (is_held_) opening_.unlock();
  }

 private:
  const std::string path_;
  std::timed_mutex opening_;
  std::optional<Result<const runtime::ModelMaker*>> maker_;  // guarded by opening_
  bool is_held_ = false;  // by who forks; the C library lets one thread fork at a time
};

Late& late(const std::string& folder) {
  static Late* const library = [&] {
    static auto* const made = new Late(path_in(folder));
    pthread_atfork([] { made->before_fork(); }, [] { made->after_fork(); },
                   [] { made->after_fork(); });
    return made;
  }();
  return *library;
}

}  // namespace

runtime::ModelMaker late_model_maker(const std::string& folder, bool opens_now) {
  Late& library = late(folder);
  if (opens_now) static_cast<void>(library.get());
  return [&library](runtime::PtxCode& code,
                    std::string_view kernel) -> Result<std::unique_ptr<runtime::KernelModel>> {
    const Result<const runtime::ModelMaker*>& maker = library.get();
    if (!maker) return tl::unexpected(maker.error());
    return (**maker)(code, kernel);
  };
}

std::string analysis_identity(const std::string& folder) {
  return file_identity(path_in(folder));
}

}  // namespace sluice::interpose
