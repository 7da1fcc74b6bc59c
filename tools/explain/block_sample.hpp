// What single blocks of a grid touch, for a sample of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "relation/isl_context.hpp"
#include "runtime/check/footprint_claims.hpp"
#include "tools/explain/region.hpp"

namespace sluice::tools {

// The bytes of a block, or of all, that lie further apart than this are not listed one by one: the
// loops that isl makes may visit each byte between them.
constexpr long most_bytes_listed = 1L << 19;

std::array<int64_t, 3> coordinates(const BlockIndex& block);
isl::set one_block(const IslContext& context, const BlockIndex& block);

// hull_of() is the smallest range around a set; nothing where it has none or isl gives up.
std::optional<Range> hull_of(const isl::set& bytes);

// BlockSample answers what single blocks touch: from the list of their bytes where that is short,
// else by isl. It refers to its context and relation.
class BlockSample {
 public:
  BlockSample(const IslContext& context, const isl::map& relation, RelationRuns& lists,
              const Dim3& grid, const BlockIndex& middle);

  // blocks() are those of a sample that touch anything, the middle first.
  const std::vector<BlockIndex>& blocks() const { return blocks_; }
  bool is_listed() const { return is_listed_; }
  const ByteRuns& runs(size_t number) const { return runs_[number]; }

  // box() is the smallest box around what a block touches; nothing where it does not fit the rows.
  std::optional<Box> box(size_t number, const Pitches& pitches) const;

  // fills() is true where the middle block touches every byte of the box around it.
  bool fills(const Box& box, const Pitches& pitches) const;

 private:
  isl::set of(const BlockIndex& block) const;
  std::optional<Box> box_by_isl(const BlockIndex& block, const Pitches& pitches) const;

  const IslContext& context_;
  const isl::map& relation_;
  bool is_listed_ = false;
  std::vector<BlockIndex> blocks_;
  std::vector<ByteRuns> runs_;
};

}  // namespace sluice::tools
