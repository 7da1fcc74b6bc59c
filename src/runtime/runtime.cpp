#include "runtime/runtime.hpp"

#include <utility>

#include "runtime/state.hpp"

namespace sluice::runtime {
namespace {

// guarded() runs `call`, and where it throws turns the runtime off: nothing throws out of it into
// the user's program.
template <class State, class Call>
void guarded(State& state, Call&& call) noexcept {
  try {
    call(state);
  } catch (...) {
    state.turn_off();
  }
}

}  // namespace

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
  guarded(*state_, [&](State& state) { state.code_loaded(code, image); });
}

void Runtime::code_alias(void* code, void* original) {
  guarded(*state_, [&](State& state) { state.code_alias(code, original); });
}

void Runtime::code_unloaded(void* code) {
  guarded(*state_, [&](State& state) { state.code_unloaded(code); });
}

void Runtime::function_found(void* function, void* code, const char* kernel) {
  guarded(*state_, [&](State& state) { state.function_found(function, code, kernel); });
}

void Runtime::function_alias(void* function, void* original) {
  guarded(*state_, [&](State& state) { state.function_alias(function, original); });
}

void Runtime::memory_allocated(uint64_t address, uint64_t bytes) {
  guarded(*state_, [&](State& state) { state.memory_allocated(address, bytes); });
}

void Runtime::memory_freed(uint64_t address) {
  guarded(*state_, [&](State& state) { state.memory_freed(address); });
}

void Runtime::memory_written(uint64_t address, uint64_t bytes) {
  guarded(*state_, [&](State& state) { state.memory_written(address, bytes); });
}

void Runtime::pass_through(const char* kernel, const std::string& reason) {
  guarded(*state_, [&](State& state) { state.pass_through(kernel, reason); });
}

void Runtime::flush() {
  guarded(*state_, [&](State& state) { state.flush(); });
}

void Runtime::context_ends(void* context) {
  guarded(*state_, [&](State& state) { state.context_ends(context); });
}

void Runtime::finish(std::chrono::milliseconds patience) {
  guarded(*state_, [&](State& state) { state.finish(patience); });
}

int Runtime::launch(const LaunchCall& call) {
  return state_->launch(call);
}

bool Runtime::checks_races() const {
  return state_->checks_races();
}

void Runtime::ordered(const Ordering& ordering) {
  guarded(*state_, [&](State& state) { state.ordered(ordering); });
}

void Runtime::copied(const CopyCall& call) {
  guarded(*state_, [&](State& state) { state.copied(call); });
}

std::shared_ptr<const VectorClock> Runtime::host_function_queued(void* stream) {
  std::shared_ptr<const VectorClock> moment;
  guarded(*state_, [&](State& state) { moment = state.host_function_queued(stream); });
  return moment;
}

void Runtime::host_function_began(const std::shared_ptr<const VectorClock>& moment) {
  guarded(*state_, [&](State& state) { state.host_function_began(moment); });
}

uint64_t Runtime::races() const {
  return state_->races();
}

dro::DependenceTracker::Counters Runtime::counters() const {
  return state_->counters();
}

uint64_t Runtime::footprint_violations() const {
  return state_->footprint_violations();
}

}  // namespace sluice::runtime
