#include "hostcuda/jit/warp/warp_operations.hpp"

#include <algorithm>
#include <bit>

namespace sluice::hostcuda::jit {
namespace {

template <class Visit>
void for_each_lane(uint32_t lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1)
    visit(static_cast<uint32_t>(std::countr_zero(lanes)));
}

// The source lane of a shuffle, and whether it lies inside the segment, as PTX's pseudo-code has
// it.
uint32_t shuffle_source(SyncOperation operation, uint32_t lane, uint32_t b, uint32_t c,
                        bool& inside) {
  const uint32_t offset = b & 31;
  const uint32_t clamp = c & 31;
  const uint32_t segment = c >> 8 & 31;
  const uint32_t highest = (lane & segment) | (clamp & ~segment);
  const uint32_t lowest = lane & segment;
  uint32_t source = lane;
  switch (operation) {
    case SyncOperation::shuffle_up:
      source = lane - offset;
      inside = static_cast<int32_t>(source) >= static_cast<int32_t>(highest);
      break;
    case SyncOperation::shuffle_down:
      source = lane + offset;
      inside = source <= highest;
      break;
    case SyncOperation::shuffle_butterfly:
      source = lane ^ offset;
      inside = source <= highest;
      break;
    default:
      source = lowest | (offset & ~segment);
      inside = source <= highest;
      break;
  }
  return inside ? source : lane;
}

void shuffle(SyncOperation operation, uint32_t participants, const WarpOperands& operands,
             uint64_t* result, uint8_t* predicate) {
  for_each_lane(participants, [&](uint32_t lane) {
    bool inside = false;
    const uint32_t source =
        shuffle_source(operation, lane, operands.lane[lane], operands.clamp[lane], inside);
    // PTX leaves it open what comes from a lane that does not take part; a GPU gives 0.
    const bool present = participants >> source & 1;
    result[lane] = present ? operands.value[source] : 0;
    predicate[lane] = inside;
  });
}

uint64_t vote(SyncOperation operation, uint32_t participants, const uint64_t* value) {
  uint32_t ballot = 0;
  for_each_lane(participants, [&](uint32_t lane) {
    if (value[lane] != 0) ballot |= 1u << lane;
  });
  switch (operation) {
    case SyncOperation::vote_all:
      return ballot == participants;
    case SyncOperation::vote_any:
      return ballot != 0;
    case SyncOperation::vote_uniform:
      return ballot == participants || ballot == 0;
    default:
      return ballot;
  }
}

uint32_t combine(SyncOperation operation, uint32_t a, uint32_t b) {
  const auto signed_a = static_cast<int32_t>(a);
  const auto signed_b = static_cast<int32_t>(b);
  switch (operation) {
    case SyncOperation::reduce_add:
      return a + b;
    case SyncOperation::reduce_and:
      return a & b;
    case SyncOperation::reduce_or:
      return a | b;
    case SyncOperation::reduce_xor:
      return a ^ b;
    case SyncOperation::reduce_min:
      return static_cast<uint32_t>(std::min(signed_a, signed_b));
    case SyncOperation::reduce_max:
      return static_cast<uint32_t>(std::max(signed_a, signed_b));
    case SyncOperation::reduce_unsigned_min:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

uint32_t reduce(SyncOperation operation, uint32_t participants, const uint64_t* value) {
  const auto first = static_cast<uint32_t>(std::countr_zero(participants));
  auto total = static_cast<uint32_t>(value[first]);
  for_each_lane(participants & (participants - 1), [&](uint32_t lane) {
    total = combine(operation, total, static_cast<uint32_t>(value[lane]));
  });
  return total;
}

uint32_t matching_lanes(uint32_t participants, uint64_t wanted, const uint64_t* value) {
  uint32_t equal = 0;
  for_each_lane(participants, [&](uint32_t lane) {
    if (value[lane] == wanted) equal |= 1u << lane;
  });
  return equal;
}

}  // namespace

void run_warp_operation(SyncOperation operation, uint32_t participants,
                        const WarpOperands& operands, uint64_t* result, uint8_t* predicate) {
  const auto give_all = [&](uint64_t value) {
    for_each_lane(participants, [&](uint32_t lane) { result[lane] = value; });
  };
  if (participants == 0) return;
  switch (operation) {
    case SyncOperation::shuffle_up:
    case SyncOperation::shuffle_down:
    case SyncOperation::shuffle_butterfly:
    case SyncOperation::shuffle_index:
      return shuffle(operation, participants, operands, result, predicate);
    case SyncOperation::vote_all:
    case SyncOperation::vote_any:
    case SyncOperation::vote_uniform:
    case SyncOperation::vote_ballot:
      return give_all(vote(operation, participants, operands.value));
    case SyncOperation::active_mask:
      return give_all(participants);
    case SyncOperation::match_any:
      for_each_lane(participants, [&](uint32_t lane) {
        result[lane] = matching_lanes(participants, operands.value[lane], operands.value);
      });
      return;
    case SyncOperation::match_all: {
      const uint64_t wanted = operands.value[std::countr_zero(participants)];
      const bool equal = matching_lanes(participants, wanted, operands.value) == participants;
      for_each_lane(participants, [&](uint32_t lane) {
        result[lane] = equal ? participants : 0;
        predicate[lane] = equal;
      });
      return;
    }
    case SyncOperation::barrier:
    case SyncOperation::barrier_and:
    case SyncOperation::barrier_or:
    case SyncOperation::barrier_popc:
    case SyncOperation::warp_barrier:
    case SyncOperation::matrix:
    case SyncOperation::yield:
    case SyncOperation::meeting:
      return;
    default:
      return give_all(reduce(operation, participants, operands.value));
  }
}

}  // namespace sluice::hostcuda::jit
