// What a footprint says that each block touches, as runs of bytes, fast enough to ask for every
// block of a launch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/result.hpp"
#include "relation/relation_runs.hpp"
#include "runtime/check/byte_runs.hpp"

namespace sluice::runtime {

// RelationCache keeps the loops of relations, which the footprints of a family share. Not
// thread-safe.
class RelationCache {
 public:
  Result<std::shared_ptr<RelationRuns>> find(const Relation& relation);

 private:
  std::map<Relation, std::shared_ptr<RelationRuns>> known_;
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
  static Result<std::unique_ptr<FootprintClaims>> create(const analysis::Footprint& footprint,
                                                         RelationCache& cache);

  // of() takes the linear number of a block, x fastest. Null where the bytes cannot be listed.
  std::shared_ptr<const BlockClaims> of(uint32_t block);
  BlockIndex index_of(uint32_t block) const;
  uint32_t block_count() const { return static_cast<uint32_t>(known_.size()); }

 private:
  struct Argument {
    std::shared_ptr<RelationRuns> reads, may_writes, must_writes;
    bool reads_any = false;
    bool writes_any = false;
  };
  std::shared_ptr<const BlockClaims> evaluate(const BlockIndex& block) const;

  Dim3 grid_;
  std::vector<int64_t> values_;  // of the footprint's symbols
  std::vector<Argument> arguments_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const BlockClaims>> known_;  // by block
  size_t known_runs_ = 0;
};

}  // namespace sluice::runtime
