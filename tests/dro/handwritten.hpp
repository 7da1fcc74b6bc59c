// Handwritten footprints and a tracker that is easy to drive, for the tests of dro.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/footprint.hpp"
#include "dro/rule/tracker.hpp"
#include "relation_text.hpp"

namespace sluice::dro::testing {

using sluice::testing::relation_of;

using analysis::Access;
using analysis::ArgumentFootprint;
using analysis::Footprint;
using analysis::Precision;

inline Access exact(Relation relation) {
  return {std::move(relation), Precision::exact, {}};
}
inline Access exact(const std::string& relation) {
  return exact(relation_of(relation));
}
inline Access whole() {
  return {{}, Precision::whole_buffer, {}};
}
inline ArgumentFootprint reads(const std::string& relation) {
  return {exact(relation), {}, {}};
}
inline ArgumentFootprint writes(const std::string& relation) {
  return {{}, {}, exact(relation)};
}
inline ArgumentFootprint may_write(const std::string& relation) {
  return {{}, exact(relation), {}};
}

inline Footprint footprint(std::string kernel, Dim3 grid,
                           std::vector<ArgumentFootprint> arguments) {
  Footprint result;
  result.kernel = std::move(kernel);
  result.shape.grid = grid;
  result.arguments = std::move(arguments);
  return result;
}

// chunks() is "block x touches [offset + stride x, offset + stride x + bytes)" for one row of
// blocks.
inline std::string chunks(uint32_t blocks, long stride, long bytes, long offset = 0) {
  return "{ B[x, y, z] -> A[o] : 0 <= x < " + std::to_string(blocks) + " and y = 0 and z = 0 and " +
         std::to_string(offset) + " + " + std::to_string(stride) + " x <= o < " +
         std::to_string(offset + bytes) + " + " + std::to_string(stride) + " x }";
}

// range() is "each block touches the bytes [begin, end)".
inline std::string range(uint32_t blocks, long begin, long end) {
  return chunks(blocks, 0, end - begin, begin);
}

// stencil() is a 5-point Jacobi step over size x size floats, inner points only, by square blocks:
// argument 0 is read, argument 1 written.
inline Footprint stencil(uint32_t size, uint32_t block, const std::string& kernel = "stencil") {
  const uint32_t extent = (size + block - 1) / block;
  const std::string n = std::to_string(size);
  const std::string b = std::to_string(block);
  const std::string domain = "exists i, j : 0 <= x < " + std::to_string(extent) + " and 0 <= y < " +
                             std::to_string(extent) + " and z = 0 and " + b + "x <= i < " + b +
                             "x + " + b + " and " + b + "y <= j < " + b + "y + " + b +
                             " and 1 <= i < " + n + " - 1 and 1 <= j < " + n + " - 1 and ";
  const auto cell = [&](int right, int down) {
    const std::string element =
        "4*(" + n + "*(j + " + std::to_string(down) + ") + i + " + std::to_string(right) + ")";
    return "B[x, y, z] -> A[o] : " + domain + element + " <= o < " + element + " + 4";
  };
  const std::string read = "{ " + cell(0, 0) + "; " + cell(-1, 0) + "; " + cell(1, 0) + "; " +
                           cell(0, -1) + "; " + cell(0, 1) + " }";
  Footprint result =
      footprint(kernel, {extent, extent, 1}, {reads(read), writes("{ " + cell(0, 0) + " }")});
  result.shape.block = {block, block, 1};
  return result;
}

// Driver drives a tracker launch by launch.
class Driver {
 public:
  explicit Driver(Rule rule = Rule::exact, Observer* observer = nullptr)
      : tracker_(rule, observer) {}

  BufferId buffer(uint64_t bytes) {
    tracker_.buffer_created(++last_buffer_, bytes);
    return last_buffer_;
  }

  // launch() returns the dependences of one launch; its number is launches().
  std::vector<Dependence> launch(const Footprint& footprint, std::vector<BoundArgument> arguments) {
    const auto id = tracker_.add_footprint(footprint);
    EXPECT_TRUE(id) << (id ? "" : id.error().line());
    std::vector<Dependence> dependences;
    tracker_.launch({++last_launch_, id.value_or(0), arguments}, dependences);
    return dependences;
  }

  LaunchNumber launches() const { return last_launch_; }
  LaunchNumber next_number() { return ++last_launch_; }
  DependenceTracker& tracker() { return tracker_; }
  uint64_t edges(const Dependence& dependence) const {
    return tracker_.edge_table(dependence.dro->edges).edge_count;
  }

 private:
  DependenceTracker tracker_;
  BufferId last_buffer_ = 0;
  LaunchNumber last_launch_ = 0;
};

inline std::vector<LaunchNumber> masters(const std::vector<Dependence>& dependences) {
  std::vector<LaunchNumber> result;
  for (const Dependence& dependence : dependences)
    result.push_back(dependence.master);
  return result;
}

// masters_of() expands a table: the linear master blocks of one slave block, ascending.
inline std::vector<uint32_t> masters_of(const EdgeTable& table, uint32_t slave) {
  std::vector<uint32_t> blocks;
  for_each_master_range(table, slave, 1, [&](uint32_t first, uint32_t last) {
    for (uint32_t block = first; block <= last; ++block)
      blocks.push_back(block);
  });
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

}  // namespace sluice::dro::testing
