#include "runtime/held_row.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "dro/rule/tracker.hpp"
#include "runtime/window.hpp"

namespace sluice::runtime {

GivenRow row_in(const LaunchWindow& window, const dro::LaunchRow& row, dro::LaunchNumber first,
                const dro::DependenceTracker& tracker) {
  const std::span<const HeldLaunch> all = window.launches();
  if (row.size() == 0 || all.size() < row.size()) return {};
  const size_t before = all.size() - row.size();
  const std::span<const HeldLaunch> launches = all.subspan(before);
  if (launches.front().number != first || launches.back().number != first + row.size() - 1)
    return {};
  auto made = std::make_shared<HeldRow>();
  size_t touched = 0;
  for (const HeldLaunch& launch : all.first(before))
    touched += launch.touched_count;
  const std::span<const TouchedBuffer> buffers = window.touched().subspan(touched);
  made->touched.assign(buffers.begin(), buffers.end());
  const std::byte* const parameters = window.parameters(launches.front());
  auto kept = std::make_shared<const std::vector<std::byte>>(
      parameters, window.parameters(launches.back()) + launches.back().parameter_bytes);
  made->launches.assign(launches.begin(), launches.end());
  for (size_t i = 0; i < row.size(); ++i) {
    HeldLaunch& launch = made->launches[i];
    launch.number = i;
    launch.first_parameter_byte -= launches.front().first_parameter_byte;
    launch.dependence_count = row.launches()[i].dependence_count;
  }
  for (const dro::RowDependence& one : row.dependences())
    made->dependences.push_back({one, &tracker.edge_table(one.edges)});
  return {std::move(made), std::move(kept)};
}

}  // namespace sluice::runtime
