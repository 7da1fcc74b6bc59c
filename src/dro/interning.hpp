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
#include "dro/relations.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

using PatternId = uint32_t;

// BufferAccess is all that a pattern does to one of its buffers, in bytes from the buffer's start.
// `writes` holds may- and must-writes.
struct BufferAccess {
  isl::map reads;
  isl::map writes;
  isl::set read_bytes;
  isl::set written_bytes;
  isl::set must_written_bytes;
  std::optional<ByteRange> read_hull;
  std::optional<ByteRange> written_hull;
};

struct LaunchPattern {
  FootprintId footprint = 0;
  Dim3 grid;
  std::vector<BufferAccess> buffers;
};

struct InternedLaunch {
  PatternId pattern = 0;
  std::vector<BufferId> buffers;  // of the pattern's buffers, in the same order
};

// Words is the content of a key; WordsHash hashes it.
using Words = std::vector<uint64_t>;
struct WordsHash {
  size_t operator()(const Words& words) const;
};

// LaunchTable owns footprints, patterns and interned launches. Not thread-safe.
class LaunchTable {
 public:
  explicit LaunchTable(const IslContext& context) : context_(context) {}

  // add_footprint() returns the id and whether it is new. Errors as DependenceTracker's.
  Result<std::pair<FootprintId, bool>> add_footprint(const analysis::Footprint& footprint);

  // intern() returns the number of a launch. `bytes_of` gives the size of a buffer. An argument
  // with buffer 0 points at no allocation and touches nothing.
  InternedId intern(FootprintId footprint, std::span<const BoundArgument> arguments,
                    const std::function<uint64_t(BufferId)>& bytes_of);

  const analysis::Footprint& footprint(FootprintId id) const { return footprints_[id].source; }
  const LaunchPattern& pattern(PatternId id) const { return patterns_[id]; }
  const InternedLaunch& launch(InternedId id) const { return launches_[id]; }
  size_t footprint_count() const { return footprints_.size(); }
  size_t launch_count() const { return launches_.size(); }

 private:
  // ParsedAccess is one access of a footprint; whole_buffer takes its bytes from the binding.
  struct ParsedAccess {
    std::optional<isl::map> relation;
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
  };
  // Binding is where one argument points within a pattern.
  struct Binding {
    std::optional<size_t> buffer;
    uint64_t offset = 0;
  };

  Result<ParsedFootprint> parse(const analysis::Footprint& footprint) const;
  PatternId pattern_of(FootprintId footprint, const std::vector<Binding>& bindings,
                       const std::vector<uint64_t>& buffer_bytes);
  isl::map bound_access(const ParsedAccess& access, uint64_t offset, uint64_t buffer_bytes,
                        const Dim3& grid) const;
  LaunchPattern bind(FootprintId footprint, const std::vector<Binding>& bindings,
                     const std::vector<uint64_t>& buffer_bytes) const;

  const IslContext& context_;
  std::deque<ParsedFootprint> footprints_;
  std::unordered_multimap<size_t, FootprintId> footprint_by_hash_;
  std::deque<LaunchPattern> patterns_;
  std::unordered_map<Words, PatternId, WordsHash> pattern_by_key_;
  std::deque<InternedLaunch> launches_;
  std::unordered_map<Words, InternedId, WordsHash> launch_by_key_;
  Words key_;  // of the launch being looked up: kept, so that a repeat launch allocates nothing
};

}  // namespace sluice::dro
