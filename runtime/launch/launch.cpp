// The way of one launch.
#include "base/log.hpp"
#include "runtime/state.hpp"

namespace sluice::runtime {
namespace {

void tell(Kernel& kernel, const std::string& reason) {
  if (log::level() < log::Level::info || !kernel.told.insert(reason).second) return;
  log::info("{}: launches pass through: {}", kernel.name, reason);
}

}  // namespace

std::optional<int> Runtime::State::take(const LaunchCall& call) {
  if (const int error = streams.take_error()) return error;
  if (gate.is_shut()) return std::nullopt;
  // To the policy a window begins when its first launch is called.
  const int64_t called = policy.compares() && !streams.holds_any() ? policy.now() : 0;
  const uint64_t stream = streams.number_of(call.stream);
  const dro::LaunchNumber number = follower.next_number();
  const Understood understood = reader.understand(call, number, called);
  if (const Reason* reason = reason_of(understood)) {
    pass(call, number, *reason);
    return std::nullopt;
  }
  const Known& launch = std::get<Known>(understood);
  Kernel& kernel = *launch.kernel.function->kernel;
  const Policy::Way way = policy.way(kernel.pay, call.grid.count());
  if (way == Policy::Way::aside) {
    pass(call, number, {&kernel, Policy::why_aside});
    return std::nullopt;
  }
  observers.tell(&Observer::launched, launch);
  if (races == nullptr) return give(launch, way);
  // Launches run one by one, in stream order, as without Sluice.
  if (follower.journal() != nullptr) follower.follow(launch, stream, "races are checked");
  return std::nullopt;
}

std::optional<int> Runtime::State::give(const Known& launch, Policy::Way way) {
  const LaunchCall& call = *launch.kernel.call;
  Kernel& kernel = *launch.kernel.function->kernel;
  const BlockCode& blocks = code.block_code(*launch.kernel.function, call);
  const uint64_t effort = follower.tracker().effort();
  const Dependences on = follower.follow(launch, streams.number_of(call.stream), blocks.failure);
  policy.spend(kernel.pay, follower.tracker().effort() - effort);
  policy.earn(kernel.pay, call.grid.count() * call.block.count());
  if (!blocks.failure.empty()) {
    tell(kernel, blocks.failure);
    observers.tell(&Observer::unchecked, kernel.name, blocks.failure);
    streams.close();
    return std::nullopt;
  }
  if (way == Policy::Way::tasks) return streams.hold(launch, blocks, on);
  streams.close();
  const std::optional<Policy::Sample> sample =
      policy.count_plain(kernel.pay, call.grid.count(), blocks.cost, launch.called);
  const int result = device.launch(call);
  if (result == 0 && sample) streams.when_done(call.stream, *sample);
  return result;
}

void Runtime::State::pass(const LaunchCall& call, dro::LaunchNumber number, const Reason& reason) {
  const std::string name = reason.kernel == nullptr ? "?" : reason.kernel->name;
  const std::string text = reason.text;
  streams.close();
  if (reason.kernel != nullptr) tell(*reason.kernel, text);
  observers.tell(&Observer::unchecked, name, text);
  follower.pass(number,
                {.kernel = name,
                 .grid = call.grid,
                 .block = call.block,
                 .stream = streams.number_of(call.stream),
                 .widening = reason.widening},
                text);
}

}  // namespace sluice::runtime
