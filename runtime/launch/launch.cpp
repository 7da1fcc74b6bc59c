// The way of one launch.
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "runtime/code/kept_figures.hpp"
#include "runtime/launch/waiting.hpp"
#include "runtime/state.hpp"

namespace sluice::runtime {
namespace {

void tell(Kernel& kernel, const std::string& reason) {
  if (log::level() < log::Level::info || !kernel.told.insert(reason).second) return;
  log::info("{}: launches pass through: {}", kernel.name, reason);
}

std::string name_in(const Reason& reason) {
  return reason.kernel == nullptr ? "?" : reason.kernel->name;
}

}  // namespace

std::optional<int> Runtime::State::take(const LaunchCall& call, GraphNode* node) {
  if (const int error = streams.given().take_error()) return error;
  if (gate.is_shut()) return std::nullopt;
  has_to_flush.store(true, std::memory_order_release);
  work.lead.launches();
  // To the policy a window begins when its first launch is called.
  const int64_t called = policy.compares() && !streams.holds_any() ? policy.now() : 0;
  const dro::StreamName stream = streams.name_of(call.stream);
  const dro::LaunchNumber number = follower.next_number();
  const Understood understood = reader.understand(call, number, called, node);
  // Who waits for a copy after each kernel waits for each kernel.
  if (!transfer_of(call)) policy.habit().launched();
  if (const Reason* reason = reason_of(understood)) {
    pass(call, number, *reason);
    return std::nullopt;
  }
  const Known& launch = std::get<Known>(understood);
  Kernel& kernel = *launch.kernel.function->kernel;
  const Policy::Way way = policy.way(kernel.pay, call.grid.count(), call.block);
  if (way == Policy::Way::aside) {
    pass(call, number, {&kernel, policy.why_aside()});
    return std::nullopt;
  }
  observers.tell(&Observer::launched, launch);
  if (asked.races == nullptr) return way == Policy::Way::plain ? measure(launch) : give(launch);
  // Launches run one by one, in stream order, as without Sluice.
  if (follower.journal() != nullptr) follower.follow(launch, stream, "races are checked", 0);
  const std::shared_ptr<TracedBytes> traced = asked.races->to_trace();
  if (traced == nullptr) return std::nullopt;
  const std::optional<int> given =
      asked.faults->checks().traces ? run_traced(device, launch, traced) : std::nullopt;
  if (!given) traced->give_up();
  return given;
}

bool Runtime::State::is_launch(const Transfer& transfer) const {
  return follower.launches() > 0 && can_be_launch(transfer);
}

bool Runtime::State::can_be_launch(const Transfer& transfer) const {
  const std::optional<Allocation> to = buffers.find(transfer.to);
  const bool may_watch = !transfer.host_waits;
  return takes.transfers && to && !is_flag(*to) && is_simple(transfer) &&
         holds(transfer.to, transfer.to_extent(), may_watch) &&
         (transfer.kind != Transfer::Kind::copy ||
          holds(transfer.from, transfer.from_extent(), may_watch));
}

bool Runtime::State::holds(uint64_t address, uint64_t bytes, bool host_may_watch) const {
  const std::optional<Allocation> found = buffers.find(address);
  return found && bytes <= found->bytes && address - found->address <= found->bytes - bytes &&
         (host_may_watch || !found->host_may_watch);
}

std::optional<int> Runtime::State::give(const Known& launch) {
  const LaunchCall& call = *launch.kernel.call;
  const BlockCode& blocks = code.block_code(*launch.kernel.function, call);
  const std::optional<Dependences> on = find(launch, blocks.failure);
  if (!on) return std::nullopt;
  if (!blocks.failure.empty()) {
    give_up(launch, blocks.failure);
    return std::nullopt;
  }
  return streams.hold(launch, blocks, *on);
}

// What it depends on is not looked for: that would take time which plain launches do not take, and
// which the device may have to wait for.
int Runtime::State::measure(const Known& launch) {
  const LaunchCall& call = *launch.kernel.call;
  Kernel& kernel = *launch.kernel.function->kernel;
  const BlockCode& blocks = code.block_code(*launch.kernel.function, call);
  pass_unsaid(call, launch.number, {&kernel, Policy::why_plain});
  const std::optional<Policy::Sample> sample =
      policy.count_plain(kernel.pay, call.grid.count(), blocks.cost, launch.called);
  const WithoutWaiting scope(device);
  const int result = device.launch(call);
  if (result == 0 && sample) streams.when_done(call.stream, *sample);
  return result;
}

std::optional<Dependences> Runtime::State::find(const Known& launch,
                                                const std::string& passed_through) {
  const LaunchCall& call = *launch.kernel.call;
  const std::shared_ptr<Kernel>& kernel = launch.kernel.function->kernel;
  Policy::Mark::Size& size = policy.compares() ? size_of(*kernel, call.grid, call.block)
                                               : kernel->pay.size(call.grid.count(), call.block);
  Policy::Account& pay = size.account;
  if (const auto last = std::exchange(work.last_search, nullptr)) {
    Policy::Account& account = work.last_size->account;
    spend(policy, account, last->nanoseconds);
    if (account.steps.add(last->steps)) keep_steps(work.last_kernel, *work.last_size);
    work.last_kernel = nullptr;
  }
  const bool may_be_new = is_new_quick(policy, pay) && policy.may_follow(pay);
  if (!may_be_new && !follower.knows(launch)) {
    if (policy.may_follow(pay)) return find_in_background(launch, passed_through);
    pass(call, launch.number, {kernel.get(), pay.why_not.c_str()});
    return std::nullopt;
  }
  dro::DependenceTracker& tracker = follower.tracker().get();
  const uint64_t effort = tracker.effort();
  const int64_t began = policy.compares() ? policy.now() : 0;
  const std::optional<Dependences> on = follower.follow(
      launch, streams.name_of(call.stream), passed_through, streams.first_held(launch.number));
  pay.followed(call.grid.count() * call.block.count());
  const uint64_t steps = tracker.effort() - effort;
  if (!on) give_up(launch, dro::why_given_up);
  if (steps == 0) return on;
  if (policy.compares() && pay.steps.add(steps)) keep_steps(kernel, size);
  const int64_t taken = policy.compares() ? policy.now() - began : nanoseconds_of_steps(steps);
  // A kernel's first launch mostly finds nothing that it depends on: others may take much longer.
  if (pay.launches > 1 || !on || !on->empty()) {
    spend(policy, pay, taken);
  } else {
    charge(policy, pay, taken);
  }
  waiting().waited(taken, call.stream);
  return on;
}

std::optional<Dependences> Runtime::State::find_in_background(const Known& launch,
                                                              const std::string& passed_through) {
  const LaunchCall& call = *launch.kernel.call;
  std::shared_ptr<const LaunchFollower::Search> search =
      follower.begin(launch, streams.name_of(call.stream), passed_through,
                     streams.first_held(launch.number), work.clock);
  work.last_kernel = launch.kernel.function->kernel;
  work.last_size = &work.last_kernel->pay.size(call.grid.count(), call.block);
  work.last_size->account.followed(call.grid.count() * call.block.count());
  work.last_search = search;
  work.last_from = work.finding.spent();
  if (waiting().for_end_of(follower.tracker().away(), call.stream) || !follower.give_up()) {
    follower.tracker().wait();
    if (search->is_followed) return search->found;
    give_up(launch, dro::why_given_up);
    return std::nullopt;
  }
  observers.tell(&Observer::unchecked, launch.kernel.function->kernel->name,
                 std::string(LaunchFollower::why_late));
  close_before(call);
  return std::nullopt;
}

void Runtime::State::keep_steps(const std::shared_ptr<Kernel>& kernel,
                                const Policy::Mark::Size& size) {
  work.finding.run(
      [kernel, kept = figures_of(size)] { kernel->model->keep_figures(kept.name, kept.figures); });
}

void Runtime::State::keep_figures() {
  if (const auto last = std::exchange(work.last_search, nullptr)) {
    const bool has_ended = !follower.tracker().is_lent();
    spend(policy, work.last_size->account,
          has_ended ? last->nanoseconds : work.finding.spent() - work.last_from);
  }
  code.for_each_kernel([&](Kernel& kernel) {
    keep_unfinished(kernel, work.analysing.spent());
    keep_in_vain(kernel, policy);
  });
}

void Runtime::State::give_up(const Known& launch, const std::string& why) {
  Kernel& kernel = *launch.kernel.function->kernel;
  tell(kernel, why);
  observers.tell(&Observer::unchecked, kernel.name, why);
  close_before(*launch.kernel.call);
}

void Runtime::State::pass(const LaunchCall& call, dro::LaunchNumber number, const Reason& reason) {
  if (reason.kernel != nullptr) tell(*reason.kernel, reason.text);
  observers.tell(&Observer::unchecked, name_in(reason), reason.text);
  pass_unsaid(call, number, reason);
}

void Runtime::State::pass_unsaid(const LaunchCall& call, dro::LaunchNumber number,
                                 const Reason& reason) {
  const std::string text = reason.text;
  close_before(call);
  follower.pass(number,
                {.kernel = name_in(reason),
                 .grid = call.grid,
                 .block = call.block,
                 .stream = streams.name_of(call.stream),
                 .widening = reason.widening},
                text);
}

}  // namespace sluice::runtime
