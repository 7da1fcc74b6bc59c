// How the launches of a window are cut into time tiles of strips.
//
// Where a plane of a grid's blocks has many bytes, the sweeps of a time tile
// (tiles/time_tiles.hpp), which lie about a plane apart, soon have more between them than a cache
// holds. So planes are cut into *strips* of rows, and a tile is swept strip by strip: all its
// launches from the first plane to the last in one strip, then in the next one. From launch to
// launch a strip shifts backward as far as edges reach forward over its end: then it needs nothing
// of the strips behind it. These are the parallelograms of time tiling in two directions, and tasks
// are cut along them.
//
// Workers take strips in turn; each goes a few planes behind the one before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/machine.hpp"
#include "schedule/plan.hpp"
#include "schedule/task_cut.hpp"

namespace sluice::schedule {

// StripTile is a run of launches [first, end), each with at most one task in each strip of each
// plane.
struct StripTile {
  uint32_t first = 0;
  uint32_t end = 0;
  uint32_t strips = 0;  // 0: it is one launch, and cut otherwise
  bool waits = false;   // for all launches before it, since one of its own may wait for them whole
};

// Strips. The first task in a plane of launch i lies in strip first_strip[i] of its tile.
struct Strips {
  std::vector<StripTile> tiles;
  std::vector<TaskCut> cuts;  // by launch
  std::vector<uint32_t> first_strip;
};

// find_strips() finds those of a plan of which `launches` says what they touch, if memory has to
// bring a good part less for them than for the plan's tiles. Edges that are no fixed offsets end a
// tile. Throws std::bad_alloc.
std::optional<Strips> find_strips(const Plan& plan, std::span<const Launch> launches,
                                  const Machine& machine);

}  // namespace sluice::schedule
