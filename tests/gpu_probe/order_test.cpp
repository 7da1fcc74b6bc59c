#include "order.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace sluice::gpu_probe {
namespace {

TEST(Order, LaunchOrderIsStepAfterStep) {
  const std::vector<std::uint32_t> expected = {pack_task(0, 0), pack_task(0, 1), pack_task(1, 0),
                                               pack_task(1, 1)};
  EXPECT_EQ(launch_order({2, 1}, 2), expected);
}

TEST(Order, SkewedOrderOfOneColumn) {
  // Fronts y + t: (t0,y0); (t0,y1) (t1,y0); (t0,y2) (t1,y1); (t1,y2).
  const std::vector<std::uint32_t> expected = {pack_task(0, 0), pack_task(0, 1), pack_task(1, 0),
                                               pack_task(0, 2), pack_task(1, 1), pack_task(1, 2)};
  EXPECT_EQ(skewed_order({1, 3}, 2, 2, 1), expected);
}

TEST(Order, DepthOneIsTheLaunchOrder) {
  EXPECT_EQ(skewed_order({5, 7}, 4, 1, 3), launch_order({5, 7}, 4));
}

TEST(Order, EveryDepthAndSkewIsValid) {
  for (const TileGrid grid : {TileGrid{1, 1}, TileGrid{4, 3}, TileGrid{3, 40}, TileGrid{17, 1}}) {
    EXPECT_TRUE(is_valid_order(launch_order(grid, 9), grid, 9));
    for (const unsigned depth : {1u, 2u, 3u, 4u, 8u, 16u, 32u}) {
      for (const unsigned skew : {1u, 2u, 5u}) {
        EXPECT_TRUE(is_valid_order(skewed_order(grid, 9, depth, skew), grid, 9))
            << grid.width << " x " << grid.height << ", depth " << depth << ", skew " << skew;
      }
    }
  }
}

TEST(Order, ValidityFindsWhatIsMissingTwiceOrTooEarly) {
  const TileGrid grid = {2, 2};
  const std::vector<std::uint32_t> good = launch_order(grid, 2);
  EXPECT_TRUE(is_valid_order(good, grid, 2));
  std::vector<std::uint32_t> missing = good;
  missing.pop_back();
  EXPECT_FALSE(is_valid_order(missing, grid, 2));
  std::vector<std::uint32_t> twice = good;
  twice[1] = twice[0];
  EXPECT_FALSE(is_valid_order(twice, grid, 2));
  std::vector<std::uint32_t> outside = good;
  outside.back() = pack_task(1, 4);
  EXPECT_FALSE(is_valid_order(outside, grid, 2));
  std::vector<std::uint32_t> past = good;
  past.back() = pack_task(2, 0);
  EXPECT_FALSE(is_valid_order(past, grid, 2));
}

// Two steps of 3 x 3 in launch order, but that the middle's step 1 comes before step 0 of `late`.
std::vector<std::uint32_t> with_late_tile(unsigned late) {
  constexpr unsigned middle = 4;
  std::vector<std::uint32_t> order;
  for (unsigned tile = 0; tile < 9; ++tile) {
    if (tile != late) {
      order.push_back(pack_task(0, tile));
    }
  }
  order.push_back(pack_task(1, middle));
  order.push_back(pack_task(0, late));
  for (unsigned tile = 0; tile < 9; ++tile) {
    if (tile != middle) {
      order.push_back(pack_task(1, tile));
    }
  }
  return order;
}

TEST(Order, ValidityChecksEachNeighbour) {
  for (const unsigned late : {1u, 3u, 4u, 5u, 7u}) {
    EXPECT_FALSE(is_valid_order(with_late_tile(late), {3, 3}, 2)) << late;
  }
  for (const unsigned diagonal : {0u, 2u, 6u, 8u}) {
    EXPECT_TRUE(is_valid_order(with_late_tile(diagonal), {3, 3}, 2)) << diagonal;
  }
}

// The shortest way between a task in the middle of the grid and the nearest one it waits for.
std::size_t nearest_master(const std::vector<std::uint32_t>& order, TileGrid grid, unsigned step) {
  std::map<std::uint32_t, std::size_t> place;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
  }
  const unsigned tile = grid.height / 2 * grid.width + grid.width / 2;
  std::size_t nearest = order.size();
  for (const unsigned master : {tile, tile - 1, tile + 1, tile - grid.width, tile + grid.width}) {
    nearest = std::min(nearest, place[pack_task(step, tile)] - place[pack_task(step - 1, master)]);
  }
  return nearest;
}

TEST(Order, TheSkewKeepsMastersFarEnough) {
  const TileGrid grid = {13, 400};
  for (const unsigned depth : {2u, 4u, 8u, 16u}) {
    const unsigned workers = 100;
    const unsigned skew = skew_for(grid, depth, workers);
    const std::size_t far = nearest_master(skewed_order(grid, 16, depth, skew), grid, depth - 1);
    EXPECT_GE(far, 2 * workers) << "depth " << depth << ", skew " << skew;
    ASSERT_GT(skew, 1u);
    const std::size_t near =
        nearest_master(skewed_order(grid, 16, depth, skew - 1), grid, depth - 1);
    EXPECT_LT(near, 2 * workers) << "a smaller skew than " << skew << " would do";
  }
}

TEST(Order, AWideGridNeedsNoMoreThanSkewOne) {
  EXPECT_EQ(skew_for({1000, 50}, 4, 100), 1u);
}

}  // namespace
}  // namespace sluice::gpu_probe
