#include "runtime/stream/planned_window.hpp"

namespace sluice::runtime {
namespace {

// next_events() is the place of the event, of each launch's stream, that comes next after it.
std::vector<uint32_t> next_events(const LaunchWindow& window) {
  const std::vector<HeldEvent>& events = window.parts().events();
  std::vector<uint32_t> next(window.size(), megakernel::no_milestone);
  std::vector<uint32_t> of_part(window.parts().all().size(), megakernel::no_milestone);
  auto event = static_cast<uint32_t>(events.size());
  for (auto launch = static_cast<uint32_t>(window.size()); launch-- > 0;) {
    for (; event > 0 && events[event - 1].launches > launch; --event)
      of_part[events[event - 1].part] = event - 1;
    next[launch] = of_part[window.launches()[launch].part];
  }
  return next;
}

}  // namespace

void PlannedWindow::plan(schedule::Planner& planner, megakernel::WindowBackend* backend) {
  held.unfold();
  launches.reserve(held.size());
  tables.code.reserve(held.size());
  std::vector<schedule::Launch> asked;
  asked.reserve(held.size());
  std::span<const schedule::Dependence> dependences = held.dependences();
  std::span<const schedule::TouchedBuffer> touched = held.touched();
  for (const HeldLaunch& launch : held.launches()) {
    launches.push_back({held.parameters(launch),
                        {launch.grid.x, launch.grid.y, launch.grid.z},
                        launch.dynamic_shared_bytes});
    tables.code.push_back({.code = launch.code,
                           .launch = &launches.back(),
                           .runner = launch.runner.get(),
                           .cost = launch.cost,
                           .device = launch.device.get(),
                           .parameter_bytes = static_cast<uint32_t>(launch.parameter_bytes)});
    asked.push_back({.grid = launch.grid,
                     .block = launch.block,
                     .block_nanoseconds = launch.cost == nullptr ? 0 : launch.cost->nanoseconds(),
                     .dependences = dependences.first(launch.dependence_count),
                     .touched = touched.first(launch.touched_count)});
    dependences = dependences.subspan(launch.dependence_count);
    touched = touched.subspan(launch.touched_count);
  }
  tables.milestones.reserve(held.parts().events().size());
  for (HeldEvent& event : held.parts().events())
    tables.milestones.push_back({[&event] { event.promise = nullptr; }, event.after});
  if (!held.parts().events().empty()) tables.milestone_of = next_events(held);
  if (backend != nullptr) {
    const megakernel::WindowBackend::Capacity capacity =
        backend->capacity(tables, held.stream().context);
    planner.fit(capacity.workers, capacity.cache_bytes, capacity.memory_bytes);
  }
  tables.plan = planner.plan(asked);
}

}  // namespace sluice::runtime
