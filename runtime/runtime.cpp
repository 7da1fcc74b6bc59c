#include "runtime/runtime.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.hpp"
#include "runtime/check/trace.hpp"
#include "runtime/state.hpp"

namespace sluice::runtime {
namespace {

int64_t steady_nanoseconds() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// Blocks are traced on the host's workers only.
megakernel::WindowBackend* backend_of(const Config& config, Device& device) {
  return config.check_footprints ? nullptr : device.windows();
}

// What is checked must run as it was asked for.
std::optional<Policy::Config> policy_of(const Config& config, Device& device) {
  const bool runs_freely = device.windows() == nullptr && !config.check_footprints &&
                           !config.check_races && config.rule == dro::Rule::exact &&
                           config.stress == 0;
  return runs_freely ? config.policy : std::nullopt;
}

StreamWindows::Limits limits_of(const Config& config) {
  const size_t launches = std::max(1U, config.window_launches);
  // Mekong's rule finds RAW only, which is not enough to reorder by: its launches run one after
  // another, and what the rule finds is there to be compared.
  return {config.rule == dro::Rule::buffer ? 1 : launches, 8 * launches};
}

}  // namespace

Runtime::State::State(const Config& config, Device& real_device, ModelMaker maker,
                      std::unique_ptr<dro::JournalWriter> journal)
    : device(real_device),
      backend(backend_of(config, device)),
      policy(policy_of(config, device),
             config.clock != nullptr ? config.clock : steady_nanoseconds),
      follower(config.rule, std::move(journal)),
      buffers(device, follower.tracker(), observers),
      code(std::move(maker), device, backend, config.check_footprints),
      reader(code, buffers, follower.tracker(), policy, observers, config.exclusion),
      runner(device, backend, gate,
             {config.workers, config.stress, config.time_tasks && follower.journal() != nullptr}),
      streams(gate, device, runner, policy, follower, observers, limits_of(config)) {
  gate.on_failure([this] { streams.let_go(); });
  const auto watched_by = [this](auto observer) {
    auto* const watching = observer.get();
    observers.add(std::move(observer));
    return watching;
  };
  if (config.check_footprints)
    check = watched_by(std::make_unique<FootprintCheck>(device, config.check_blocks));
  if (config.check_races) races = watched_by(std::make_unique<RaceObserver>(gate, buffers));
  if (config.summarise)
    summary = watched_by(
        std::make_unique<RunSummary>(config.clock != nullptr ? config.clock : steady_nanoseconds));
  if (config.time_tasks && follower.journal() != nullptr)
    watched_by(std::make_unique<Trace>(*follower.journal()));
}

Result<std::unique_ptr<Runtime>> Runtime::create(const Config& config, Device& device,
                                                 ModelMaker maker) {
  std::unique_ptr<dro::JournalWriter> journal;
  if (!config.journal_path.empty()) {
    auto opened = dro::JournalWriter::open(config.journal_path, config.rule, config.program);
    if (!opened) return tl::unexpected<Error>(opened.error());
    journal = std::move(*opened);
  }
  auto state = std::make_unique<State>(config, device, std::move(maker), std::move(journal));
  return std::unique_ptr<Runtime>(new Runtime(std::move(state)));
}

Runtime::Runtime(std::unique_ptr<State> state) : state_(std::move(state)) {}

Runtime::~Runtime() {
  finish();
}

void Runtime::code_loaded(void* code, const void* image) {
  state_->gate.enter_open([&] { state_->code.code_loaded(code, image); });
}

void Runtime::code_alias(void* code, void* original) {
  state_->gate.enter_open([&] { state_->code.code_alias(code, original); });
}

void Runtime::code_unloaded(void* code) {
  state_->gate.enter([&](Gate::Lock& lock) {
    state_->streams.wait_until_idle(lock);
    state_->code.code_unloaded(code);
    if (!state_->gate.is_shut()) state_->buffers.code_unloaded(code);
  });
}

void Runtime::function_found(void* function, void* code, const char* kernel) {
  state_->gate.enter_open([&] { state_->code.function_found(function, code, kernel); });
}

void Runtime::function_alias(void* function, void* original) {
  state_->gate.enter_open([&] { state_->code.function_alias(function, original); });
}

void Runtime::memory_allocated(uint64_t address, uint64_t bytes) {
  state_->gate.enter_open([&] {
    if (bytes != 0) state_->buffers.add(address, bytes);
  });
}

void Runtime::memory_freed(uint64_t address) {
  state_->gate.enter_open([&] {
    state_->streams.close();
    state_->buffers.remove(address);
  });
}

void Runtime::memory_written(uint64_t address, uint64_t bytes) {
  state_->gate.enter_open([&] { state_->buffers.written(address, bytes); });
}

int Runtime::launch(const LaunchCall& call) {
  std::optional<int> result;
  state_->gate.enter([&](Gate::Lock& lock) {
    state_->streams.wait_for_room(lock);
    result = state_->take(call);
  });
  // Launches that other threads make meanwhile have no order with this one.
  return result ? *result : state_->device.launch(call);
}

void Runtime::pass_through(const char* kernel, const std::string& reason) {
  state_->gate.enter_open([&] {
    state_->streams.close();
    if (state_->races != nullptr) state_->races->unchecked(kernel, reason);
    if (state_->summary != nullptr) state_->summary->unchecked(kernel, reason);
    state_->follower.pass(state_->follower.next_number(), {.kernel = kernel}, reason);
  });
}

void Runtime::flush() {
  state_->gate.enter([&](Gate::Lock&) { state_->streams.close(); });
}

void Runtime::context_ends(void* context) {
  state_->gate.enter([&](Gate::Lock& lock) {
    state_->streams.close();
    if (state_->backend == nullptr || state_->gate.is_finished()) return;
    state_->streams.wait_until_idle(lock);
    state_->backend->context_ends(context);
    state_->code.forget_device_code();
  });
}

void Runtime::finish(std::chrono::milliseconds patience) {
  state_->gate.enter([&](Gate::Lock& lock) {
    state_->streams.wait_until_idle(lock, patience);
    if (state_->gate.is_finished()) return;
    state_->gate.finish();
    const StreamWindows::Count& ended = state_->streams.ended();
    log::info("{} launches ran as tasks in {} windows", ended.launches, ended.windows);
    state_->observers.tell(&Observer::finished, state_->follower.journal());
    state_->follower.finish();
  });
}

RaceObserver* Runtime::races() const {
  return state_->races;
}

dro::DependenceTracker::Counters Runtime::counters() const {
  const Gate::Lock lock = state_->gate.lock();
  return state_->follower.tracker().counters();
}

std::string Runtime::summary() const {
  if (state_->summary == nullptr) return {};
  const Gate::Lock lock = state_->gate.lock();
  return state_->summary->line(state_->follower.launches(), state_->streams.ended().launches,
                               state_->policy.plain_speed());
}

uint64_t Runtime::footprint_violations() const {
  return state_->check == nullptr ? 0 : state_->check->violations();
}

}  // namespace sluice::runtime
