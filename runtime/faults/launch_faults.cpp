#include "runtime/faults/launch_faults.hpp"

#include <utility>

#include "base/log.hpp"
#include "runtime/code/kernel.hpp"

namespace sluice::runtime {
namespace {

// Each takes milliseconds: of a kernel that asks for more, no more is known.
constexpr size_t most_flows = 64;

}  // namespace

void LaunchFaults::add_footprint(dro::FootprintId id, const analysis::Footprint& footprint) {
  footprints_[id] = std::make_shared<FootprintBytes>(footprint, context_);
  races_.replaced(id);
}

const analysis::ValueFlow* LaunchFaults::flow_of(const LaunchView& view) {
  const std::shared_ptr<Kernel>& kernel = view.launch.kernel.function->kernel;
  auto& known = flows_[kernel];
  std::vector<std::byte> scalars = view.scalars();
  auto entry = known.find(scalars);
  if (entry == known.end()) {
    if (known.size() >= most_flows) return nullptr;
    entry = known.try_emplace(std::move(scalars)).first;
    Result<analysis::ValueFlow> found = kernel->model->values(view.launch.kernel.parameters);
    if (found) {
      entry->second = std::move(*found);
    } else {
      log::info("{}: {}", kernel->name, found.error().line());
    }
  }
  return entry->second ? &*entry->second : nullptr;
}

void LaunchFaults::launched(const Known& launch) {
  const dro::FootprintId id = launch.bound->footprint->id;
  const auto bytes = footprints_.find(id);
  if (bytes == footprints_.end()) return;
  LaunchView view{launch, *bytes->second, {}};
  view.flow = [&] { return flow_of(view); };
  if (checks_.memory) bounds_.launched(view);
  if (checks_.races) races_.launched(id, view);
  if (checks_.init) initialisation_.launched(view);
}

}  // namespace sluice::runtime
