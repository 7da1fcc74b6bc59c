#include "runtime/races/race_observer.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/calls/python_place.hpp"
#include "runtime/code/kernel.hpp"

namespace sluice::runtime {
void RaceObserver::copied(const CopyCall& call) {
  gate_.enter_open([&] {
    std::vector<RaceCheck::CopyRange> ranges;
    const auto add = [&](uint64_t address, bool writes) {
      const std::optional<Allocation> found = buffers_.find(address);
      if (!found || call.bytes == 0) return;
      const auto first = int64_t(address - found->address);
      ranges.push_back({{found->buffer, found->bytes, -1, found->address},
                        {first, first + int64_t(call.bytes)},
                        writes});
    };
    add(call.to, true);
    if (call.from != 0) add(call.from, false);
    Action action{.name = call.function};
    if (call.site != nullptr) action.site = *call.site;
    if (!ranges.empty()) copy(call.stream, action, ranges);
    if (call.host_waits) clocks().stream_done(call.stream);
  });
}

void RaceObserver::perhaps_written(uint64_t address, uint64_t bytes) {
  gate_.enter_open([&] {
    const std::optional<Allocation> found = buffers_.find(address);
    if (!found) return;
    const uint64_t begin = address - found->address;
    const uint64_t end = begin + std::min(bytes, found->bytes - begin);
    launches_.written(found->buffer, {int64_t(begin), int64_t(end)});
  });
}

std::shared_ptr<const VectorClock> RaceObserver::host_function_queued(const StreamKey& stream) {
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

void RaceObserver::launched(const Known& launch) {
  std::vector<AccessedBytes> accessed;
  const analysis::KernelSignature& signature = launch.kernel.function->kernel->model->signature();
  for (size_t i = 0; i < launch.bound->arguments.size(); ++i) {
    const BoundPointer& pointer = launch.kernel.pointers[i];
    accessed.push_back({launch.bound->arguments[i].buffer, pointer.end - pointer.begin,
                        argument_number(signature, signature.pointers[i]), pointer.begin});
  }
  const Action action = action_of(launch);
  note_launch(action.name, action.site.python);
  to_trace_ = RaceCheck::launch(launch.kernel.call->stream, action, launch.bound->footprint->id,
                                accessed, launch.bound->arguments);
}

void tell_clocks(RaceObserver& races, const std::function<void(StreamClocks&)>& call) {
  races.tell(call);
}
void tell_copied(RaceObserver& races, const CopyCall& call) {
  races.copied(call);
}
void tell_perhaps_written(RaceObserver& races, uint64_t address, uint64_t bytes) {
  races.perhaps_written(address, bytes);
}
void tell_unknown_call(RaceObserver& races) {
  races.called_unknown();
}
std::shared_ptr<const VectorClock> host_function_queued(RaceObserver& races,
                                                        const StreamKey& stream) {
  return races.host_function_queued(stream);
}
void host_function_began(RaceObserver& races, const std::shared_ptr<const VectorClock>& moment) {
  races.host_function_began(moment);
}

}  // namespace sluice::runtime
