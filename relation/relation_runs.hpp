// An access relation as loops that list the bytes of one block.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/number/range.hpp"
#include "base/result.hpp"
#include "relation/access_loops.hpp"
#include "relation/loop_program.hpp"
#include "relation/relation.hpp"

namespace sluice {

// BlockIndex is the position of a block in its grid.
struct BlockIndex {
  uint32_t x = 0, y = 0, z = 0;
};

// RelationRuns is one access relation, turned once into loops over the bytes of one block: those of
// Fourier-Motzkin elimination (access_loops.hpp), and those that isl generates where
// these do not suffice. Launches of one family share them.
// Thread-safe.
class RelationRuns {
 public:
  // An error where the relation is not whole.
  static Result<std::shared_ptr<RelationRuns>> create(const Relation& relation);

  // of() is the bytes of one block where the parameters have these values, of which there may be
  // more. Nothing where no loops list them.
  std::optional<ByteRuns> of(const BlockIndex& block, std::span<const int64_t> parameters);

 private:
  std::optional<ByteRuns> run_generated(const BlockIndex& block,
                                        std::span<const int64_t> parameters);
  void generate();

  Relation relation_;
  std::optional<AccessLoops> loops_;
  std::once_flag generated_;
  std::optional<std::vector<LoopProgram>> programs_;  // one for each piece of the relation
};

}  // namespace sluice
