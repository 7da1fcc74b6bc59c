// Patterns: footprints whose arguments are bound to *which* buffer of a launch (first, second,
// ...), at which offset, of which size. A pattern names no buffer, so memory allocated afresh costs
// no new isl work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include <boost/container_hash/hash.hpp>

#include "dro/boxes/block_boxes.hpp"
#include "dro/edges/block_bytes.hpp"
#include "dro/launches/footprints.hpp"
#include "dro/launches/recent_table.hpp"
#include "dro/types.hpp"
#include "relation/byte_set.hpp"
#include "relation/isl_context.hpp"

namespace sluice::dro {

using PatternId = uint32_t;

// Launches of at most so many blocks are listed by blocks.
inline constexpr uint64_t most_listed_blocks = 8192;

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
  // And as strides, where the pattern is strided.
  Strides read_strides;
  Strides write_strides;
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
  // Every block touches boxes, and their bytes are few enough to be listed; see is_boxed().
  bool boxed = false;
  bool listed = false;  // blocks and their bytes are few enough to be listed; see is_listed()
  bool listing_tried = false;
  bool strided = false;  // every block touches strides; see is_strided()
  bool strides_tried = false;
  bool boxes_tried = false;
  std::vector<Binding> bindings;
  std::vector<uint64_t> buffer_bytes;
  std::vector<BufferAccess> buffers;
  std::vector<BufferRelations> relations;  // empty until they are asked for
  uint64_t listed_ranges = 0;              // how many its lists and boxes hold
};

// Words is the content of a key.
using Words = std::vector<uint64_t>;
using WordsHash = boost::hash<Words>;

// PatternTable binds footprints, and remembers what came of it. Not thread-safe.
class PatternTable {
 public:
  PatternTable(const IslContext& context, FootprintTable& footprints, uint64_t limit)
      : context_(context), footprints_(footprints), table_(limit) {}

  // of() is the pattern of a key; `make` makes one that is new.
  PatternId of(Words key, uint64_t step, const std::function<LaunchPattern()>& make);
  const LaunchPattern& at(PatternId id) const { return table_.at(id); }

  // bind() fills in what the pattern's footprint, bindings and sizes of buffers come to: past the
  // budget, that every block touches whole buffers.
  void bind(LaunchPattern& pattern, Budget& budget);
  static LaunchPattern of_host(std::span<const HostAccess> accesses,
                               const std::vector<BufferId>& buffers);

  // relations() makes them at the first time; one for each buffer of the pattern, none past the
  // budget.
  const std::vector<BufferRelations>& relations(PatternId id, Budget& budget) const;
  // is_listed() says whether a pattern has lists by blocks; those of a boxed or strided one are
  // made when this is asked for the first time, and never if that is past the budget. is_strided()
  // does the same for strides, of boxes, and is_boxed() for boxes of what was bound as strides.
  bool is_listed(PatternId id, Budget& budget) const;
  bool is_strided(PatternId id, Budget& budget) const;
  bool is_boxed(PatternId id, Budget& budget) const;

  // is_heavy() says that lists take too much memory. drop() leaves what is needed.
  bool is_heavy() const { return range_bound_.is_passed_by(listed_ranges_); }
  bool is_crowded() const { return is_heavy() || table_.is_crowded(); }
  std::vector<PatternId> drop(const std::function<bool(PatternId)>& is_needed, bool heavy);
  // footprints() are those of all patterns.
  std::unordered_set<FootprintId> footprints() const;

 private:
  isl::map bound_access(const ParsedFootprint& footprint, const ParsedAccess& access,
                        uint64_t offset, uint64_t buffer_bytes, Budget& budget) const;
  std::vector<BufferRelations> bound_relations(const LaunchPattern& pattern, Budget& budget) const;
  bool bind_by_isl(LaunchPattern& pattern, Budget& budget) const;
  bool bind_listed(LaunchPattern& pattern, Budget& budget) const;
  bool bind_boxes(LaunchPattern& pattern, Budget& budget) const;
  bool bind_strides(LaunchPattern& pattern, Budget& budget) const;
  void bind_whole(LaunchPattern& pattern);

  static constexpr uint64_t most_listed_ranges = uint64_t{1} << 22;  // 64 MiB
  const IslContext& context_;
  FootprintTable& footprints_;
  // Relations and lists by blocks come when they are asked for.
  mutable RecentTable<Words, LaunchPattern, WordsHash> table_;
  mutable uint64_t listed_ranges_ = 0;  // of all patterns
  Bound range_bound_{most_listed_ranges};
};

}  // namespace sluice::dro
