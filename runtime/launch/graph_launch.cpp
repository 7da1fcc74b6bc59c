// A graph as its launches.
#include <algorithm>

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

}  // namespace

std::optional<int> Runtime::State::take(const GraphLaunch& graph, Gate::Lock& lock) {
  if (gate.is_shut() || !takes.transfers) return std::nullopt;
  streams.wait_for_room(lock, graph.stream);
  const std::span<const SluiceGraphStep> steps =
      device.graph_steps(graph.graph, graph.stream).steps;
  const auto is_kernel = [](const SluiceGraphStep& step) { return step.function != nullptr; };
  const bool is_known = std::ranges::all_of(steps, [&](const SluiceGraphStep& step) {
    return is_kernel(step) || can_be_launch(transfer_of(step, graph.stream));
  });
  const bool has_kernels = follower.launches() > 0 || std::ranges::any_of(steps, is_kernel);
  if (steps.empty() || !is_known || !has_kernels) return std::nullopt;
  const StreamWindows::Together together(streams, graph.stream);
  int first_error = 0;
  for (const SluiceGraphStep& step : steps) {
    const int result = with_launch(step, graph.stream, [&](const LaunchCall& call) {
      try {
        if (const std::optional<int> taken = take(call)) return *taken;
      } catch (...) {
        gate.fail();  // the driver gets this launch and those behind it
      }
      const WithoutWaiting scope(device);
      return device.launch(call);
    });
    if (first_error == 0) first_error = result;
  }
  return first_error;
}

}  // namespace sluice::runtime
