// Lanes of a warp that have parted and come together again.
#pragma once

#include <cstdint>

#include "hostcuda/jit/warp/exchange_view.hpp"

namespace sluice::hostcuda::jit {

// next_meeting() is the state of the lanes whose meeting is next in the warp of thread `first`; 0
// where there are none, or where they wait for lanes behind them that yield.
int32_t next_meeting(const ExchangeLayout& layout, const ExchangeView& view, uint32_t first);

// count_try() notes that the yielding lanes of a warp are let on.
void count_try(const ExchangeLayout& layout, const ExchangeView& view, uint32_t first);

}  // namespace sluice::hostcuda::jit
