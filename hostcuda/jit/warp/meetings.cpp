#include "hostcuda/jit/warp/meetings.hpp"

#include <algorithm>

namespace sluice::hostcuda::jit {
namespace {

// How often lanes that may wait for others are let on in vain before those ahead of them go on.
constexpr uint64_t most_tries = 3;

// The state of the lanes whose point with this operation comes first in the program; 0 where there
// are none.
int32_t earliest(const ExchangeLayout& layout, const ExchangeView& view, uint32_t first,
                 SyncOperation operation) {
  const uint32_t lanes = std::min(warp_size, layout.threads - first);
  int32_t found = 0;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    const int32_t waits = view.state[first + lane];
    if (waits >= 0 || waits == exited) continue;
    if (layout.points()[-waits - 1].operation != operation) continue;
    if (found == 0 || waits > found) found = waits;
  }
  return found;
}

}  // namespace

int32_t next_meeting(const ExchangeLayout& layout, const ExchangeView& view, uint32_t first) {
  const int32_t meeting = earliest(layout, view, first, SyncOperation::meeting);
  if (meeting == 0 || view.tries == nullptr) return meeting;
  const int32_t yielding = earliest(layout, view, first, SyncOperation::yield);
  if (yielding == 0 || yielding < meeting) return meeting;
  WarpTries& tries = view.tries[first / warp_size];
  if (tries.count < most_tries) return 0;
  tries = {};
  return meeting;
}

void count_try(const ExchangeLayout& layout, const ExchangeView& view, uint32_t first) {
  if (view.tries == nullptr) return;
  uint64_t digest = 1;
  for (uint32_t lane = 0; lane < std::min(warp_size, layout.threads - first); ++lane)
    digest = (digest ^ static_cast<uint32_t>(view.state[first + lane])) * 0x9E3779B97F4A7C15U;
  WarpTries& tries = view.tries[first / warp_size];
  if (tries.states == digest) {
    ++tries.count;
    tries.rounds = 0;
  } else if (++tries.rounds > tries.patience) {
    // Lanes that go round by several places are seen to once this is as long as their way.
    tries = {digest, 0, 0, static_cast<uint16_t>(std::min(2 * tries.patience + 1, 255))};
  }
}

}  // namespace sluice::hostcuda::jit
