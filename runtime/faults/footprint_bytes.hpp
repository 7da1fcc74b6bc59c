// The bytes that all blocks of a launch together touch, by slot, found when they are asked for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/footprint.hpp"
#include "dro/boxes/block_boxes.hpp"
#include "relation/byte_intervals.hpp"
#include "relation/isl_context.hpp"
#include "relation/relation_runs.hpp"

namespace sluice::runtime {

// How a slot is used.
enum class Use { reads, must_writes, may_writes };

// FootprintBytes is one footprint. Not thread-safe.
class FootprintBytes {
 public:
  // The context must outlive it.
  FootprintBytes(const analysis::Footprint& footprint, IslContext& context);

  const analysis::Footprint& footprint() const { return footprint_; }
  size_t slots() const { return footprint_.arguments.size(); }
  const std::vector<int64_t>& values() const { return values_; }  // of the relations' parameters

  const analysis::Access& access(size_t slot, Use use) const;
  // is_exact() is true of an access whose every byte is touched in every run of the launch.
  bool is_exact(size_t slot, Use use) const;
  // set() is null where the relation has no rows, or isl cannot tell.
  const isl::set& set(size_t slot, Use use);
  // hull() is nothing where there is no such access, or isl cannot tell.
  const std::optional<Range>& hull(size_t slot, Use use);
  // listed() is all bytes; nothing where they are too many.
  const std::optional<ByteIntervals>& listed(size_t slot, Use use);
  // beyond() is a block and its bytes that lie outside of `within`; nothing where isl finds none.
  struct Outside {
    BlockIndex block;
    Range bytes;  // all those of the launch that lie on the same side
  };
  std::optional<Outside> beyond(size_t slot, Use use, const Range& within);

 private:
  struct Known {
    bool has_set = false, has_hull = false, is_listed = false;
    isl::set set;
    std::optional<Range> hull;
    std::optional<ByteIntervals> bytes;
  };
  isl::map map(size_t slot, Use use) const;
  // boxes() is nothing where the relation shows none, without isl.
  std::optional<dro::Boxes> boxes(size_t slot, Use use) const;

  const analysis::Footprint footprint_;
  IslContext& context_;
  std::vector<int64_t> values_;
  std::vector<std::array<Known, 3>> known_;  // by slot
};

}  // namespace sluice::runtime
