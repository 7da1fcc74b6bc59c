// The words of `dro`: launches, buffers, hazards and DROs as plain values. No CUDA, no isl here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dim3.hpp"

namespace sluice::dro {

// LaunchNumber counts the program's launches from 1 in the order of its calls, passed-through
// ones included; HostNumber counts copies, memsets and other accesses by the host, from 1 as well.
// BufferId names one allocation and is never used again. The other ids count from 0 in the order in
// which the tracker first saw their content; content that a cache dropped and that comes again gets
// a new one.
using LaunchNumber = uint64_t;
using BufferId = uint64_t;
using HostNumber = uint64_t;
using FootprintId = uint32_t;
using InternedId = uint32_t;
using DroId = uint32_t;
using EdgeTableId = uint32_t;

// Hazards of one dependence; several may hold at once.
struct Hazards {
  bool raw = false;
  bool war = false;
  bool waw = false;
  bool any() const { return raw || war || waw; }
  friend bool operator==(const Hazards&, const Hazards&) = default;
};

// hazard_names() is "raw", "raw+war" and the like; hazards_of() reads it.
std::string hazard_names(const Hazards& hazards);
Hazards hazards_of(const std::string& names);

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

// HostAccess is what the host (a copy, a memset, a mapped write) does to bytes [begin, end) of one
// buffer.
struct HostAccess {
  BufferId buffer = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  bool writes = false;  // else it reads
  friend bool operator==(const HostAccess&, const HostAccess&) = default;
};

// HostDependence says that a launch touches bytes that the host touched before it (`number` is the
// host's), or the other way round (`number` is the launch's). The driver orders both; the launch
// waits as a whole.
struct HostDependence {
  uint64_t number = 0;
  Hazards hazards;
  friend bool operator==(const HostDependence&, const HostDependence&) = default;
};

// Dependence is one use of a DRO: launch `slave` waits for launch `master`.
struct Dependence {
  LaunchNumber master = 0;
  LaunchNumber slave = 0;
  const Dro* dro = nullptr;  // owned by the tracker, valid until its next launch or host access
  bool hit = false;          // the DRO had been resolved before
};

// KnownLaunch is where a tracker keeps what it knows of launches of one footprint and arguments, as
// long as it does; nothing at first.
struct KnownLaunch {
  uint32_t slot = UINT32_MAX;
  uint64_t serial = 0;
};

}  // namespace sluice::dro
