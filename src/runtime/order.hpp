// The order of a window's tasks: an optimisation, since any topological order is right.
//
// A launch is swept in the order of its blocks. Launches that follow each other are swept together,
// as a *band*: each goes as far behind the ones it waits for as its edges ask, and no farther, so
// that what one launch left in the cache the next still finds there. For a chain of stencils that
// is the skewed order (t, t + x) of time tiling; but nothing here knows of stencils. How far behind
// is read from the edges (TaskNeeds), and a band is as deep as the bytes between its first and its
// last sweep fit the cache. Where a launch waits for all of another, the band ends.
//
// Workers that take turns at one sweep read what another has just written, which on a machine whose
// processors share no last level takes longer than memory does. So where it costs a band no more
// than half of its depth, each worker has a *part* of it: its own stretch of every sweep, which
// moves forward from launch to launch as far as the edges ask, so that no part needs anything of
// the one before it, and of the one behind it only what that one has done first. Every second band
// is swept backward, from the last block to the first: then each worker begins where it has just
// ended, and waits for nobody there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "megakernel/layout.hpp"
#include "runtime/lane_cuts.hpp"
#include "runtime/task_needs.hpp"
#include "runtime/window.hpp"

namespace sluice::runtime {

// With 2048 threads a task, tickets and flags cost the host's workers more than they bring (FACTS:
// three times slower than no tasks at all); with this many they vanish. Larger tasks make a band's
// sweeps lie farther apart, so that fewer of them fit the cache.
constexpr uint64_t host_task_threads = 16384;
// A worker of a GPU runs the threads of a block at once: only blocks smaller than this share a
// ticket.
constexpr uint64_t device_task_threads = 512;

// OrderLimits say for which machine an order is made.
struct OrderLimits {
  uint64_t cache_bytes = 0;  // what the sweeps of a band may have between them; 0: no bands
  uint32_t workers = 1;
  uint32_t most_launches = 64;  // in a band
  uint64_t task_threads = host_task_threads;
  // Of all workers together, each its own; windows of fewer get lanes.
  uint64_t own_cache_bytes = 0;
  // Whether the host's workers run the windows. They find their lanes in a window, so bands may
  // have parts, and they measure blocks: until they have, a launch makes several tasks for each
  // worker, since a heavy launch in few tasks costs more than a light one in many.
  bool on_host = false;
  uint32_t stress = 0;  // not 0, for tests: the seed of random topological orders
};

// Band is a run of slots [first, end) that are swept together; each task keeps `slack` tasks of
// distance from its masters, so that no worker finds a master that another has just taken.
struct Band {
  uint32_t first = 0;
  uint32_t end = 0;
  uint32_t slack = 1;
  uint32_t parts = 1;  // one for each worker, or all of them share one
  bool is_backward = false;
  friend bool operator==(const Band&, const Band&) = default;
};

// find_bands() cuts the window's slots into bands, all in parts or none. `touched[i]` are the
// buffers of slot i.
std::vector<Band> find_bands(const megakernel::Window& window,
                             std::span<const std::span<const TouchedBuffer>> touched,
                             const OrderLimits& limits, TaskNeedsCache& needs);

// order_tasks() fills window.tasks from its slots and dependences, band after band, in a
// topological order, and the lanes where the bands have parts, which are as long as the workers are
// fast: `speeds`, of which only the ratios count, has one entry for each.
void order_tasks(megakernel::Window& window, std::span<const Band> bands,
                 std::span<const double> speeds, TaskNeedsCache& needs);

// order_in_lanes() fills window.tasks launch after launch and gives each worker its part of every
// launch, so that it finds in its cache what it left there: cuts[i], by which slot i was cut into
// tasks, says which. All cuts are for as many lanes. (Lanes in opposite directions, which need of
// each other what was run a round before, wait as long.)
void order_in_lanes(megakernel::Window& window, std::span<const LaneCut* const> cuts);

// order_randomly() fills window.tasks in a random topological order, for tests.
void order_randomly(megakernel::Window& window, uint32_t seed);

}  // namespace sluice::runtime
