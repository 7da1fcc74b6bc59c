// How much is remembered, and how well it served.
#pragma once

#include <cstdint>

namespace sluice::dro {

// CacheLimits bound what is remembered beside what live launches need. When a table holds more, the
// half that was used least recently is dropped, counted in launches and host accesses and never in
// time, so that a replay drops the same.
struct CacheLimits {
  uint64_t launches = 65536;    // interned, host accesses included
  uint64_t pairs = 16384;       // of patterns: what isl has computed
  uint64_t footprints = 16384;  // and as many patterns
  // States that a place of a launch meets, before those are forgotten that the program's order
  // covers (LaunchEntry::oldest). A loop over a few buffers has some; a program that writes another
  // part of a buffer in each round, and reads all of it, has ever more.
  uint64_t met = 16;
  friend bool operator==(const CacheLimits&, const CacheLimits&) = default;
};

// CacheUse counts look-ups of one cache and what was dropped from it.
struct CacheUse {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evictions = 0;
  friend bool operator==(const CacheUse&, const CacheUse&) = default;
};

}  // namespace sluice::dro
