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
  return config.check_blocks.has_value() ? nullptr : device.windows();
}

bool is_unchecked(const Config& config) {
  return !config.check_blocks.has_value() && !config.checks.has_value() &&
         config.rule == dro::Rule::exact;
}

// follows() is false where nobody wants to know what launches depend on: they run one by one.
bool follows(const Config& config) {
  return !config.checks.has_value() || !config.journal_path.empty();
}

// runs_freely() is false where launches go to a backend, or are checked.
bool runs_freely(const Config& config, Device& device) {
  return device.windows() == nullptr && is_unchecked(config);
}

// What is checked must run as it was asked for. How long a backend's windows take is not compared.
std::optional<Policy::Config> policy_of(const Config& config, Device& device) {
  if (!config.policy || !is_unchecked(config) || config.stress != 0) return std::nullopt;
  Policy::Config policy = *config.policy;
  policy.compares = device.windows() == nullptr;
  return policy;
}

// A driver's stream takes 1024 operations before a call waits, and the program may rely on that: a
// function that the stream has come to may wait for a launch 1023 further on. Launches that wait go
// on at half of the limit, which so must not be below that.
constexpr size_t least_room = 2048;

StreamWindows::Limits limits_of(const Config& config) {
  const size_t launches = std::max(1U, config.window_launches);
  // Mekong's rule finds RAW only, which is not enough to reorder by: its launches run one after
  // another, and what the rule finds is there to be compared.
  return {config.rule == dro::Rule::buffer ? 1 : launches, std::max(8 * launches, least_room)};
}

// Work in the background costs the processor's time that it takes.
Policy::Clock clock_of(const Config& config) {
  return config.clock != nullptr ? config.clock : steady_nanoseconds;
}
Policy::Clock clock_of_work(const Config& config) {
  return config.waits_for_analysis || config.clock != nullptr ? clock_of(config)
                                                              : Background::clock;
}

}  // namespace

Runtime::State::State(const Config& config, Device& real_device, ModelMaker maker,
                      std::unique_ptr<dro::JournalWriter> journal)
    : work(config.waits_for_analysis, clock_of_work(config), real_device, policy),
      device(real_device),
      backend(backend_of(config, device)),
      policy(policy_of(config, device), clock_of(config)),
      follower(work.finding, config.rule, std::move(journal), follows(config)),
      buffers(device, follower.tracker(), observers),
      code(std::move(maker), work.analysing, work.clock, device, backend,
           config.check_blocks.has_value()),
      reader(code, buffers, follower.tracker(), {work.analysing, policy, device, gate, work.lead},
             policy, observers, config.exclusion),
      runner(device, backend, gate,
             {.workers = config.workers,
              .stress = config.stress,
              .times_tasks = config.time_tasks && follower.journal() != nullptr,
              .only_what_pays = policy_of(config, device).has_value()}),
      streams(gate, device, runner, policy, follower, observers, limits_of(config)),
      takes{.transfers = device.has_host_memory() && runs_freely(config, device),
            .host_memory = device.has_host_memory() && !config.checks.has_value()} {
  for (const auto kind : {Transfer::Kind::copy, Transfer::Kind::fill})
    code.add_own(transfer_function(kind), transfer_name(kind), transfer_model(kind),
                 transfer_code(kind));
  gate.on_failure([this] { streams.let_go(); });
  const auto watched_by = [this](auto observer) {
    auto* const watching = observer.get();
    observers.add(std::move(observer));
    return watching;
  };
  if (config.check_blocks.has_value())
    asked.check = watched_by(std::make_unique<FootprintCheck>(device, *config.check_blocks));
  if (config.checks.has_value()) {
    auto report = std::make_unique<FaultReport>(*config.checks, config.program);
    auto* const launches = watched_by(std::make_unique<LaunchFaults>(*report, buffers));
    asked.races = watched_by(std::make_unique<RaceObserver>(gate, buffers, *report, *launches));
    asked.faults = watched_by(std::move(report));  // it finishes behind those that tell it
  }
  if (config.hash_copies && follower.journal() != nullptr)
    asked.copies =
        watched_by(std::make_unique<HostCopies>(gate, device, buffers, streams, follower));
  if (config.summarise)
    asked.summary = watched_by(
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
  state_->work.analysing.stop();
  state_->work.finding.stop();
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
    state_->follower.graphs().forget();
    state_->code.code_unloaded(code);
    if (!state_->gate.is_shut()) state_->buffers.code_unloaded(code);
  });
}

void Runtime::function_found(void* function, void* code, const char* kernel) {
  state_->gate.enter_open([&] {
    state_->follower.graphs().forget();
    state_->code.function_found(function, code, kernel);
  });
}

void Runtime::function_alias(void* function, void* original) {
  state_->gate.enter_open([&] {
    state_->follower.graphs().forget();
    state_->code.function_alias(function, original);
  });
}

void Runtime::function_changed(void* function) {
  state_->gate.enter_open([&] {
    state_->follower.graphs().forget();
    state_->code.limits_changed(function);
  });
}

void Runtime::memory_allocated(uint64_t address, uint64_t bytes, const MemoryOrigin& origin) {
  state_->gate.enter_open([&] {
    const auto* variable = std::get_if<VariableOf>(&origin);
    const Memory memory = variable == nullptr ? std::get<Memory>(origin)
                                              : state_->code.memory_of_variables(variable->code);
    const bool is_buffer = memory == Memory::of_device ||
                           (memory == Memory::host_may_watch && state_->takes.host_memory);
    if (bytes == 0) return;
    if (variable != nullptr) {
      if (is_buffer) state_->buffers.variable_found(variable->code, {address, bytes}, memory);
    } else if (is_buffer) {
      state_->buffers.add(address, bytes, memory);
    } else {
      state_->buffers.displace(address, bytes);
    }
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
  uint64_t limits = 0;
  state_->gate.enter([&](Gate::Lock& lock) {
    state_->streams.wait_for_room(lock, call.stream);
    limits = state_->code.limits_of(call.function);
    result = state_->take(call);
  });
  // What a backend says of it is heard without the lock.
  const bool is_said_later = state_->backend != nullptr && result && *result == 0;
  if (result) return is_said_later ? state_->streams.given().take_refusal() : *result;
  // Launches that other threads make meanwhile have no order with this one.
  const int taken = state_->device.launch(call);
  if (taken == 0 && state_->backend != nullptr)
    state_->gate.enter_open([&] { state_->code.accepted(call, limits); });
  return taken;
}

void Runtime::pass_through(const char* kernel, const std::string& reason) {
  state_->gate.enter_open([&] {
    state_->streams.close();
    if (state_->asked.summary != nullptr) state_->asked.summary->unchecked(kernel, reason);
    if (state_->asked.faults != nullptr) {
      state_->asked.faults->unchecked(kernel, reason);
      state_->asked.races->anything_written();
    }
    state_->follower.pass(state_->follower.next_number(), {.kernel = kernel}, reason);
  });
}

void Runtime::flush(const Observed& observed) {
  // Who copies many small things calls for nothing most of the time.
  if (!state_->has_to_flush.load(std::memory_order_acquire)) return;
  state_->gate.enter([&](Gate::Lock&) {
    state_->policy.habit().flushed();
    state_->work.lead.waits();
    state_->work.analysing.is_long();
    state_->work.finding.is_long();
    state_->streams.close_for(observed);
    // Those on their way have yet to be waited for.
    if (std::holds_alternative<Everything>(observed) && !state_->streams.given().any_on_their_way())
      state_->has_to_flush.store(false, std::memory_order_release);
  });
}

std::optional<int> Runtime::take(const StreamCall& call) {
  std::optional<int> result;
  bool is_launch = false;
  const auto* transfer = std::get_if<Transfer>(&call);
  if (const auto* graph = std::get_if<GraphLaunch>(&call)) {
    state_->gate.enter([&](Gate::Lock& lock) { result = state_->take(*graph, lock); });
    return result;
  }
  state_->gate.enter([&](Gate::Lock&) {
    if (transfer != nullptr) {
      is_launch = !state_->gate.is_shut() && state_->is_launch(*transfer);
      return;
    }
    // A backend runs windows that say nothing before they end.
    if (state_->gate.is_shut() || state_->backend != nullptr) return state_->streams.close();
    if (const auto* function = std::get_if<HostFunction>(&call))
      return state_->streams.close_for(OfStream{function->stream});
    const auto* wait = std::get_if<EventWait>(&call);
    const auto* record = std::get_if<EventRecord>(&call);
    if (wait != nullptr ? state_->streams.wait(wait->event, wait->stream)
                        : state_->streams.record(record->event, record->stream)) {
      result = 0;
    }
  });
  return is_launch ? launch(TransferLaunch(*transfer).call()) : result;
}

void Runtime::context_ends(void* context) {
  state_->gate.enter([&](Gate::Lock& lock) {
    state_->streams.close_for(EndOfContext{});
    if (state_->backend == nullptr || state_->gate.is_finished()) return;
    state_->streams.wait_until_idle(lock);
    state_->backend->context_ends(context);
    state_->code.forget_device_code();
  });
}

namespace {

// tell_costs() waits for a search that is under way.
template <class State>
void tell_costs(State& state) {
  state.follower.tracker().wait();
  const dro::DependenceTracker::Counters& found = state.follower.tracker().get().counters();
  log::debug(
      "dependences took at most {} steps and {} bytes a launch, {} and {} a footprint; {} "
      "launches were given up",
      found.dearest_launch.steps, found.dearest_launch.bytes, found.dearest_footprint.steps,
      found.dearest_footprint.bytes, found.given_up);
  const Budget::Cost& analysis = state.code.analyses().dearest;
  log::debug("an analysis took at most {} steps and {} bytes", analysis.steps, analysis.bytes);
  log::debug("{} of {} launches were repeated with their graphs", found.repeated, found.launches);
  const schedule::Planner::Count planned = state.runner.planned();
  log::debug("{} windows were ordered, {} as one before them", planned.ordered, planned.again);
}

}  // namespace

void Runtime::finish(std::chrono::milliseconds patience) {
  // What the program did not wait for is waited for here: no function of its own may run for that.
  const bool may_give_up = patience != forever;
  if (may_give_up) state_->device.hold_functions(true);
  state_->gate.enter([&](Gate::Lock& lock) {
    state_->streams.wait_until_idle(lock, patience);
    if (state_->gate.is_finished()) return;
    state_->gate.finish();
    state_->keep_figures();
    state_->work.analysing.drop();
    const GivenWindows::Count& ended = state_->streams.given().ended();
    log::info("{} launches ran as tasks in {} windows", ended.launches, ended.windows);
    if (ended.plainly != 0) log::info("{} were held back and then given plainly", ended.plainly);
    if (log::level() >= log::Level::debug) tell_costs(*state_);
    state_->observers.tell(&Observer::finished, state_->follower.journal());
    state_->follower.finish();
  });
  if (may_give_up) state_->device.hold_functions(false);
}

RaceObserver* Runtime::races() const {
  return state_->asked.races;
}

HostCopies* Runtime::copies() const {
  return state_->asked.copies;
}

dro::DependenceTracker::Counters Runtime::counters() const {
  const Gate::Lock lock = state_->gate.lock();
  state_->follower.tracker().wait();
  return state_->follower.tracker().get().counters();
}

Runtime::Outcome Runtime::outcome() const {
  Outcome outcome;
  const Gate::Lock lock = state_->gate.lock();
  if (state_->asked.summary != nullptr) {
    outcome.summary = state_->asked.summary->line(state_->follower.launches(),
                                                  state_->streams.given().ended().launches,
                                                  state_->policy.plain_speed());
  }
  if (state_->asked.check != nullptr)
    outcome.footprint_violations = state_->asked.check->violations();
  return outcome;
}

}  // namespace sluice::runtime
