#include "megakernel/cuda/code_store.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "base/number/divide_up.hpp"
#include "base/thread/signals_blocked.hpp"
#include "megakernel/cuda/linker.hpp"
#include "megakernel/cuda/module_loader.hpp"
#include "ptx/printer.hpp"

namespace sluice::megakernel {
namespace {

// Compiling grows with the number of bodies, and the register count of the worst sets everyone's.
constexpr size_t most_bodies = 64;
// A processor gives a warp its registers in such pieces, each thread's.
constexpr uint32_t register_piece = 8;
constexpr uint32_t registers_of_thread = 255;  // at most
// With these a processor of 64 warps is full, and the scheduler, which takes 52 where it may,
// spills some on its way to each task: for streams of many blocks that is worth it (a twelfth on an
// H200).
constexpr uint32_t least_registers = 32;
// What a body takes beyond its kernel: the median of tests/megakernel/body_costs.txt.
constexpr uint32_t more_registers = 8;

// registers_of_class() is what a kernel of so many may take as a body, 0: not known.
uint32_t registers_of_class(uint32_t registers) {
  if (registers == 0) return registers_of_thread;
  const auto wanted = static_cast<uint32_t>(
      round_up(uint64_t{registers} + more_registers, uint64_t{register_piece}));
  return std::clamp(wanted, least_registers, registers_of_thread);
}

// What the driver's compiler made of the whole module, which sets how many workers a device holds.
void read_figures(CodeStore::Loaded& loaded) {
  int registers = 0;
  int stack = 0;
  loaded.driver->cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, loaded.function);
  loaded.driver->cuFuncGetAttribute(&stack, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, loaded.function);
  loaded.registers = static_cast<uint32_t>(std::max(0, registers));
  loaded.figures = fmt::format("{} threads a worker, {} registers and {} bytes of stack a thread",
                               loaded.threads, registers, stack);
}

// What makes two bodies the same: all that is in them but the prefix of their names.
std::string text_of(const TaskBody& body) {
  ptx::Module module;
  module.version_major = body.version_major;
  module.version_minor = body.version_minor;
  module.target = {body.target};
  module.items = body.items;
  std::string text = ptx::print(module);
  text += fmt::format("{} {} {} {}", body.beside.threads, body.parameter_bytes, body.dynamic_offset,
                      fmt::join(body.variables, " "));
  return text;
}

}  // namespace

CodeStore::CodeStore(const CudaDriver& driver, CUcontext context, bool wait)
    : driver_(driver), context_(context), wait_(wait) {}

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
                                const Dim3& block, uint32_t registers) {
  Result<TaskBody> body = rewrite_body(module, kernel, block, "sluice_");
  if (!body) return tl::unexpected<Error>(body.error());
  std::string text = text_of(*body);
  const std::lock_guard lock(mutex_);
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
  const Class size = class_of(*body, registers);
  entries_.push_back({.body = std::move(*body), .size = size});
  place_of_text_.emplace(std::move(text), place);
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

CodeStore::Class CodeStore::class_of(const TaskBody& body, uint32_t registers) {
  const TaskBody* const alone[] = {&body};
  return {std::bit_ceil(worker_threads(alone)), registers_of_class(registers)};
}

CodeStore::Class CodeStore::class_for(const std::vector<uint32_t>& numbers) const {
  Class size;
  for (const uint32_t number : numbers)
    size.widen(sizes_.at(number));
  return size;
}

bool CodeStore::Group::serves(const std::vector<uint32_t>& numbers) const {
  return loaded != nullptr && std::ranges::all_of(numbers, [&](uint32_t number) {
           return number < loaded->renumbered.size() && loaded->renumbered[number] != not_held;
         });
}

std::shared_ptr<const CodeStore::Loaded> CodeStore::code() {
  const std::lock_guard lock(mutex_);
  return loaded_;
}

// gains() is whether more workers fit of a class's module than of that of all bodies.
bool CodeStore::gains(const Class& size) const {
  return size.threads < loaded_->threads || size.registers < loaded_->registers;
}

std::shared_ptr<const CodeStore::Loaded> CodeStore::crowded_code(
    const std::vector<uint32_t>& numbers) {
  std::unique_lock lock(mutex_);
  SLUICE_ASSERT(loaded_ != nullptr && numbers.size() <= linked_.size());
  const Class size = class_for(numbers);
  if (!gains(size)) return loaded_;
  Group& group = groups_[size];
  if (group.serves(numbers)) return group.loaded;
  if (++group.windows >= windows_to_recur && group.state == State::ready) {
    group.windows = 0;
    group.state = State::pending;
    changed_.notify_all();
  }
  if (wait_) changed_.wait(lock, [&] { return group.state != State::pending || stopping_; });
  return group.serves(numbers) ? group.loaded : loaded_;
}

std::shared_ptr<const CodeStore::Loaded> CodeStore::known_code(
    const std::vector<uint32_t>& numbers) {
  const std::lock_guard lock(mutex_);
  const auto group = groups_.find(class_for(numbers));
  return group != groups_.end() && group->second.serves(numbers) ? group->second.loaded : loaded_;
}

bool CodeStore::has_pending_body() const {
  return !entries_.empty() && entries_.back().state == State::pending;
}

std::map<CodeStore::Class, CodeStore::Group>::iterator CodeStore::pending_group() {
  return std::ranges::find_if(
      groups_, [](const auto& group) { return group.second.state == State::pending; });
}

void CodeStore::build() {
  pthread_setname_np(pthread_self(), "sluice-linker");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(
        lock, [&] { return stopping_ || has_pending_body() || pending_group() != groups_.end(); });
    if (stopping_) return;
    driver_.cuCtxSetCurrent(context_);
    if (has_pending_body()) {
      build_pending(lock);
    } else {
      const auto group = pending_group();
      build_group(lock, group->first, group->second);
    }
    changed_.notify_all();
  }
}

void CodeStore::build_group(std::unique_lock<std::mutex>& lock, const Class& size, Group& group) {
  std::vector<const TaskBody*> bodies;
  std::vector<uint32_t> renumbered(linked_.size(), not_held);
  for (size_t number = 0; number < linked_.size(); ++number) {
    if (!size.holds(sizes_[number])) continue;
    renumbered[number] = static_cast<uint32_t>(bodies.size());
    bodies.push_back(linked_[number]);
  }
  std::string reason;
  lock.unlock();
  const std::shared_ptr<Loaded> loaded = load(bodies, size.registers, reason);
  lock.lock();
  group.state = loaded == nullptr ? State::refused : State::ready;
  if (loaded == nullptr) return;
  loaded->renumbered = std::move(renumbered);
  std::shared_ptr<const Loaded> before = std::exchange(group.loaded, loaded);
  log::info("windows of {} of {} kernels recur: they have a megakernel now, {}", bodies.size(),
            linked_.size(), loaded->figures);
  retire(lock, std::move(before));
}

// To unload a module the driver may wait for the device, and that for a host function of the
// program, whose threads may be waiting here.
void CodeStore::retire(std::unique_lock<std::mutex>& lock, std::shared_ptr<const Loaded> module) {
  if (wait_) return retired_.push_back(std::move(module));
  lock.unlock();
  module.reset();
  lock.lock();
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
  std::shared_ptr<const Loaded> loaded = load(bodies, 0, reason);
  lock.lock();
  if (loaded == nullptr) {
    if (fresh.size() == 1) {
      fresh.front()->reason = reason;
      fresh.front()->state = State::refused;
    }
    return false;
  }
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (const TaskBody& body = fresh[i]->body; !body.beside.is_possible) {
      log::info("{} runs one block at a time in each worker: {}", body.function,
                body.one_at_a_time);
    }
    fresh[i]->number = static_cast<uint32_t>(linked_.size() + i);
    fresh[i]->state = State::ready;
    sizes_.push_back(fresh[i]->size);
  }
  linked_ = std::move(bodies);
  loaded_.swap(loaded);
  log::info("the megakernel now holds {} kernels, {}", linked_.size(), loaded_->figures);
  retire(lock, std::move(loaded));
  return true;
}

std::shared_ptr<CodeStore::Loaded> CodeStore::load(const std::vector<const TaskBody*>& bodies,
                                                   uint32_t most_registers, std::string& reason) {
  const Result<std::string> text = link_megakernel(bodies, most_registers);
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
  read_figures(*loaded);
  return loaded;
}

}  // namespace sluice::megakernel
