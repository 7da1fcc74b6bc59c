// One launch under the footprint check: its blocks run one by one, traced, and what each touched
// is compared with what the footprint claims.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/number/divide_up.hpp"
#include "hostcuda/block_abi.h"
#include "megakernel/window.hpp"
#include "runtime/check/footprint_claims.hpp"
#include "runtime/launch/arguments.hpp"

namespace sluice::runtime {

// Violation is an access outside the footprint, or a must-write that did not happen.
struct Violation {
  enum class Kind { read, write, missing_must_write };
  Kind kind = Kind::read;
  std::string argument;  // whose buffer it is in; empty: in none that the launch was given
  BlockIndex block;
  int64_t offset = 0;  // bytes from the argument's value, or the address where there is none
  uint64_t bytes = 0;
  uint32_t line = 0;  // of the PTX; 0 where unknown
};

// AccessTightness counts bytes over all blocks: what was claimed, and what of it was touched.
struct AccessTightness {
  uint64_t claimed = 0;
  uint64_t touched = 0;
};

// BlockFindings is what came of checking one block.
struct BlockFindings {
  struct Argument {
    AccessTightness reads, writes;
    uint64_t must_writes = 0;  // bytes claimed as must-writes
  };
  std::vector<Argument> arguments;
  std::vector<Violation> violations;
};

// Findings takes what the blocks of a launch did. Called on worker threads.
class Findings {
 public:
  virtual ~Findings() = default;
  virtual void add(const BlockFindings& findings) = 0;
};

using SetAccessSink = std::function<void(const SluiceAccessSink* sink)>;

// BlockChoice is which blocks of a launch are checked.
struct BlockChoice {
  uint32_t every = 1;
  uint32_t first = 0;
  uint32_t last_of_grid = 0;

  // of_launch() spreads about `most` over the grid (0: all), starting at another block in each
  // launch.
  static BlockChoice of_launch(uint32_t blocks, uint32_t most, uint64_t launch) {
    const auto every =
        static_cast<uint32_t>(most == 0 || blocks <= most ? 1 : divide_up(blocks, most));
    return {every, static_cast<uint32_t>(launch % every), blocks - 1};
  }
  bool has(uint32_t block) const {
    return block == 0 || block == last_of_grid || block % every == first;
  }
};

// LaunchCheck runs the traced blocks of one launch. Thread-safe.
class LaunchCheck final : public megakernel::BlockRunner {
 public:
  LaunchCheck(std::shared_ptr<FootprintClaims> claims, std::vector<BoundPointer> pointers,
              BlockChoice choice, size_t parameter_bytes, SetAccessSink set_sink,
              std::shared_ptr<Findings> findings);

  void run(const SluiceBlockCode& code, const SluiceBlockLaunch& launch, uint32_t first_block,
           uint32_t block_count, void* scratch) override;

 private:
  std::shared_ptr<FootprintClaims> claims_;
  std::vector<BoundPointer> pointers_;
  BlockChoice choice_;
  size_t parameter_bytes_;
  SetAccessSink set_sink_;
  std::shared_ptr<Findings> findings_;
};

}  // namespace sluice::runtime
