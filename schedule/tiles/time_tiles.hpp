// How the launches of a window are cut into time tiles.
//
// A launch is swept in the order of its blocks. Launches that follow each other are swept together,
// as a *time tile*: each goes as far behind the ones it waits for as its edges ask, and no farther,
// so that what one launch left in the cache the next still finds there. For a chain of stencils
// that is the skewed order (t, t + x) of time tiling; but nothing here knows of stencils. How far
// behind is read from the edges (task_edges.hpp), and a tile is as deep as the bytes between its
// first and its last sweep fit the cache. Where a launch waits for all of another, the tile ends.
//
// Workers that take turns at one sweep read what another has just written, which on a machine whose
// processors share no last level takes longer than memory does. So where it costs a tile no more
// than half of its depth, each worker has a *part* of it (tile_parts.hpp): its own stretch of every
// sweep, which moves forward from launch to launch as far as the edges ask, so that no part needs
// anything of the one before it, and of the one behind it only what that one has done first. Every
// second tile is swept backward, from the last block to the first: then each worker begins where it
// has just ended, and waits for nobody there.
#pragma once

#include <span>
#include <vector>

#include "schedule/machine.hpp"
#include "schedule/plan.hpp"

namespace sluice::schedule {

// A slave that far behind, in sweeps, leaves nothing to be shared with the end of its master's.
constexpr double longest_lag = 0.75;

// find_time_tiles() cuts the plan's launches, of which `launches` says what they touch, into tiles,
// all in parts or none. Without cache bytes each launch is a tile.
std::vector<TimeTile> find_time_tiles(const Plan& plan, std::span<const Launch> launches,
                                      const Machine& machine);

}  // namespace sluice::schedule
