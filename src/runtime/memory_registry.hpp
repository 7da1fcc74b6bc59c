// Which allocation an address lies in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <boost/icl/interval_map.hpp>

#include "dro/types.hpp"

namespace sluice::runtime {

// Allocation is one buffer and where it lies.
struct Allocation {
  dro::BufferId buffer = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

// MemoryRegistry maps addresses to buffers. Every allocation gets a new id, also where memory is
// freed and allocated again at the same address. Not thread-safe.
class MemoryRegistry {
 public:
  // allocated() registers [address, address + bytes) (bytes > 0) and returns its buffer. An
  // allocation that overlaps it can no longer exist (its end went unseen): each is forgotten and
  // its buffer added to `displaced`.
  dro::BufferId allocated(uint64_t address, uint64_t bytes, std::vector<dro::BufferId>& displaced);

  // freed() forgets the allocation that begins at `address` and returns it, if there is one.
  std::optional<Allocation> freed(uint64_t address);

  // find() returns the allocation that holds the byte at `address`, if there is one.
  std::optional<Allocation> find(uint64_t address) const;

 private:
  using Map = boost::icl::interval_map<uint64_t, dro::BufferId>;
  Map buffers_;
  dro::BufferId last_ = 0;
};

}  // namespace sluice::runtime
