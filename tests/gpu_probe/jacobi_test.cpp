#include "jacobi.hpp"

#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::gpu_probe {
namespace {

TEST(Jacobi, APlateHasAboutTheBytesAskedFor) {
  for (const std::size_t bytes : {2'000'000ul, 25'000'000ul, 50'000'000ul, 400'000'000ul}) {
    const Plate plate = plate_of(bytes);
    EXPECT_EQ(plate.width % tile_width, 0);
    EXPECT_EQ(plate.height % tile_height, 0);
    const double got = 8.0 * static_cast<double>(plate.cells());
    EXPECT_LE(got, static_cast<double>(bytes));
    EXPECT_GE(got, 0.95 * static_cast<double>(bytes));
    EXPECT_NEAR(static_cast<double>(plate.width) / plate.height, 1.0, 0.25);
  }
}

TEST(Jacobi, APlateHasAtLeastOneTile) {
  EXPECT_EQ(plate_of(1).tiles().tiles(), 1u);
}

TEST(Jacobi, OneStepByHand) {
  const Plate plate = {tile_width, tile_height};
  const std::vector<float> result = host_jacobi(plate, launch_order({1, 1}, 1), 1);
  const std::size_t width = static_cast<std::size_t>(plate.width);
  const std::size_t cell = 5 * width + 7;
  const float expected = 0.2f * (((first_value(cell - width) + first_value(cell + width)) +
                                  (first_value(cell - 1) + first_value(cell + 1))) +
                                 first_value(cell));
  EXPECT_EQ(result[cell], expected);
}

TEST(Jacobi, TheBorderKeepsItsValue) {
  const Plate plate = {2 * tile_width, 2 * tile_height};
  const std::vector<float> result = host_jacobi(plate, launch_order({2, 2}, 4), 4);
  const std::size_t width = static_cast<std::size_t>(plate.width);
  for (std::size_t x = 0; x < width; ++x) {
    EXPECT_EQ(result[x], first_value(x));
    const std::size_t last = plate.cells() - 1 - x;
    EXPECT_EQ(result[last], first_value(last));
  }
  for (std::size_t y = 0; y < static_cast<std::size_t>(plate.height); ++y) {
    EXPECT_EQ(result[y * width], first_value(y * width));
  }
}

TEST(Jacobi, EverySkewedOrderGivesTheLaunchOrdersBits) {
  const Plate plate = {2 * tile_width, 9 * tile_height};
  const std::vector<float> expected =
      host_jacobi(plate, launch_order(plate.tiles(), jacobi_steps), jacobi_steps);
  for (unsigned depth = 2; depth <= jacobi_steps; depth *= 2) {
    for (const unsigned skew : {1u, 3u}) {
      const auto order = skewed_order(plate.tiles(), jacobi_steps, depth, skew);
      EXPECT_EQ(host_jacobi(plate, order, jacobi_steps), expected) << depth << ", " << skew;
    }
  }
}

TEST(Jacobi, AWrongOrderIsSeenInTheBits) {
  const Plate plate = {2 * tile_width, 2 * tile_height};
  std::vector<std::uint32_t> order = launch_order(plate.tiles(), 4);
  const std::vector<float> expected = host_jacobi(plate, order, 4);
  std::swap(order[3],
            order[4]);  // the last tile of step 0 after the first of step 1: no neighbours
  EXPECT_EQ(host_jacobi(plate, order, 4), expected);
  std::swap(order[3], order[4]);
  std::swap(order[2], order[4]);  // tile 2's step 0 after its neighbour's step 1
  EXPECT_NE(host_jacobi(plate, order, 4), expected);
}

TEST(Jacobi, FirstValuesDiffer) {
  std::set<float> values;
  for (std::size_t cell = 0; cell < 1000; ++cell) {
    const float value = first_value(cell);
    EXPECT_GE(value, 0.0f);
    EXPECT_LT(value, 1.0f);
    values.insert(value);
  }
  EXPECT_GT(values.size(), 900u);
}

}  // namespace
}  // namespace sluice::gpu_probe
