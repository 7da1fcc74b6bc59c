#include "megakernel/cuda/code_store.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "megakernel/cuda/linker.hpp"
#include "megakernel/cuda/module_loader.hpp"
#include "megakernel/signals_blocked.hpp"
#include "ptx/printer.hpp"

namespace sluice::megakernel {
namespace {

// Compiling grows with the number of bodies, and the register count of the worst sets everyone's.
constexpr size_t most_bodies = 64;
// Sets that recur beyond these run in the module of all bodies, and beyond those are not counted.
constexpr size_t most_modules_of_sets = 16;
constexpr size_t most_sets = 1024;

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
  if (module == nullptr) return;
  const RelaxedCapture relaxed(*driver);
  driver->cuModuleUnload(module);
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

std::shared_ptr<const CodeStore::Loaded> CodeStore::code_for(const std::vector<uint32_t>& numbers) {
  std::unique_lock lock(mutex_);
  SLUICE_ASSERT(loaded_ != nullptr && numbers.size() <= linked_.size());
  if (numbers.size() == linked_.size()) return loaded_;
  if (sets_.size() >= most_sets && !sets_.contains(numbers)) return loaded_;
  Set& set = sets_[numbers];
  if (++set.windows == windows_to_recur && modules_of_sets_ < most_modules_of_sets) {
    ++modules_of_sets_;
    set.state = State::pending;
    changed_.notify_all();
  }
  if (wait_) changed_.wait(lock, [&] { return set.state != State::pending || stopping_; });
  return set.loaded != nullptr ? set.loaded : loaded_;
}

std::shared_ptr<const CodeStore::Loaded> CodeStore::known_code(
    const std::vector<uint32_t>& numbers) {
  const std::lock_guard lock(mutex_);
  const auto set = sets_.find(numbers);
  return set == sets_.end() || set->second.loaded == nullptr ? loaded_ : set->second.loaded;
}

void CodeStore::forget() {
  // Unloaded when this returns, after the lock: the driver may wait for the device.
  std::shared_ptr<const Loaded> loaded;
  std::map<std::vector<uint32_t>, Set> sets;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !building_; });
  loaded.swap(loaded_);
  sets.swap(sets_);
  modules_of_sets_ = 0;
  linked_.clear();
  place_of_text_.clear();
  entries_.clear();
  context_ = nullptr;
}

bool CodeStore::has_pending_body() const {
  return !entries_.empty() && entries_.back().state == State::pending;
}

std::map<std::vector<uint32_t>, CodeStore::Set>::iterator CodeStore::pending_set() {
  return std::find_if(sets_.begin(), sets_.end(),
                      [](const auto& set) { return set.second.state == State::pending; });
}

void CodeStore::build() {
  pthread_setname_np(pthread_self(), "sluice-linker");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock,
                  [&] { return stopping_ || has_pending_body() || pending_set() != sets_.end(); });
    if (stopping_) return;
    driver_.cuCtxSetCurrent(context_);
    building_ = true;
    if (has_pending_body()) {
      build_pending(lock);
    } else {
      const auto set = pending_set();
      build_set(lock, set->first, set->second);
    }
    building_ = false;
    changed_.notify_all();
  }
}

void CodeStore::build_set(std::unique_lock<std::mutex>& lock, const std::vector<uint32_t>& numbers,
                          Set& set) {
  std::vector<const TaskBody*> bodies;
  std::vector<uint32_t> renumbered(linked_.size(), 0);
  for (const uint32_t number : numbers) {
    renumbered[number] = static_cast<uint32_t>(bodies.size());
    bodies.push_back(linked_[number]);
  }
  std::string reason;
  lock.unlock();
  const std::shared_ptr<Loaded> loaded = load(bodies, reason);
  lock.lock();
  set.state = loaded == nullptr ? State::refused : State::ready;
  if (loaded == nullptr) return;
  loaded->renumbered = std::move(renumbered);
  set.loaded = loaded;
  log::info("windows of {} of {} kernels recur: they have a megakernel now, {} threads a worker",
            numbers.size(), linked_.size(), loaded->threads);
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
  loaded_.swap(loaded);
  log::info("the megakernel now holds {} kernels, {} threads a worker", linked_.size(),
            loaded_->threads);
  // The one before is unloaded without the lock: the driver may wait for the device.
  lock.unlock();
  loaded.reset();
  lock.lock();
  return true;
}

std::shared_ptr<CodeStore::Loaded> CodeStore::load(const std::vector<const TaskBody*>& bodies,
                                                   std::string& reason) {
  const Result<std::string> text = link_megakernel(bodies);
  if (!text) {
    reason = text.error().line();
    return nullptr;
  }
  const Result<LoadedModule> module = load_module(driver_, *text, bodies);
  if (!module) {
    reason = module.error().line();
    return nullptr;
  }
  auto loaded = std::make_shared<Loaded>();
  loaded->driver = &driver_;
  loaded->threads = worker_threads(bodies);
  loaded->module = module->module;
  loaded->function = module->function;
  return loaded;
}

}  // namespace sluice::megakernel
