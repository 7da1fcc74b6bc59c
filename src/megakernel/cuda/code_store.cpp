#include "megakernel/cuda/code_store.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "megakernel/cuda/linker.hpp"
#include "megakernel/signals_blocked.hpp"
#include "ptx/printer.hpp"

namespace sluice::megakernel {
namespace {

// Compiling grows with the number of bodies, and the register count of the worst sets everyone's.
constexpr size_t most_bodies = 64;

// What makes two bodies the same: all that is in them but the prefix of their names.
std::string text_of(const TaskBody& body) {
  ptx::Module module;
  module.version_major = body.version_major;
  module.version_minor = body.version_minor;
  module.target = {body.target};
  module.items = body.items;
  std::string text = ptx::print(module);
  text += fmt::format("{} {} {} {}", body.threads, body.parameter_bytes, body.dynamic_offset,
                      fmt::join(body.variables, " "));
  return text;
}

}  // namespace

CodeStore::CodeStore(const CudaDriver& driver, bool wait) : driver_(driver), wait_(wait) {}

CodeStore::~CodeStore() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (builder_.joinable()) builder_.join();
}

CodeStore::Loaded::~Loaded() {
  if (module != nullptr) driver->cuModuleUnload(module);
}

Result<uint32_t> CodeStore::add(const ptx::Module& module, std::string_view kernel,
                                const Dim3& block, CUcontext context) {
  Result<TaskBody> body = rewrite_body(module, kernel, block, "sluice_");
  if (!body) return tl::unexpected<Error>(body.error());
  std::string text = text_of(*body);
  const std::lock_guard lock(mutex_);
  if (context_ != nullptr && context != context_) {
    return unsupported("it runs in a second context", fmt::format("kernel {}", kernel));
  }
  if (const auto known = place_of_text_.find(text); known != place_of_text_.end()) {
    return known->second;
  }
  if (entries_.size() >= most_bodies) {
    return unsupported(fmt::format("the megakernel has {} kernels already", most_bodies),
                       fmt::format("kernel {}", kernel));
  }
  const auto place = static_cast<uint32_t>(entries_.size());
  body = rewrite_body(module, kernel, block, fmt::format("sluice_{}_", place));
  if (!body) return tl::unexpected<Error>(body.error());
  entries_.push_back({.body = std::move(*body)});
  place_of_text_.emplace(std::move(text), place);
  context_ = context;
  if (!builder_.joinable()) {
    const SignalsBlocked blocked;
    builder_ = std::thread([this] { build(); });
  }
  changed_.notify_all();
  return place;
}

CodeStore::Found CodeStore::find(uint32_t place) {
  std::unique_lock lock(mutex_);
  Entry& entry = entries_.at(place);
  if (wait_) {
    // The first answer does not depend on how fast the compiler was.
    if (!std::exchange(entry.asked_again, true)) return {&entry.body, State::pending, 0, {}};
    changed_.wait(lock, [&] { return entry.state != State::pending || stopping_; });
  }
  return {&entry.body, entry.state, entry.number, entry.reason};
}

std::shared_ptr<const CodeStore::Loaded> CodeStore::loaded() {
  const std::lock_guard lock(mutex_);
  return loaded_;
}

void CodeStore::build() {
  pthread_setname_np(pthread_self(), "sluice-linker");
  std::unique_lock lock(mutex_);
  driver_.cuCtxSetCurrent(context_);
  for (;;) {
    changed_.wait(lock, [&] {
      return stopping_ || (!entries_.empty() && entries_.back().state == State::pending);
    });
    if (stopping_) return;
    build_pending(lock);
    changed_.notify_all();
  }
}

void CodeStore::build_pending(std::unique_lock<std::mutex>& lock) {
  std::vector<Entry*> fresh;
  for (Entry& entry : entries_) {
    if (entry.state == State::pending) fresh.push_back(&entry);
  }
  if (try_bodies(lock, fresh) || fresh.size() == 1) return;
  for (Entry* entry : fresh) {
    if (!stopping_) try_bodies(lock, {entry});
  }
}

bool CodeStore::try_bodies(std::unique_lock<std::mutex>& lock, const std::vector<Entry*>& fresh) {
  std::vector<const TaskBody*> bodies = linked_;
  for (const Entry* entry : fresh)
    bodies.push_back(&entry->body);
  std::string reason;
  lock.unlock();
  std::shared_ptr<const Loaded> loaded = load(bodies, reason);
  lock.lock();
  if (loaded == nullptr) {
    if (fresh.size() == 1) {
      fresh.front()->reason = reason;
      fresh.front()->state = State::refused;
    }
    return false;
  }
  for (size_t i = 0; i < fresh.size(); ++i) {
    fresh[i]->number = static_cast<uint32_t>(linked_.size() + i);
    fresh[i]->state = State::ready;
  }
  linked_ = std::move(bodies);
  loaded_ = std::move(loaded);
  log::info("the megakernel now holds {} kernels, {} threads a worker", linked_.size(),
            loaded_->threads);
  return true;
}

std::shared_ptr<const CodeStore::Loaded> CodeStore::load(const std::vector<const TaskBody*>& bodies,
                                                         std::string& reason) {
  const Result<std::string> text = link_megakernel(bodies);
  if (!text) {
    reason = text.error().line();
    return nullptr;
  }
  auto loaded = std::make_shared<Loaded>();
  loaded->driver = &driver_;
  loaded->threads = worker_threads(bodies);
  CUresult result = driver_.cuModuleLoadData(&loaded->module, text->c_str());
  if (result == CUDA_SUCCESS) {
    result = driver_.cuModuleGetFunction(&loaded->function, loaded->module, megakernel_name);
  }
  CUdevice device = 0;
  int most_shared = 0;
  if (result == CUDA_SUCCESS) result = driver_.cuCtxGetDevice(&device);
  if (result == CUDA_SUCCESS) {
    result = driver_.cuDeviceGetAttribute(
        &most_shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
  }
  if (result == CUDA_SUCCESS) {
    result = driver_.cuFuncSetAttribute(
        loaded->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most_shared);
  }
  if (result == CUDA_SUCCESS) return loaded;
  reason = fmt::format("the driver does not take the megakernel with its code (error {})",
                       static_cast<int>(result));
  return nullptr;
}

}  // namespace sluice::megakernel
