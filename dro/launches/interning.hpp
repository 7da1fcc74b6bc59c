// Interning: launches become small numbers, so that a repeat launch is known by one look-up.
//
//   footprint             read once, shared by all launches of one kernel and shape
//   pattern               a footprint with its arguments bound to buffers that have no names
//   interned launch       a pattern with its actual buffers
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dro/launches/cache_limits.hpp"
#include "dro/launches/footprints.hpp"
#include "dro/launches/live_launches.hpp"
#include "dro/launches/patterns.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

// LaunchSlot is an interned launch's place in tables; once it was dropped, another may get it.
using LaunchSlot = uint32_t;

struct InternedLaunch {
  InternedId id = 0;  // counted apart for launches and for the host's accesses
  PatternId pattern = 0;
  bool host = false;
  std::vector<BufferId> buffers;    // of the pattern's buffers, in the same order
  std::vector<BufferPlace> places;  // what it touches of them
  uint64_t last_used = 0;
  const std::vector<uint64_t>* key = nullptr;  // null: unreachable, it may be live all the same
};

// BufferTable gives living buffers their slots. Not thread-safe.
class BufferTable {
 public:
  struct Buffer {
    BufferSlot slot = 0;
    uint64_t bytes = 0;
    std::vector<std::pair<LaunchSlot, uint64_t>> launches;  // that name it, and their serials
  };

  BufferSlot add(BufferId id, uint64_t bytes);
  // remove() frees the slot of the buffer that it returns.
  Buffer remove(BufferId id);
  bool has(BufferId id) const { return buffers_.contains(id); }
  Buffer& at(BufferId id) { return buffers_.at(id); }
  // forget() forgets launches of which is_gone(slot, serial) holds.
  void forget(const std::function<bool(LaunchSlot, uint64_t)>& is_gone);

 private:
  std::unordered_map<BufferId, Buffer> buffers_;
  std::vector<BufferSlot> free_;
  BufferSlot next_ = 0;
};

// LaunchTable owns buffers, footprints, patterns and interned launches. Not thread-safe.
class LaunchTable {
 public:
  LaunchTable(const IslContext& context, const CacheLimits& limits)
      : footprints_(context, limits.footprints),
        patterns_(context, footprints_, limits.footprints),
        bound_(limits.launches) {}

  BufferTable& buffers() { return buffers_; }
  // remove_buffer() frees the slot that it returns; launches that name the buffer become
  // unreachable and are dropped with the next drop().
  BufferSlot remove_buffer(BufferId buffer);

  const FootprintTable& footprints() const { return footprints_; }
  const PatternTable& patterns() const { return patterns_; }
  // add_footprint() returns the id and whether it is new. Errors as DependenceTracker's, and one
  // where that cannot be told `at_once`.
  Result<std::pair<FootprintId, bool>> add_footprint(const analysis::Footprint& footprint,
                                                     bool at_once) {
    return at_once ? footprints_.add_at_once(footprint, step_) : footprints_.add(footprint, step_);
  }
  // keep() makes this footprint the one used last, so that the next drop() leaves it.
  void keep(FootprintId id) { footprints_.use(id, ++step_); }

  // intern() returns the slot of a launch: without a look-up where `known` came from an earlier
  // call with the same arguments. An argument with buffer 0 points at no allocation and touches
  // nothing. Past the budget a new launch touches whole buffers. intern_host() does the same for
  // accesses by the host.
  LaunchSlot intern(FootprintId footprint, std::span<const BoundArgument> arguments,
                    KnownLaunch& known, Budget& budget);
  // use() is intern() for launches that are known, one after the other.
  void use(std::span<const LaunchSlot> slots) {
    for (const LaunchSlot slot : slots)
      slots_[slot].launch.last_used = ++step_;
    counts_.use.hits += slots.size();
  }
  LaunchSlot intern_host(std::span<const HostAccess> accesses);
  // find() is the slot that intern() would return where the launch is known; it changes nothing.
  std::optional<LaunchSlot> find(FootprintId footprint, std::span<const BoundArgument> arguments,
                                 const KnownLaunch& known) const;

  const InternedLaunch& launch(LaunchSlot slot) const { return slots_[slot].launch; }

  // crowded() says that drop() should be called. drop() takes out launches that are unreachable
  // or, where there are too many, not used lately, but none for which `live(slot)` holds; then
  // patterns and footprints that no launch needs. It returns the slots and patterns dropped.
  struct Dropped {
    std::vector<LaunchSlot> launches;
    std::vector<PatternId> patterns;
  };
  bool crowded() const;
  Dropped drop(const std::function<bool(LaunchSlot)>& live);

  struct Counts {
    InternedId interned = 0;  // so far, the host's accesses left out
    CacheUse use;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Slot {
    InternedLaunch launch;
    uint64_t serial = 0;  // which of the slot's occupants this is
  };

  std::optional<LaunchSlot> known_launch();
  InternedLaunch bound_launch(FootprintId footprint, std::span<const BoundArgument> arguments,
                              Budget& budget);
  InternedLaunch host_launch(std::span<const HostAccess> accesses);
  LaunchSlot add_launch(InternedLaunch launch);
  void make_unreachable(LaunchSlot slot);
  std::vector<LaunchSlot> drop_launches(const std::function<bool(LaunchSlot)>& live, bool heavy);

  static constexpr uint64_t most_unreachable = 1024;
  uint64_t step_ = 0;  // launches and host accesses so far
  BufferTable buffers_;
  FootprintTable footprints_;
  PatternTable patterns_;
  std::deque<Slot> slots_;
  std::vector<LaunchSlot> free_slots_;
  std::unordered_map<Words, LaunchSlot, WordsHash> by_key_;
  Bound bound_;
  size_t unreachable_ = 0;
  Bound unreachable_bound_{most_unreachable};
  InternedId next_host_ = 0;
  Counts counts_;
  Words key_;  // of the launch being looked up: kept, so that a repeat launch allocates nothing
};

}  // namespace sluice::dro
