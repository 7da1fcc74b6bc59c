// Interning: launches become small numbers, so that a repeat launch is known by one look-up.
//
//   footprint             parsed once, shared by all launches of one kernel and shape
//   pattern               a footprint with its arguments bound to *which* buffer of the launch
//                         (first, second, ...), at which offset, of which size. It names no
//                         buffer, so memory allocated afresh costs no new isl work
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

#include "analysis/footprint.hpp"
#include "base/result.hpp"
#include "dro/boxes/block_boxes.hpp"
#include "dro/edges/block_bytes.hpp"
#include "dro/launches/access_template.hpp"
#include "dro/launches/cache_limits.hpp"
#include "dro/launches/live_launches.hpp"
#include "dro/relations/byte_set.hpp"
#include "dro/relations/relations.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

using PatternId = uint32_t;
// LaunchSlot is an interned launch's place in tables; once it was dropped, another may get it.
using LaunchSlot = uint32_t;

// BufferAccess is all that a pattern does to one of its buffers, in bytes from the buffer's start.
// Writes are may- and must-writes.
struct BufferAccess {
  ByteSet read_bytes;
  ByteSet written_bytes;
  ByteSet must_written_bytes;
  // The same by blocks, where the pattern is listed.
  std::shared_ptr<const BlockBytes> block_reads;
  std::shared_ptr<const BlockBytes> block_writes;
  // And as boxes, where the pattern is boxed.
  Boxes read_boxes;
  Boxes write_boxes;
};

// BufferRelations is the same by blocks for isl.
struct BufferRelations {
  isl::map reads;
  isl::map writes;
};

// Binding is where one argument points within a pattern: to which of its buffers.
struct Binding {
  std::optional<size_t> buffer;
  uint64_t offset = 0;
};

struct LaunchPattern {
  std::optional<FootprintId> footprint;  // none: the host
  Dim3 grid;
  bool boxed = false;   // every block touches boxes, and their bytes are few enough to be listed
  bool listed = false;  // blocks and their bytes are few enough to be listed; see is_listed()
  bool listing_tried = false;
  std::vector<Binding> bindings;
  std::vector<uint64_t> buffer_bytes;
  std::vector<BufferAccess> buffers;
  std::vector<BufferRelations> relations;  // empty until they are asked for
  uint64_t listed_ranges = 0;              // how many its lists and boxes hold
  uint64_t last_used = 0;                  // in steps of the table
};

struct InternedLaunch {
  InternedId id = 0;  // counted apart for launches and for the host's accesses
  PatternId pattern = 0;
  bool host = false;
  std::vector<BufferId> buffers;    // of the pattern's buffers, in the same order
  std::vector<BufferPlace> places;  // what it touches of them
  uint64_t last_used = 0;
  const std::vector<uint64_t>* key = nullptr;  // null: unreachable, it may be live all the same
};

// Words is the content of a key; WordsHash hashes it.
using Words = std::vector<uint64_t>;
struct WordsHash {
  size_t operator()(const Words& words) const;
};

// LaunchTable owns buffers, footprints, patterns and interned launches. Not thread-safe.
class LaunchTable {
 public:
  LaunchTable(const IslContext& context, const CacheLimits& limits)
      : context_(context), limits_(limits) {}

  BufferSlot add_buffer(BufferId buffer, uint64_t bytes);
  // remove_buffer() frees the slot that it returns; launches that name the buffer become
  // unreachable and are dropped with the next drop().
  BufferSlot remove_buffer(BufferId buffer);
  bool has_buffer(BufferId buffer) const { return buffers_.count(buffer) != 0; }

  // add_footprint() returns the id and whether it is new. Errors as DependenceTracker's.
  Result<std::pair<FootprintId, bool>> add_footprint(const analysis::Footprint& footprint);
  bool has_footprint(FootprintId id) const {
    return id < next_footprint_ && (footprint_use_.evictions == 0 || footprints_.count(id) != 0);
  }

  // keep() makes this footprint the one used last, so that the next drop() leaves it.
  void keep(FootprintId id) {
    if (const auto known = footprints_.find(id); known != footprints_.end()) {
      known->second.last_used = ++step_;
    }
  }

  // intern() returns the slot of a launch. An argument with buffer 0 points at no allocation and
  // touches nothing. intern_host() does the same for accesses by the host.
  LaunchSlot intern(FootprintId footprint, std::span<const BoundArgument> arguments);
  // The same, by `known` where it came from an earlier call with the same arguments: no look-up.
  LaunchSlot intern(FootprintId footprint, std::span<const BoundArgument> arguments,
                    KnownLaunch& known);
  LaunchSlot intern_host(std::span<const HostAccess> accesses);

  const analysis::Footprint& footprint(FootprintId id) const { return footprints_.at(id).source; }
  const LaunchPattern& pattern(PatternId id) const { return patterns_.at(id); }
  // relations() makes them at the first time; one for each buffer of the pattern.
  const std::vector<BufferRelations>& relations(PatternId id) const;
  // is_listed() says whether a pattern has lists by blocks; those of a boxed one are made when this
  // is asked for the first time.
  bool is_listed(PatternId id) const;
  const InternedLaunch& launch(LaunchSlot slot) const { return launches_[slot]; }
  uint64_t interned() const { return next_launch_; }  // so far, the host's accesses left out

  // crowded() says that drop() should be called. drop() takes out launches that are unreachable
  // or, where there are too many, not used lately, but none for which `live(slot)` holds; then
  // patterns and footprints that no launch needs. It returns the slots and patterns dropped.
  struct Dropped {
    std::vector<LaunchSlot> launches;
    std::vector<PatternId> patterns;
  };
  bool crowded() const;
  Dropped drop(const std::function<bool(LaunchSlot)>& live);

  // effort() is as DependenceTracker's: what listing and binding footprints has cost.
  uint64_t effort() const { return effort_; }

  const CacheUse& launch_use() const { return launch_use_; }
  const CacheUse& footprint_use() const { return footprint_use_; }

 private:
  // ParsedAccess is one access of a footprint; whole_buffer takes its bytes from the binding.
  struct ParsedAccess {
    std::shared_ptr<AccessTemplate> source;  // null: there is none, or whole_buffer
    std::vector<ByteRun> runs;               // see ParsedFootprint::has_runs
    Boxes boxes;                             // see ParsedFootprint::has_boxes
    bool whole_buffer = false;
  };
  struct ParsedArgument {
    ParsedAccess reads;
    ParsedAccess may_writes;
    ParsedAccess must_writes;
  };
  struct ParsedFootprint {
    analysis::Footprint source;
    std::vector<ParsedArgument> arguments;
    bool boxed = false;
    bool listed = false;  // never where it is boxed
    // Boxes and runs are kept until a pattern was bound, and found again for the next.
    bool has_boxes = false;
    bool has_runs = false;
    uint64_t runs = 0;  // of all accesses, where it is listed
    uint64_t last_used = 0;
  };
  struct Buffer {
    BufferSlot slot = 0;
    uint64_t bytes = 0;
    std::vector<std::pair<LaunchSlot, uint64_t>> launches;  // that name it, and their serials
  };

  Result<ParsedFootprint> parse(const analysis::Footprint& footprint);
  Status check(const ParsedFootprint& footprint) const;
  static bool list(ParsedFootprint& footprint);
  static bool find_boxes(ParsedFootprint& footprint);
  Result<std::shared_ptr<AccessTemplate>> template_of(const analysis::Footprint& footprint,
                                                      const std::string& relation);
  std::optional<LaunchSlot> known_launch();
  void use_again(LaunchSlot slot) {
    ++launch_use_.hits;
    launches_[slot].last_used = step_;
  }
  InternedLaunch bound_launch(FootprintId footprint, std::span<const BoundArgument> arguments);
  InternedLaunch host_launch(std::span<const HostAccess> accesses);
  LaunchSlot add_launch(InternedLaunch launch);
  PatternId pattern_of(Words key, const std::function<LaunchPattern()>& make);
  isl::map bound_access(const ParsedFootprint& footprint, const ParsedAccess& access,
                        uint64_t offset, uint64_t buffer_bytes) const;
  void bind(LaunchPattern& pattern);
  void bind_by_isl(LaunchPattern& pattern);
  void bind_listed(LaunchPattern& pattern);
  bool bind_boxes(LaunchPattern& pattern);
  std::vector<BufferRelations> bound_relations(const LaunchPattern& pattern) const;
  static LaunchPattern host_pattern(std::span<const HostAccess> accesses,
                                    const std::vector<BufferId>& buffers);
  void make_unreachable(LaunchSlot slot);
  std::vector<LaunchSlot> drop_launches(const std::function<bool(LaunchSlot)>& live, bool heavy);
  std::vector<PatternId> drop_patterns(bool heavy);
  void drop_footprints();

  const IslContext& context_;
  const CacheLimits limits_;
  uint64_t step_ = 0;  // launches and host accesses so far

  std::unordered_map<BufferId, Buffer> buffers_;
  std::vector<BufferSlot> free_buffers_;
  BufferSlot next_buffer_ = 0;

  std::unordered_map<FootprintId, ParsedFootprint> footprints_;
  std::unordered_multimap<size_t, FootprintId> footprint_by_hash_;
  FootprintId next_footprint_ = 0;
  // Templates by their relation's text: kernels often touch memory alike, and reading one is dear.
  std::unordered_map<std::string, std::weak_ptr<AccessTemplate>> templates_;

  // Relations and lists by blocks come when they are asked for.
  mutable std::unordered_map<PatternId, LaunchPattern> patterns_;
  std::unordered_map<Words, PatternId, WordsHash> pattern_by_key_;
  PatternId next_pattern_ = 0;

  std::deque<InternedLaunch> launches_;  // by LaunchSlot
  std::vector<uint64_t> serials_;        // by LaunchSlot: which of its occupants this is
  std::vector<LaunchSlot> free_launches_;
  std::unordered_map<Words, LaunchSlot, WordsHash> launch_by_key_;
  InternedId next_launch_ = 0;
  InternedId next_host_ = 0;
  size_t unreachable_ = 0;

  // How many of each are too many: the limits, or twice what the last drop() had to leave.
  static constexpr size_t most_unreachable = 1024;
  static constexpr uint64_t most_listed_ranges = uint64_t{1} << 22;  // 64 MiB
  static constexpr size_t most_templates = 1024;
  size_t most_templates_ = most_templates;  // of which those of no footprint are dropped
  size_t most_unreachable_ = most_unreachable;
  uint64_t most_listed_ranges_ = most_listed_ranges;
  size_t most_launches_ = limits_.launches;
  size_t most_patterns_ = limits_.footprints;
  size_t most_footprints_ = limits_.footprints;

  mutable uint64_t listed_ranges_ = 0;  // of all patterns
  uint64_t effort_ = 0;
  CacheUse launch_use_;
  CacheUse footprint_use_;
  Words key_;  // of the launch being looked up: kept, so that a repeat launch allocates nothing
};

}  // namespace sluice::dro
