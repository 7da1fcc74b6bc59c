// An access relation as loops that list the bytes of one block.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "dro/relations/access_loops.hpp"
#include "dro/relations/loop_program.hpp"
#include "runtime/check/byte_runs.hpp"

namespace sluice::runtime {

// BlockIndex is the position of a block in its grid.
struct BlockIndex {
  uint32_t x = 0, y = 0, z = 0;
};

// RelationRuns is one access relation, turned once into loops over the bytes of one block: those of
// Fourier-Motzkin elimination (dro/relations/access_loops.hpp), and those that isl generates where
// these do not suffice. The family's symbols stay parameters, so that all its launches share them.
// Thread-safe.
class RelationRuns {
 public:
  // `symbols` names the footprint's symbols. An error where the text is no relation from three
  // block indices to a byte, or has other parameters.
  static Result<std::shared_ptr<RelationRuns>> create(const std::string& relation,
                                                      std::span<const std::string> symbols);

  // of() is the bytes of one block where the symbols have these values, in their order. Nothing
  // where no loops list them.
  std::optional<ByteRuns> of(const BlockIndex& block, std::span<const int64_t> symbols);

 private:
  std::optional<ByteRuns> run_generated(const BlockIndex& block, std::span<const int64_t> symbols);
  void generate();

  std::string text_;
  std::vector<std::string> symbols_;
  std::vector<size_t> symbol_of_;  // by parameter of the relation
  std::optional<dro::AccessLoops> loops_;
  std::once_flag generated_;
  std::optional<std::vector<dro::LoopProgram>> programs_;  // one for each piece of the relation
};

}  // namespace sluice::runtime
