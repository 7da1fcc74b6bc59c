#include "hostcuda/jit/warp/exchange.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/log.hpp"
#include "hostcuda/jit/library/wait_turns.hpp"
#include "hostcuda/jit/warp/exchange_view.hpp"
#include "hostcuda/jit/warp/matrix_operations.hpp"
#include "hostcuda/jit/warp/meetings.hpp"
#include "hostcuda/jit/warp/warp_operations.hpp"

namespace sluice::hostcuda::jit {
namespace {

// The slots of a warp that lacks lanes are copied to where there is room for all.
void run_matrix(const ExchangeLayout& layout, const ptx::matrix_call::Operation& operation,
                uint32_t first, unsigned char* memory) {
  using namespace ptx::matrix_call;
  const size_t bytes = slot_bytes(operation);
  auto* slots = reinterpret_cast<std::byte*>(memory) + layout.slots + first * bytes;
  const WarpSlots in_block{slots, layout.threads * bytes};
  const size_t lanes = std::min(warp_size, layout.threads - first);
  if (lanes == warp_size) return run_matrix_operation(operation, in_block);
  std::vector<std::byte> room(bytes * warp_size *
                              (input_slots(operation) + result_slots(operation)));
  const WarpSlots whole{room.data(), warp_size * bytes};
  const unsigned inputs = input_slots(operation);
  for (unsigned i = 0; i < inputs; ++i)
    std::memcpy(whole.slot(i), in_block.slot(i), lanes * bytes);
  run_matrix_operation(operation, whole);
  for (unsigned i = inputs; i < inputs + result_slots(operation); ++i)
    std::memcpy(in_block.slot(i), whole.slot(i), lanes * bytes);
}

void run_warp(SyncOperation operation, uint32_t participants, uint32_t first,
              const ExchangeView& view) {
  WarpOperands operands;
  operands.value = view.value + first;
  operands.lane = view.lane + first;
  operands.clamp = view.clamp + first;
  run_warp_operation(operation, participants, operands, view.result + first,
                     view.predicate + first);
}

// Combines the predicates of the block's threads for which `takes_part` holds.
template <class TakesPart>
void run_block(SyncOperation operation, uint32_t threads, const ExchangeView& view,
               TakesPart takes_part) {
  if (operation == SyncOperation::barrier) return;
  uint32_t set = 0;
  uint32_t all = 0;
  for (uint32_t t = 0; t < threads; ++t) {
    if (!takes_part(t)) continue;
    ++all;
    set += view.value[t] != 0;
  }
  uint64_t result = set;
  if (operation == SyncOperation::barrier_and) result = set == all;
  if (operation == SyncOperation::barrier_or) result = set != 0;
  for (uint32_t t = 0; t < threads; ++t) {
    if (takes_part(t)) view.result[t] = result;
  }
}

enum class Release { complete, meeting, forced, yielding };

// Whether groups that wait for this operation may go on in this way.
bool is_asked_for(SyncOperation operation, Release kind) {
  if (is_block_wide(operation)) return false;
  if (operation == SyncOperation::yield) return kind == Release::yielding;
  if (operation == SyncOperation::meeting) return kind == Release::meeting;
  return kind == Release::complete || kind == Release::forced;
}

// Releases the groups of one warp that are complete, or any group if forced, or those that only
// let others run, or the lanes at their first meeting.
bool release_warp(const ExchangeLayout& layout, const ExchangeView& view, unsigned char* memory,
                  uint32_t first, Release kind) {
  const bool force = kind == Release::forced;
  const uint32_t lanes = std::min(warp_size, layout.threads - first);
  bool released = false;
  if (kind == Release::yielding) count_try(layout, view, first);
  const int32_t first_meeting = kind == Release::meeting ? next_meeting(layout, view, first) : 0;
  for (uint32_t leader = 0; leader < lanes; ++leader) {
    const int32_t waits = view.state[first + leader];
    if (waits >= 0 || waits == exited) continue;
    if (kind == Release::meeting && waits != first_meeting) continue;
    const PointCode& code = layout.points()[-waits - 1];
    const SyncOperation operation = code.operation;
    if (!is_asked_for(operation, kind)) continue;
    uint32_t here = 0;
    uint32_t alive = 0;
    const bool exact = !takes_whoever_is_there(operation);
    const bool is_matrix = operation == SyncOperation::matrix;
    const auto mask_of = [&](uint32_t lane) { return is_matrix ? ~0U : view.mask[first + lane]; };
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const int32_t state = view.state[first + lane];
      if (state != exited) alive |= 1u << lane;
      const bool same_mask = !exact || mask_of(lane) == mask_of(leader);
      if (state == waits && same_mask) here |= 1u << lane;
    }
    const uint32_t wanted = exact ? mask_of(leader) & alive : 0;
    if ((wanted & ~here) != 0 && !force) continue;
    if (is_matrix) {
      run_matrix(layout, code.matrix, first, memory);
    } else {
      run_warp(operation, here, first, view);
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (here >> lane & 1) view.state[first + lane] = -waits;
    }
    released = true;
  }
  return released;
}

bool release_warps(const ExchangeLayout& layout, const ExchangeView& view, unsigned char* memory,
                   Release kind) {
  bool released = false;
  for (uint32_t first = 0; first < layout.threads; first += warp_size) {
    const bool complete = release_warp(layout, view, memory, first, kind);
    released |= complete;
    if (kind != Release::complete || complete) continue;
    released |= release_warp(layout, view, memory, first, Release::meeting);
  }
  return released;
}

bool waits_at_barrier(const ExchangeLayout& layout, const ExchangeView& view, uint32_t thread) {
  const int32_t state = view.state[thread];
  return state < 0 && state != exited && is_block_wide(layout.points()[-state - 1].operation);
}

uint32_t number_of(const ExchangeLayout& layout, const ExchangeView& view, uint32_t thread) {
  return layout.has_numbered_barriers != 0 ? view.lane[thread] : 0;
}

// A barrier's count is in whole warps, so lanes that a ragged last warp lacks count as there.
uint32_t missing_lanes(const ExchangeLayout& layout) {
  return (warp_size - layout.threads % warp_size) % warp_size;
}

// Whether the threads at a barrier, of which `leader` is the first, wait for nobody any more.
bool is_complete(const ExchangeLayout& layout, const ExchangeView& view, uint32_t leader) {
  const uint32_t number = number_of(layout, view, leader);
  uint32_t waiting = 0;
  uint32_t alive = 0;
  for (uint32_t t = 0; t < layout.threads; ++t) {
    alive += view.state[t] != exited;
    waiting += waits_at_barrier(layout, view, t) && number_of(layout, view, t) == number;
  }
  if (layout.has_numbered_barriers == 0) return waiting == alive;
  const uint32_t count = view.clamp[leader];
  const uint32_t arrived = waiting + view.arrived[number];
  if (count == 0) return arrived >= alive;
  const bool has_last = waits_at_barrier(layout, view, layout.threads - 1) &&
                        number_of(layout, view, layout.threads - 1) == number;
  return arrived + (has_last ? missing_lanes(layout) : 0) >= count;
}

// Releases the threads at one barrier that is complete; `force` takes any as complete.
bool release_barrier(const ExchangeLayout& layout, const ExchangeView& view, bool force) {
  uint32_t seen = 0;
  for (uint32_t t = 0; t < layout.threads; ++t) {
    if (!waits_at_barrier(layout, view, t)) continue;
    const uint32_t number = number_of(layout, view, t);
    if ((seen >> number & 1) != 0) continue;
    seen |= 1u << number;
    if (!force && !is_complete(layout, view, t)) continue;
    const auto takes_part = [&](uint32_t other) {
      return waits_at_barrier(layout, view, other) && number_of(layout, view, other) == number;
    };
    run_block(layout.points()[-view.state[t] - 1].operation, layout.threads, view, takes_part);
    for (uint32_t other = t; other < layout.threads; ++other) {
      if (takes_part(other)) view.state[other] = -view.state[other];
    }
    if (layout.has_numbered_barriers != 0) view.arrived[number] = 0;
    return true;
  }
  return false;
}

}  // namespace

extern "C" void sluice_jit_exchange(const ExchangeLayout* layout, uint32_t point,
                                    unsigned char* memory, const uint8_t* alive) {
  const ExchangeView view(*layout, memory);
  const PointCode& code = layout->points()[point];
  const SyncOperation operation = code.operation;
  const auto is_alive = [&](uint32_t t) { return !alive || alive[t] != 0; };
  if (is_block_wide(operation)) {
    run_block(operation, layout->threads, view, is_alive);
    return;
  }
  for (uint32_t first = 0; first < layout->threads; first += warp_size) {
    if (operation == SyncOperation::matrix) {
      run_matrix(*layout, code.matrix, first, memory);
      continue;
    }
    const uint32_t lanes = std::min(warp_size, layout->threads - first);
    uint32_t left = 0;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (is_alive(first + lane)) left |= 1u << lane;
    }
    // Lanes with equal masks form a group; nearly always there is one.
    while (left != 0) {
      const uint32_t leader = static_cast<uint32_t>(std::countr_zero(left));
      uint32_t group = 0;
      for (uint32_t lane = leader; lane < lanes; ++lane) {
        const bool same = operation == SyncOperation::active_mask ||
                          view.mask[first + lane] == view.mask[first + leader];
        if ((left >> lane & 1) && same) group |= 1u << lane;
      }
      run_warp(operation, group, first, view);
      left &= ~group;
    }
  }
}

extern "C" uint32_t sluice_jit_advance(const ExchangeLayout* layout, unsigned char* memory) {
  const ExchangeView view(*layout, memory);
  if (release_warps(*layout, view, memory, Release::complete) ||
      release_barrier(*layout, view, false)) {
    sluice_jit_wait_end();
    return 1;
  }
  if (release_warps(*layout, view, memory, Release::yielding)) return 1;
  // Whoever is left waits for threads that will never come.
  const bool released =
      release_warps(*layout, view, memory, Release::forced) || release_barrier(*layout, view, true);
  static std::atomic_flag told;
  if (released && !told.test_and_set()) {
    log::info("threads of a block wait in vain for others, so they go on; a GPU may hang there");
  }
  return released;
}

extern "C" void sluice_jit_arrive(const ExchangeLayout* layout, unsigned char* memory,
                                  uint32_t barrier, uint64_t thread) {
  const ExchangeView view(*layout, memory);
  const bool is_last = thread + 1 == layout->threads;
  view.arrived[barrier % barriers_of_a_block] += is_last ? 1 + missing_lanes(*layout) : 1;
}

}  // namespace sluice::hostcuda::jit
