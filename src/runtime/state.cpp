#include "runtime/state.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/cache_sizes.hpp"

namespace sluice::runtime {
namespace {

int64_t steady_nanoseconds() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

OrderLimits order_limits(const Config& config, const megakernel::WindowBackend* backend,
                         uint32_t host_workers) {
  const CacheSizes caches = read_cache_sizes();
  const uint64_t own_caches = backend == nullptr ? caches.own * host_workers : 0;
  OrderLimits limits{.cache_bytes = band_cache_bytes(caches.last, own_caches),
                     .workers = host_workers};
  limits.stress = config.stress;
  limits.own_cache_bytes = own_caches;
  limits.on_host = backend == nullptr;
  if (backend == nullptr) return limits;
  limits.workers = backend->workers();
  limits.task_threads = device_task_threads;
  return limits;
}

}  // namespace

Runtime::State::State(const Config& config, Device& device, ModelMaker maker,
                      std::unique_ptr<dro::JournalWriter> journal)
    : config_(config),
      device_(device),
      // Blocks are traced on the host's workers only.
      backend_(config.check_footprints ? nullptr : device.windows()),
      // Mekong's rule finds RAW only, which is not enough to reorder by: its launches run one
      // after another, and what the rule finds is there to be compared.
      window_limit_(config.rule == dro::Rule::buffer ? 1 : std::max(1U, config.window_launches)),
      most_outstanding_(size_t{8} * std::max(1U, config.window_launches)),
      check_(config.check_footprints ? std::make_unique<FootprintCheck>(device, config.check_blocks)
                                     : nullptr),
      times_tasks_(config.time_tasks && journal != nullptr),
      start_(steady_nanoseconds()),
      races_(config.check_races ? std::make_unique<RaceCheck>() : nullptr),
      clock_(config.clock != nullptr ? config.clock : steady_nanoseconds),
      journal_(std::move(journal)),
      tracker_(config.rule,
               journal_ != nullptr ? static_cast<dro::Observer*>(journal_.get()) : &warnings_),
      code_(std::move(maker)),
      executors_(config.workers),
      planner_(order_limits(config, backend_, executors_.workers())) {
  // What is checked must run as it was asked for.
  const bool runs_freely = backend_ == nullptr && check_ == nullptr && races_ == nullptr &&
                           config.rule == dro::Rule::exact && config.stress == 0;
  if (config.governor && runs_freely) {
    governor_.emplace(*config.governor);
    following_limits_ = FollowingBudget::governed;
  }
}

void Runtime::State::code_loaded(void* code, const void* image) {
  const Lock lock(mutex_);
  code_.code_loaded(code, image);
}

void Runtime::State::code_alias(void* code, void* original) {
  const Lock lock(mutex_);
  code_.code_alias(code, original);
}

void Runtime::State::code_unloaded(void* code) {
  Lock lock(mutex_);
  wait_until_idle(lock);
  code_.code_unloaded(code);
  const auto [first, last] = variables_.equal_range(code);
  for (auto variable = first; variable != last; ++variable)
    remove_buffer(variable->second);
  variables_.erase(code);
}

void Runtime::State::context_ends(void* context) {
  Lock lock(mutex_);
  close_windows();
  if (backend_ == nullptr || finished_) return;
  wait_until_idle(lock);
  backend_->context_ends(context);
  code_.forget_device_code();
}

void Runtime::State::function_found(void* function, void* code, const char* kernel) {
  const Lock lock(mutex_);
  code_.function_found(function, code, kernel);
}

void Runtime::State::function_alias(void* function, void* original) {
  const Lock lock(mutex_);
  code_.function_alias(function, original);
}

void Runtime::State::memory_allocated(uint64_t address, uint64_t bytes) {
  const Lock lock(mutex_);
  if (!passes_all() && bytes != 0) add_buffer(address, bytes);
}

void Runtime::State::add_buffer(uint64_t address, uint64_t bytes) {
  ++memory_changes_;
  std::vector<dro::BufferId> displaced;
  const dro::BufferId buffer = memory_.allocated(address, bytes, displaced);
  for (const dro::BufferId gone : displaced) {
    tracker_.buffer_destroyed(gone);
    if (races_ != nullptr) races_->buffer_destroyed(gone);
  }
  tracker_.buffer_created(buffer, bytes);
}

void Runtime::State::memory_freed(uint64_t address) {
  const Lock lock(mutex_);
  if (passes_all()) return;
  close_windows();
  remove_buffer(address);
}

void Runtime::State::remove_buffer(uint64_t address) {
  ++memory_changes_;
  if (const std::optional<Allocation> gone = memory_.freed(address)) {
    tracker_.buffer_destroyed(gone->buffer);
    if (races_ != nullptr) races_->buffer_destroyed(gone->buffer);
  }
}

void Runtime::State::memory_written(uint64_t address, uint64_t bytes) {
  const Lock lock(mutex_);
  if (passes_all() || bytes == 0) return;
  const std::optional<Allocation> found = memory_.find(address);
  if (!found) return;
  const uint64_t begin = address - found->address;
  tracker_.host_write(found->buffer, begin, begin + std::min(bytes, found->bytes - begin));
}

void Runtime::State::pass_through(const char* kernel, const std::string& reason) {
  const Lock lock(mutex_);
  if (passes_all()) return;
  close_windows();
  if (journal_ != nullptr) journal_->describe_launch({.kernel = kernel});
  if (races_ != nullptr) races_->count_unchecked(reason);
  tracker_.opaque_launch(++last_launch_, reason);
}

std::shared_ptr<megakernel::BlockRunner> Runtime::State::watch(const Function& function) {
  return check_->watch(function.kernel->name, bound_->footprint->id, pointers_, parameters_.size());
}

void Runtime::State::write_check_records() {
  if (check_ == nullptr) return;
  const std::vector<dro::CheckRecord> records = check_->records();
  if (journal_ != nullptr) {
    for (const dro::CheckRecord& record : records)
      journal_->note_check(record);
  }
}

dro::DependenceTracker::Counters Runtime::State::counters() {
  const Lock lock(mutex_);
  return tracker_.counters();
}

}  // namespace sluice::runtime
