// What a launch or a copy did to a buffer, as the check for races between streams keeps it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "dro/types.hpp"
#include "relation/byte_intervals.hpp"
#include "runtime/faults/action.hpp"
#include "runtime/faults/footprint_bytes.hpp"
#include "runtime/races/stream_clocks.hpp"
#include "runtime/races/traced_bytes.hpp"

namespace sluice::runtime {

// AccessedBytes is one way in which an action touches a buffer.
struct AccessedBytes {
  dro::BufferId buffer = 0;
  uint64_t bytes = 0;     // of the buffer
  int64_t argument = -1;  // the pointer's place among the kernel's parameters; -1: none
  uint64_t address = 0;   // of the buffer
};

// ByteSet is what a footprint touches through one slot, or the first bytes of something. Equal sets
// compare equal.
struct ByteSet {
  std::shared_ptr<FootprintBytes> footprint;  // null: `bytes`
  size_t slot = 0;
  Use use = Use::reads;
  int64_t bytes = 0;
  auto operator<=>(const ByteSet&) const = default;
};

// RaceRecord. Of actions that do the same in one stream the last is kept: what is ordered after it
// is ordered after all.
struct RaceRecord {
  ActionTime time;
  std::shared_ptr<const Action> action;
  AccessedBytes where;
  ByteSet set;
  int64_t offset = 0;  // in the buffer
  bool writes = false;
  bool certain = false;  // in every run of the program with this launch
  // What the launch really touched, where its footprint does not say all; else null.
  std::shared_ptr<TracedBytes> traced;
};

// common_bytes() is what two records really share, from where their buffer begins, accesses of
// which both are atomic left out. Nothing where that is not known, and never will be.
std::optional<ByteIntervals> common_bytes(const RaceRecord& a, const RaceRecord& b);
// is_to_come() is whether it is only not known yet.
bool is_to_come(const RaceRecord& a, const RaceRecord& b);

}  // namespace sluice::runtime
