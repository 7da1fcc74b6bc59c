// What windows cost on a device, as scripts/gpu-day measured it there.
#pragma once

#include <optional>
#include <string>

#include "megakernel/window_backend.hpp"

namespace sluice::interpose {

// measured_costs() reads what is kept of the device of that name: a file in the folder that
// SLUICE_WINDOW_COSTS names, or else in the user's cache folder. Nothing where there is none, or
// where it is not as gpu-day writes it.
std::optional<megakernel::WindowBackend::Costs> measured_costs(const std::string& device);

}  // namespace sluice::interpose
