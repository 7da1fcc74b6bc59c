// The runtime under a check for races: launches run one by one, in stream order, as without Sluice.
#include <fmt/format.h>

#include "runtime/state.hpp"

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

int Runtime::State::launch_for_races(const LaunchCall& call, dro::LaunchNumber number,
                                     const Function& function) {
  const Kernel& kernel = *function.kernel;
  Action action{kernel.name, number, call.grid, call.block, {}, {}};
  if (call.site != nullptr) action.site = *call.site;
  std::vector<AccessedBytes> accessed;
  const analysis::KernelSignature& signature = kernel.model->signature();
  for (size_t i = 0; i < bound_->arguments.size(); ++i) {
    const dro::BoundArgument& argument = bound_->arguments[i];
    const int64_t place = argument_number(signature, signature.pointers[i]);
    accessed.push_back({argument.buffer, pointers_[i].end - pointers_[i].begin, place});
    if (argument.buffer == 0) continue;
    action.arguments += fmt::format("{}{}: buffer {}", action.arguments.empty() ? "" : ", ", place,
                                    argument.buffer);
    if (argument.offset != 0) action.arguments += fmt::format(" + {}", argument.offset);
  }
  races_->launch(call.stream, action, bound_->footprint->id, accessed, bound_->arguments);
  describe(call, kernel.name, "races are checked");
  if (journal_ != nullptr) {
    dependences_.clear();
    tracker_.launch({number, bound_->footprint->id, bound_->arguments}, dependences_);
  }
  return pass_on();
}

void Runtime::State::ordered(const Ordering& ordering) {
  const Lock lock(mutex_);
  if (races_ == nullptr || passes_all()) return;
  StreamClocks& clocks = races_->clocks();
  switch (ordering.kind) {
    case Ordering::Kind::event_recorded:
      return clocks.event_recorded(ordering.event, ordering.stream);
    case Ordering::Kind::event_destroyed:
      return clocks.event_destroyed(ordering.event);
    case Ordering::Kind::stream_waits:
      return clocks.stream_waits(ordering.stream, ordering.event);
    case Ordering::Kind::event_done:
      return clocks.event_done(ordering.event);
    case Ordering::Kind::stream_done:
      return clocks.stream_done(ordering.stream);
    case Ordering::Kind::device_done:
      return clocks.device_done();
    case Ordering::Kind::blocking_stream_created:
      return clocks.created(ordering.stream, false);
    case Ordering::Kind::non_blocking_stream_created:
      return clocks.created(ordering.stream, true);
    case Ordering::Kind::stream_destroyed:
      return clocks.destroyed(ordering.stream);
  }
}

void Runtime::State::copied(const CopyCall& call) {
  const Lock lock(mutex_);
  if (races_ == nullptr || passes_all()) return;
  std::vector<RaceCheck::CopyRange> ranges;
  const auto add = [&](uint64_t address, bool writes) {
    const std::optional<Allocation> found = memory_.find(address);
    if (!found || call.bytes == 0) return;
    const auto first = int64_t(address - found->address);
    ranges.push_back(
        {{found->buffer, found->bytes, -1}, first, first + int64_t(call.bytes) - 1, writes});
  };
  add(call.to, true);
  if (call.from != 0) add(call.from, false);
  Action action;
  action.name = call.function;
  if (call.site != nullptr) action.site = *call.site;
  if (!ranges.empty()) races_->copy(call.stream, action, ranges);
  if (call.host_waits) races_->clocks().stream_done(call.stream);
}

std::shared_ptr<const VectorClock> Runtime::State::host_function_queued(void* stream) {
  const Lock lock(mutex_);
  if (races_ == nullptr || passes_all()) return nullptr;
  return std::make_shared<const VectorClock>(races_->clocks().moment_of(stream));
}

void Runtime::State::host_function_began(const std::shared_ptr<const VectorClock>& moment) {
  const Lock lock(mutex_);
  if (races_ != nullptr && moment != nullptr) races_->clocks().moment_done(*moment);
}

uint64_t Runtime::State::races() {
  const Lock lock(mutex_);
  return races_ == nullptr ? 0 : races_->races();
}

}  // namespace sluice::runtime
