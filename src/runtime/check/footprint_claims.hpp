// What a footprint says that each block touches, as runs of bytes, fast enough to ask for every
// block of a launch.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/result.hpp"
#include "dro/loop_program.hpp"
#include "runtime/check/byte_runs.hpp"

namespace sluice::runtime {

// BlockIndex is the position of a block in its grid.
struct BlockIndex {
  uint32_t x = 0, y = 0, z = 0;
};

// RelationRuns is one access relation, turned once into the loops that isl generates for the bytes
// of one block. Thread-safe.
class RelationRuns {
 public:
  // `symbols` are the footprint's. An error where the text is no relation of this grid or isl
  // cannot generate loops for it.
  static Result<RelationRuns> create(const std::string& relation,
                                     std::span<const analysis::Symbol> symbols, const Dim3& grid);
  ByteRuns of(const BlockIndex& block) const;

 private:
  std::vector<dro::LoopProgram> programs_;  // one for each piece of the relation
};

// BlockClaims is what a footprint claims of one block: bytes relative to each pointer argument.
struct BlockClaims {
  struct Argument {
    ByteRuns reads, writes, must_writes;  // writes: may-writes and must-writes
    bool reads_any = false;               // the whole buffer
    bool writes_any = false;
  };
  std::vector<Argument> arguments;
};

// FootprintClaims evaluates a footprint block by block and keeps what it found while that is
// little. Thread-safe.
class FootprintClaims {
 public:
  static Result<std::unique_ptr<FootprintClaims>> create(const analysis::Footprint& footprint);

  // of() takes the linear number of a block, x fastest.
  std::shared_ptr<const BlockClaims> of(uint32_t block);
  BlockIndex index_of(uint32_t block) const;

 private:
  struct Argument {
    std::optional<RelationRuns> reads, may_writes, must_writes;
    bool reads_any = false;
    bool writes_any = false;
  };
  std::shared_ptr<const BlockClaims> evaluate(const BlockIndex& block) const;

  Dim3 grid_;
  std::vector<Argument> arguments_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const BlockClaims>> known_;  // by block
  size_t known_runs_ = 0;
};

}  // namespace sluice::runtime
