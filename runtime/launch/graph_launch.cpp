// A graph as its launches.
#include <algorithm>
#include <cstring>
#include <span>

#include "runtime/state.hpp"

namespace sluice::runtime {
namespace {

Transfer transfer_of(const SluiceGraphStep& step, const StreamKey& stream) {
  return {.kind = step.is_fill != 0 ? Transfer::Kind::fill : Transfer::Kind::copy,
          .to = step.to,
          .from = step.from,
          .row_bytes = step.row_bytes,
          .rows = step.rows,
          .to_pitch = step.to_pitch,
          .from_pitch = step.from_pitch,
          .value = step.value,
          .element_bytes = step.element_bytes,
          .stream = stream};
}

template <class Call>
int with_launch(const SluiceGraphStep& step, const StreamKey& stream, Call&& call) {
  if (step.function == nullptr) return call(TransferLaunch(transfer_of(step, stream)).call());
  size_t bytes = step.parameter_bytes;
  // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
  void* extra[] = {reinterpret_cast<void*>(1), const_cast<void*>(step.parameters),
                   reinterpret_cast<void*>(2), &bytes, nullptr};
  return call(LaunchCall{.function = step.function,
                         .grid = {step.grid[0], step.grid[1], step.grid[2]},
                         .block = {step.block[0], step.block[1], step.block[2]},
                         .dynamic_shared_bytes = step.dynamic_shared_bytes,
                         .stream = stream,
                         .extra = bytes == 0 ? nullptr : extra});
}

// are_left_aside() is whether all kernels of a graph go to the device as they are, for which it
// takes less as one graph.
bool are_left_aside(std::span<const SluiceGraphStep> steps, CodeRegistry& code,
                    const Policy& policy) {
  const Policy::Phase* last = nullptr;
  const bool are_aside = std::ranges::all_of(steps, [&](const SluiceGraphStep& step) {
    if (step.function == nullptr) return true;
    const Function* const function = code.find(step.function);
    if (function == nullptr) return false;
    const Dim3 grid{step.grid[0], step.grid[1], step.grid[2]};
    const Dim3 block{step.block[0], step.block[1], step.block[2]};
    const Policy::Phase* const phase = function->kernel->pay.size(grid.count(), block).phase;
    if (phase == nullptr || (phase != last && !phase->is_left_aside(policy))) return false;
    last = phase;
    return true;
  });
  return are_aside && last != nullptr;
}

bool are_alike(const LaunchCall& call, const HeldLaunch& held) {
  return call.function == held.function && call.grid == held.grid && call.block == held.block &&
         call.dynamic_shared_bytes == held.dynamic_shared_bytes;
}

// has_parameters() is whether a call of with_launch() has these bytes.
bool has_parameters(const LaunchCall& call, std::span<const std::byte> bytes) {
  if (call.extra == nullptr) return bytes.empty();
  return *static_cast<const size_t*>(call.extra[3]) == bytes.size() &&
         std::memcmp(call.extra[1], bytes.data(), bytes.size()) == 0;
}

}  // namespace

std::optional<int> Runtime::State::take(const GraphLaunch& graph, Gate::Lock& lock) {
  if (gate.is_shut() || !takes.transfers) return std::nullopt;
  streams.wait_for_room(lock, graph.stream);
  const GraphSteps what = device.graph_steps(graph.graph, graph.stream);
  const std::span<const SluiceGraphStep> steps = what.steps;
  if (steps.empty()) return std::nullopt;
  if (const int error = streams.given().take_error()) return error;
  KnownGraph& known = follower.graphs().of(graph.graph, steps.size());
  if (repeat(known, what, graph.stream)) return 0;
  const auto is_kernel = [](const SluiceGraphStep& step) { return step.function != nullptr; };
  const bool is_known = std::ranges::all_of(steps, [&](const SluiceGraphStep& step) {
    return is_kernel(step) || can_be_launch(transfer_of(step, graph.stream));
  });
  const bool has_kernels = follower.launches() > 0 || std::ranges::any_of(steps, is_kernel);
  if (!is_known || !has_kernels || are_left_aside(steps, code, policy)) return std::nullopt;
  const dro::LaunchNumber first = follower.launches() + 1;
  const bool is_looked_at = ++known.runs >= known.next && reader.may_repeat();
  if (is_looked_at) follower.begin_row(known.row);
  known.nodes.resize(known.runs > 1 ? steps.size() : 0);
  StreamWindows::Together together(streams, graph.stream);
  int first_error = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const SluiceGraphStep& step = steps[i];
    GraphNode* const node = known.nodes.empty() ? nullptr : &known.nodes[i];
    const int result = with_launch(step, graph.stream, [&](const LaunchCall& call) {
      try {
        if (const std::optional<int> taken = take(call, node)) return *taken;
      } catch (...) {
        gate.fail();  // the driver gets this launch and those behind it
      }
      const WithoutWaiting scope(device);
      return device.launch(call);
    });
    if (first_error == 0) first_error = result;
  }
  if (is_looked_at && follower.end_row()) {
    known.held = together.held(known.row, first);
    known.moment = reader.moment();
    known.stream = graph.stream;
    known.kernels = static_cast<uint64_t>(std::ranges::count_if(steps, is_kernel));
    known.version = what.version;
    if (!count(known)) {
      known.held = {};
      known.next = 2 * known.runs;
    }
  }
  return first_error;
}

bool Runtime::State::repeat(KnownGraph& known, const GraphSteps& graph, const StreamKey& stream) {
  if (!known.held) return false;
  const bool is_same = known.moment == reader.moment() && known.stream == stream &&
                       (known.version == graph.version || renew(known, graph, stream));
  if (!is_same || !known.pay.may_go(policy)) {
    if (!is_same) known.held = {};
    return false;
  }
  const int64_t called = policy.compares() && !streams.holds_any() ? policy.now() : 0;
  const dro::LaunchNumber first = follower.launches() + 1;
  if (!follower.repeat(known.row)) return false;
  has_to_flush.store(true, std::memory_order_release);
  work.lead.launches();
  for (uint64_t i = 0; i < std::min<uint64_t>(known.kernels, 2); ++i)
    policy.habit().launched();
  StreamWindows::Together(streams, stream).hold(known.held, first, known.pay, called);
  return true;
}

// What is given is compared and not which versions are known: handles come to mean other graphs.
bool Runtime::State::renew(KnownGraph& known, const GraphSteps& graph, const StreamKey& stream) {
  const std::vector<HeldLaunch>& launches = known.held.row->launches;
  if (launches.size() != graph.steps.size()) return false;
  std::shared_ptr<std::vector<std::byte>> changed;
  for (size_t i = 0; i < launches.size(); ++i) {
    const HeldLaunch& held = launches[i];
    const bool is_same = with_launch(graph.steps[i], stream, [&](const LaunchCall& call) {
      if (!are_alike(call, held)) return false;
      const auto& bytes = changed == nullptr ? *known.held.parameters : *changed;
      const auto before = std::span(bytes).subspan(held.first_parameter_byte, held.parameter_bytes);
      if (has_parameters(call, before)) return true;
      const auto transfer = transfer_of(call);
      if ((transfer && !can_be_launch(*transfer)) || !reader.is_like(call, before)) return false;
      // Windows may still need the bytes as they were.
      if (changed == nullptr)
        changed = std::make_shared<std::vector<std::byte>>(*known.held.parameters);
      std::ranges::copy(reader.parameters(), changed->data() + held.first_parameter_byte);
      return true;
    });
    if (!is_same) return false;
  }
  if (changed != nullptr) known.held.parameters = std::move(changed);
  known.version = graph.version;
  return true;
}

// A row is compared as a whole, so its launches must be of one phase, and what their blocks cost
// known as far as it will be.
bool Runtime::State::count(KnownGraph& known) {
  if (!known.held) return false;
  known.pay = {.launches = known.held.row->launches.size()};
  for (const HeldLaunch& launch : known.held.row->launches) {
    Policy::Mark& kernel = code.find(launch.function)->kernel->pay;
    Policy::Phase* const phase = kernel.size(launch.grid.count(), launch.block).phase;
    const bool is_weighed = kernel.block_weight != 0 || launch.cost == nullptr;
    if (policy.compares() && (phase == nullptr || !is_weighed)) return false;
    if (known.pay.phase != nullptr && known.pay.phase != phase) return false;
    known.pay.phase = phase;
    known.pay.work += launch.grid.count() * std::max<uint64_t>(1, kernel.block_weight);
  }
  return true;
}

}  // namespace sluice::runtime
