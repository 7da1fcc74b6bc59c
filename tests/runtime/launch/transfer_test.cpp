// Copies and fills of device memory as launches among those of kernels.
#include "runtime/launch/transfer.hpp"

#include <numeric>

#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using ::testing::ElementsAre;
using testing::PingPong;

uint64_t address_of(const void* memory) {
  return reinterpret_cast<uint64_t>(memory);
}

// satisfies() is whether the relation has (block, byte).
bool satisfies(const Relation::Piece& piece, int64_t x, int64_t y, int64_t byte) {
  const int64_t columns[] = {1, x, y, 0, byte};
  const auto value = [&](const Relation::Row& row) {
    return std::inner_product(row.begin(), row.end(), columns, int64_t{0});
  };
  return std::ranges::all_of(piece.equal, [&](const auto& row) { return value(row) == 0; }) &&
         std::ranges::all_of(piece.at_least, [&](const auto& row) { return value(row) >= 0; });
}

// Each block by itself writes the bytes that its footprint says, and these are what the transfer
// is to write.
void expect_exact(Transfer transfer) {
  std::vector<uint8_t> from(40'000), to(40'000, 0), before = to;
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<uint8_t>(1 + i % 251);
  transfer.to = address_of(to.data());
  if (transfer.kind == Transfer::Kind::copy) transfer.from = address_of(from.data());
  ASSERT_TRUE(is_simple(transfer));
  const TransferLaunch launch(transfer);
  const LaunchCall& call = launch.call();
  const SluiceBlockLaunch blocks{call.extra[1], {call.grid.x, call.grid.y, call.grid.z}, 0};
  const auto model = transfer_model(transfer.kind);
  analysis::LaunchShape shape{.grid = call.grid, .block = call.block, .shape_values = {}};
  for (const analysis::ParameterSlot& slot : model->signature().shape_scalars) {
    uint64_t value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(call.extra[1]) + slot.offset, slot.size);
    shape.shape_values.push_back(value);
  }
  const analysis::Footprint footprint = model->footprint(shape);
  ASSERT_EQ(footprint.arguments[0].must_writes.relation.pieces.size(), 1U);
  const Relation::Piece& writes = footprint.arguments[0].must_writes.relation.pieces[0];
  for (uint32_t block = 0; block < call.grid.count(); ++block) {
    transfer_code(transfer.kind).function(&blocks, block, 1, nullptr);
    for (size_t i = 0; i < to.size(); ++i) {
      ASSERT_EQ(to[i] != before[i], satisfies(writes, block % call.grid.x, block / call.grid.x,
                                              static_cast<int64_t>(i)))
          << "block " << block << " byte " << i;
    }
    before = to;
  }
  for (size_t i = 0; i < to.size(); ++i) {
    const bool in_rows = i < transfer.to_extent() &&
                         (transfer.rows == 1 || i % transfer.to_pitch < transfer.row_bytes);
    ASSERT_EQ(to[i] != 0, in_rows) << i;
  }
  std::ranges::fill(to, uint8_t{0});
  transfer_code(transfer.kind)
      .function(&blocks, 0, static_cast<uint32_t>(call.grid.count()), nullptr);
  EXPECT_EQ(to, before);
}

TEST(Transfer, BlocksWriteWhatTheirFootprintsSay) {
  constexpr auto copy = Transfer::Kind::copy, fill = Transfer::Kind::fill;
  expect_exact({.kind = copy, .row_bytes = 1});
  expect_exact({.kind = copy, .row_bytes = 4096});
  expect_exact({.kind = copy, .row_bytes = 20'001});
  expect_exact(
      {.kind = copy, .row_bytes = 5'000, .rows = 4, .to_pitch = 6'000, .from_pitch = 8'000});
  expect_exact({.kind = copy, .row_bytes = 500, .rows = 40, .to_pitch = 500, .from_pitch = 500});
  expect_exact({.kind = fill, .row_bytes = 9'000, .value = 7, .element_bytes = 1});
  expect_exact({.kind = fill, .row_bytes = 9'000, .value = 0x0706, .element_bytes = 2});
  expect_exact({.kind = fill,
                .row_bytes = 8'200,
                .rows = 3,
                .to_pitch = 8'204,
                .value = 0x09080706,
                .element_bytes = 4});
}

TEST(Transfer, WhatTheDriverMayRefuseOrWhatOverlapsIsNotSimple) {
  const Transfer copy{
      .to = 4096, .from = 1 << 20, .row_bytes = 64, .rows = 3, .to_pitch = 64, .from_pitch = 80};
  EXPECT_TRUE(is_simple(copy));
  const auto without = [&](auto&& change) {
    Transfer changed = copy;
    change(changed);
    return is_simple(changed);
  };
  EXPECT_FALSE(without([](Transfer& t) { t.row_bytes = 0; }));
  EXPECT_FALSE(without([](Transfer& t) { t.rows = 0; }));
  EXPECT_FALSE(without([](Transfer& t) { t.to_pitch = 63; }));
  EXPECT_FALSE(without([](Transfer& t) { t.from_pitch = UINT64_MAX / 2; }));
  EXPECT_FALSE(without([](Transfer& t) { t.rows = 70'000; }));
  EXPECT_FALSE(without([](Transfer& t) { t.from = t.to + t.to_extent() - 1; }));
  const Transfer fill{
      .kind = Transfer::Kind::fill, .to = 4096, .row_bytes = 64, .element_bytes = 4};
  EXPECT_TRUE(is_simple(fill));
  Transfer odd = fill;
  odd.to = 4098;
  EXPECT_FALSE(is_simple(odd));
}

class TransferTest : public testing::RuntimeTest {
 protected:
  void begin(uint32_t cells, const Config& config = Config{}) {
    program = std::make_unique<PingPong>(cells);
    third.assign(cells, 0);
    device.host_memory = true;
    start(config);
    program->allocate_in(*runtime);
    runtime->memory_allocated(address_of(third.data()), third.size() * sizeof(float));
  }
  std::optional<int> copy(const std::vector<float>& from, std::vector<float>& to, size_t cells) {
    return runtime->take(Transfer{.to = address_of(to.data()),
                                  .from = address_of(from.data()),
                                  .row_bytes = cells * sizeof(float)});
  }
  void step(uint32_t t) { ASSERT_EQ(program->launch(*runtime, kernels["step"], t), 0); }

  std::unique_ptr<PingPong> program;
  std::vector<float> third;
};

TEST_F(TransferTest, IsALaunchOfTheWindowWithEdgesOfItsPieces) {
  constexpr uint32_t cells = 4096;  // 512 blocks of a step, 4 pieces
  begin(cells);
  device.pause();
  step(0);
  step(1);
  EXPECT_EQ(copy(program->buffer(0), third, cells), 0);  // what the second step wrote
  EXPECT_EQ(runtime->take(Transfer{.kind = Transfer::Kind::fill,
                                   .to = address_of(program->buffer(1).data()),
                                   .row_bytes = cells * sizeof(float) / 2,
                                   .value = 0x3f800000,
                                   .element_bytes = 4}),
            0);
  step(2);
  EXPECT_THAT(device.events(), ElementsAre("window 0"));
  const uint64_t edges = runtime->counters().edges;
  EXPECT_EQ(copy(program->buffer(1), third, cells), 0);
  // Of the step before it, whose 510 inner cells' blocks are all of its 512: each is of one piece.
  // Of the copy before it, the pieces of the same bytes. The fill's bytes were all overwritten but
  // the border cell, which the first piece copies.
  EXPECT_EQ(runtime->counters().edges - edges, 512U + 4U + 1U);
  device.resume();
  synchronise();
  EXPECT_THAT(device.events(), ElementsAre("window 0", "window 0"));
  PingPong expected(cells);
  for (uint32_t t = 0; t < 3; ++t)
    expected.step(t);
  EXPECT_EQ(program->buffer(0), expected.buffer(0));
  std::vector<float> last = expected.buffer(1);
  last.front() = 1;  // no step writes the borders
  EXPECT_EQ(program->buffer(1), last);
  EXPECT_EQ(third, last);
}

TEST_F(TransferTest, IsTheDriversWhereNothingElseIsFollowedOrItsMemoryIsUnknown) {
  begin(64);
  EXPECT_EQ(copy(program->buffer(0), third, 64), std::nullopt);
  step(0);
  EXPECT_EQ(copy(program->buffer(0), third, 65), std::nullopt);
  std::vector<float> unknown(64);
  EXPECT_EQ(copy(unknown, third, 64), std::nullopt);
  EXPECT_EQ(copy(third, unknown, 64), std::nullopt);
  EXPECT_EQ(copy(program->buffer(0), third, 64), 0);
  synchronise();
}

// As cudaMemcpy() between device memory, for which CUDA has no host wait; it waits for one of
// managed memory, which it may read at once.
TEST_F(TransferTest, ThatHasNoStreamIsALaunchWhereTheHostReadsNoneOfItsMemory) {
  begin(64);
  std::vector<float> managed(64);
  runtime->memory_allocated(address_of(managed.data()), 64 * sizeof(float), Memory::host_may_watch);
  step(0);
  const auto take = [&](const std::vector<float>& from, const std::vector<float>& to) {
    return runtime->take(Transfer{.to = address_of(to.data()),
                                  .from = address_of(from.data()),
                                  .row_bytes = 64 * sizeof(float),
                                  .host_waits = true});
  };
  EXPECT_EQ(take(program->buffer(1), third), 0);
  EXPECT_EQ(take(managed, third), std::nullopt);
  EXPECT_EQ(take(third, managed), std::nullopt);
  EXPECT_EQ(runtime->take(Transfer{.kind = Transfer::Kind::fill,
                                   .to = address_of(managed.data()),
                                   .row_bytes = 64 * sizeof(float),
                                   .host_waits = true}),
            std::nullopt);
  synchronise();
  EXPECT_EQ(third, program->buffer(1));
}

// Else to exclude launches would change the numbers of those behind them.
TEST_F(TransferTest, IsALaunchWhateverBecomesOfTheKernelsBeforeIt) {
  begin(64, Config{.exclusion = *Exclusion::read("step")});
  step(0);
  EXPECT_EQ(copy(program->buffer(1), third, 64), 0);
  step(1);
  synchronise();
  EXPECT_THAT(device.events(), ElementsAre("launch step", "window 0", "launch step"));
  EXPECT_EQ(third, program->buffer(1));
}

TEST_F(TransferTest, IsExcludedByItsName) {
  begin(64, Config{.exclusion = *Exclusion::read("device-copy")});
  step(0);
  EXPECT_EQ(copy(program->buffer(1), third, 64), 0);
  synchronise();
  EXPECT_THAT(device.events(), ElementsAre("window 0", "launch device-copy"));
  EXPECT_EQ(third, program->buffer(1));
}

TEST_F(TransferTest, IsGivenToTheDriverWhereTheDeviceTakesNoWindow) {
  begin(64);
  step(0);
  device.wait_idle();
  device.enqueue_error = 801;  // CUDA_ERROR_NOT_SUPPORTED
  EXPECT_EQ(copy(program->buffer(1), third, 64), 0);
  device.wait_idle();
  EXPECT_THAT(device.events(), ElementsAre("window 0", "launch device-copy"));
  EXPECT_EQ(third, program->buffer(1));
}

}  // namespace
}  // namespace sluice::runtime
