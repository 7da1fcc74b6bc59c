// The private memory of a block by the types of what lies in it.
#pragma once

#include <cstdint>

#include "hostcuda/jit/warp/exchange.hpp"

namespace sluice::hostcuda::jit {

inline constexpr uint32_t warp_size = 32;

// ExchangeView gives the arrays of one block their types.
struct ExchangeView {
  ExchangeView(const ExchangeLayout& layout, unsigned char* memory)
      : state(reinterpret_cast<int32_t*>(memory + layout.state)),
        mask(reinterpret_cast<uint32_t*>(memory + layout.mask)),
        value(reinterpret_cast<uint64_t*>(memory + layout.value)),
        lane(reinterpret_cast<uint32_t*>(memory + layout.lane)),
        clamp(reinterpret_cast<uint32_t*>(memory + layout.clamp)),
        result(reinterpret_cast<uint64_t*>(memory + layout.result)),
        predicate(memory + layout.predicate),
        arrived(reinterpret_cast<uint32_t*>(memory + layout.arrived)),
        tries(layout.tries == 0 ? nullptr : reinterpret_cast<WarpTries*>(memory + layout.tries)) {}
  int32_t* state;
  uint32_t* mask;
  uint64_t* value;
  uint32_t* lane;
  uint32_t* clamp;
  uint64_t* result;
  uint8_t* predicate;
  uint32_t* arrived;
  WarpTries* tries;
};

}  // namespace sluice::hostcuda::jit
