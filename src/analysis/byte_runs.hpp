// Byte ranges of one block, read out of a relation. Internal to the analysis.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::analysis {

struct ByteRun {
  int64_t first = 0;
  int64_t end = 0;
};

// BlockBytes is what one block touches. `complete` is false where there was too much to list.
struct BlockBytes {
  std::array<int64_t, 3> block{};
  std::vector<ByteRun> runs;
  uint64_t bytes = 0;
  bool complete = true;
};

// bytes_of_a_block() lists the bytes of `preferred`, or of the relation's first block where that
// one touches nothing. Empty runs where the relation is empty or not one.
BlockBytes bytes_of_a_block(const std::string& relation, std::array<int64_t, 3> preferred);

}  // namespace sluice::analysis
