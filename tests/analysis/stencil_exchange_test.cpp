// Case 7 of the known cases: a stencil of 16 x 16 cells on 8 x 8 blocks of 2 x 2 threads, and what
// three parties that own rows of blocks have to exchange.
#include <gtest/gtest.h>

#include "footprint_oracle.hpp"

namespace sluice::analysis::testing {
namespace {

constexpr int n = 16;

Footprint stencil() {
  return footprint_of("stencil", {8, 8}, {2, 2}, {n});
}

Bytes elements(std::initializer_list<int> indices) {
  Bytes bytes;
  for (int i : indices) {
    for (int b = 0; b < 4; ++b)
      bytes.insert(4 * i + b);
  }
  return bytes;
}

int party_of(int block_row) {
  return block_row <= 2 ? 0 : block_row <= 5 ? 1 : 2;
}

TEST(StencilExchange, OneThreadReadsFiveElements) {
  // With blocks of one thread the block is the thread.
  const Footprint footprint = footprint_of("stencil", {16, 16}, {1, 1}, {n});
  EXPECT_EQ(bytes_of(footprint.arguments[0].reads.relation)[(Block{2, 2, 0})],
            elements({18, 33, 34, 35, 50}));
  EXPECT_EQ(bytes_of(footprint.arguments[1].must_writes.relation)[(Block{2, 2, 0})],
            elements({34}));
}

TEST(StencilExchange, BytesOfABlock) {
  const Footprint footprint = stencil();
  BytesByBlock reads = bytes_of(footprint.arguments[0].reads.relation);
  BytesByBlock writes = bytes_of(footprint.arguments[1].must_writes.relation);
  EXPECT_EQ((reads[{1, 1, 0}]), elements({18, 19, 33, 34, 35, 36, 49, 50, 51, 52, 66, 67}));
  EXPECT_EQ((writes[{1, 1, 0}]), elements({34, 35, 50, 51}));
  EXPECT_EQ((writes[{0, 0, 0}]), elements({17}));
  EXPECT_EQ(writes.size(), 64u);
}

TEST(StencilExchange, PartiesExchangeHaloRowsAndNothingElse) {
  const Footprint footprint = stencil();
  std::map<int, Bytes> reads, writes;
  for (const auto& [block, bytes] : bytes_of(footprint.arguments[0].reads.relation)) {
    reads[party_of(int(block[1]))].insert(bytes.begin(), bytes.end());
  }
  for (const auto& [block, bytes] : bytes_of(footprint.arguments[1].must_writes.relation)) {
    writes[party_of(int(block[1]))].insert(bytes.begin(), bytes.end());
  }
  using Range = std::pair<int64_t, int64_t>;
  std::map<std::pair<int, int>, std::vector<Range>> exchanged;
  for (const auto& [from, written] : writes) {
    for (const auto& [to, read] : reads) {
      if (from == to) continue;
      for (int64_t byte : written) {
        if (!read.contains(byte)) continue;
        auto& ranges = exchanged[{from, to}];
        if (!ranges.empty() && ranges.back().second == byte)
          ++ranges.back().second;
        else
          ranges.push_back({byte, byte + 1});
      }
    }
  }
  const std::map<std::pair<int, int>, std::vector<Range>> expected = {
      {{0, 1}, {{324, 380}}},
      {{1, 0}, {{388, 444}}},
      {{1, 2}, {{708, 764}}},
      {{2, 1}, {{772, 828}}},
  };
  EXPECT_EQ(exchanged, expected);
}

}  // namespace
}  // namespace sluice::analysis::testing
