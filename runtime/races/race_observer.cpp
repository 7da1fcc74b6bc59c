#include "runtime/races/race_observer.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "runtime/code/kernel.hpp"

namespace sluice::runtime {
namespace {

int64_t argument_number(const analysis::KernelSignature& signature,
                        const analysis::ParameterSlot& pointer) {
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const analysis::ParameterSlot& parameter = signature.parameters[i];
    if (pointer.offset >= parameter.offset && pointer.offset < parameter.offset + parameter.size) {
      return int64_t(i);
    }
  }
  return -1;
}

}  // namespace

void RaceObserver::copied(const CopyCall& call) {
  gate_.enter_open([&] {
    std::vector<RaceCheck::CopyRange> ranges;
    const auto add = [&](uint64_t address, bool writes) {
      const std::optional<Allocation> found = buffers_.find(address);
      if (!found || call.bytes == 0) return;
      const auto first = int64_t(address - found->address);
      ranges.push_back(
          {{found->buffer, found->bytes, -1}, {first, first + int64_t(call.bytes)}, writes});
    };
    add(call.to, true);
    if (call.from != 0) add(call.from, false);
    Action action{.name = call.function};
    if (call.site != nullptr) action.site = *call.site;
    if (!ranges.empty()) copy(call.stream, action, ranges);
    if (call.host_waits) clocks().stream_done(call.stream);
  });
}

std::shared_ptr<const VectorClock> RaceObserver::host_function_queued(void* stream) {
  std::shared_ptr<const VectorClock> moment;
  gate_.enter_open(
      [&] { moment = std::make_shared<const VectorClock>(clocks().moment_of(stream)); });
  return moment;
}

void RaceObserver::host_function_began(const std::shared_ptr<const VectorClock>& moment) {
  gate_.enter([&](Gate::Lock&) {
    if (moment != nullptr) clocks().moment_done(*moment);
  });
}

uint64_t RaceObserver::found() const {
  const Gate::Lock lock = gate_.lock();
  return races();
}

void RaceObserver::launched(const Known& launch) {
  const LaunchCall& call = *launch.kernel.call;
  const Kernel& kernel = *launch.kernel.function->kernel;
  Action action{kernel.name, launch.number, call.grid, call.block, {}, {}};
  if (call.site != nullptr) action.site = *call.site;
  std::vector<AccessedBytes> accessed;
  const analysis::KernelSignature& signature = kernel.model->signature();
  for (size_t i = 0; i < launch.bound->arguments.size(); ++i) {
    const dro::BoundArgument& argument = launch.bound->arguments[i];
    const BoundPointer& pointer = launch.kernel.pointers[i];
    const int64_t place = argument_number(signature, signature.pointers[i]);
    accessed.push_back({argument.buffer, pointer.end - pointer.begin, place});
    if (argument.buffer == 0) continue;
    action.arguments += fmt::format("{}{}: buffer {}", action.arguments.empty() ? "" : ", ", place,
                                    argument.buffer);
    if (argument.offset != 0) action.arguments += fmt::format(" + {}", argument.offset);
  }
  RaceCheck::launch(call.stream, action, launch.bound->footprint->id, accessed,
                    launch.bound->arguments);
}

}  // namespace sluice::runtime
