// What finding dependences may cost.
#pragma once

#include "relation/budget.hpp"

namespace sluice::dro {

// All that a launch takes: binding its footprint, and its dependences on every master. Past it the
// launch passes through.
constexpr Budget::Cost launch_cost = {1'000'000, uint64_t{64} << 20U};

// Reading a footprint that was not seen before. Past it every block is taken to touch whole
// buffers.
constexpr Budget::Cost footprint_cost = {4'000'000, uint64_t{256} << 20U};

// The same where nobody wants to wait: some hundred microseconds.
constexpr Budget::Cost quick_footprint_cost = {20'000, uint64_t{1} << 20U};

// Listing bytes by block, and finding edges in lists. What takes more is left to isl, which is
// quicker where many blocks meet many.
constexpr Budget::Cost listing_cost = {uint64_t{1} << 20U, uint64_t{16} << 20U};

}  // namespace sluice::dro
