// The words of `dro`: launches, buffers, hazards and DROs as plain values. No CUDA, no isl here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dim3.hpp"

namespace sluice::dro {

// LaunchNumber counts the program's launches from 1 in the order of its calls, passed-through
// ones included. BufferId names one allocation and is never used again. The other ids count from
// 0 in the order in which the tracker first saw their content.
using LaunchNumber = uint64_t;
using BufferId = uint64_t;
using FootprintId = uint32_t;
using InternedId = uint32_t;
using DroId = uint32_t;
using EdgeTableId = uint32_t;

// Rule is how writes retire earlier accesses.
enum class Rule {
  exact,   // per byte: RAW, WAR and WAW; only must-writes retire what they cover
  buffer,  // Mekong's: any write invalidates all earlier writes of the buffer; RAW only
};

// Hazards of one dependence; several may hold at once.
struct Hazards {
  bool raw = false;
  bool war = false;
  bool waw = false;
  bool any() const { return raw || war || waw; }
  friend bool operator==(const Hazards&, const Hazards&) = default;
};

// BoundArgument is where a pointer slot of a launch points: `offset` bytes into `buffer`.
struct BoundArgument {
  BufferId buffer = 0;
  uint64_t offset = 0;
  friend bool operator==(const BoundArgument&, const BoundArgument&) = default;
};

// Dro is a dependency-resolution object: what every launch interned as `slave` waits for in a
// live launch interned as `master`.
struct Dro {
  DroId id = 0;
  InternedId master = 0;
  InternedId slave = 0;
  uint32_t master_state = 0;  // how much of the master later launches had retired: 0 nothing yet
  Hazards hazards;
  bool retires_master = false;    // the slave's must-writes cover all the master wrote
  std::vector<BufferId> buffers;  // in which they meet, ascending
  EdgeTableId edges = 0;
};

// Dependence is one use of a DRO: launch `slave` waits for launch `master`.
struct Dependence {
  LaunchNumber master = 0;
  LaunchNumber slave = 0;
  const Dro* dro = nullptr;  // owned by the tracker, stable for its life
  bool hit = false;          // the DRO had been resolved before
};

}  // namespace sluice::dro
