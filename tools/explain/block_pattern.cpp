#include "tools/explain/block_pattern.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

namespace sluice::tools {
namespace {

bool at_edge(const BlockIndex& block, const Dim3& grid) {
  const auto is_end = [](uint32_t at, uint32_t extent) {
    return extent > 1 && (at == 0 || at == extent - 1);
  };
  return is_end(block.x, grid.x) || is_end(block.y, grid.y) || is_end(block.z, grid.z);
}

// Sample is the box around what a block touches.
struct Sample {
  BlockIndex block;
  Box box;
};

// PatternFinder fits a box that is linear in the block's indices.
class PatternFinder {
 public:
  PatternFinder(const BlockSample& bytes, const Dim3& grid)
      : bytes_(bytes), grid_(grid), middle_(coordinates(bytes.blocks().front())) {}

  std::optional<BlockPattern> find(const Pitches& pitches) {
    samples_.clear();
    for (size_t i = 0; i < bytes_.blocks().size(); ++i) {
      auto box = bytes_.box(i, pitches);
      if (!box) return std::nullopt;
      samples_.push_back({bytes_.blocks()[i], std::move(*box)});
    }
    BlockPattern pattern;
    pattern.pitches = pitches;
    for (size_t i = 0; i <= pitches.size(); ++i) {
      const auto first = fit([i](const Box& box) { return box[i].begin; }, false);
      const auto last = fit([i](const Box& box) { return box[i].end - 1; }, true);
      if (!first || !last) return std::nullopt;
      pattern.box.emplace_back(*first, *last);
    }
    for (const Sample& sample : samples_) {
      if (meets(pattern, sample)) continue;
      (at_edge(sample.block, grid_) ? pattern.less_at_edges : pattern.less_elsewhere) = true;
    }
    return pattern;
  }

 private:
  // slopes() are how a number changes from the middle block to either neighbour along an axis.
  template <class Number>
  std::vector<int64_t> slopes(size_t axis, const Number& number) const {
    const Sample* middle = at(middle_);
    std::set<int64_t> found;
    for (const int64_t step : {-1, 1}) {
      std::array<int64_t, 3> place = middle_;
      place[axis] += step;
      const Sample* neighbour = at(place);
      if (middle && neighbour) found.insert(step * (number(neighbour->box) - number(middle->box)));
    }
    if (found.empty()) found.insert(0);
    return {found.begin(), found.end()};
  }

  // fit() is the line that meets the number of the most blocks and is never inside a block's box.
  template <class Number>
  std::optional<Linear> fit(const Number& number, bool is_upper) const {
    std::optional<Linear> best;
    size_t best_met = 0;
    for (const int64_t x : slopes(0, number)) {
      for (const int64_t y : slopes(1, number)) {
        for (const int64_t z : slopes(2, number)) {
          Linear line{0, {x, y, z}};
          line.constant =
              number(at(middle_)->box) - x * middle_[0] - y * middle_[1] - z * middle_[2];
          const auto is_outside = [&](const Sample& sample) {
            const int64_t here = line.at(sample.block), there = number(sample.box);
            return is_upper ? here >= there : here <= there;
          };
          if (!std::all_of(samples_.begin(), samples_.end(), is_outside)) continue;
          const size_t met =
              size_t(std::count_if(samples_.begin(), samples_.end(), [&](const Sample& sample) {
                return line.at(sample.block) == number(sample.box);
              }));
          if (!best || met > best_met) {
            best = line;
            best_met = met;
          }
        }
      }
    }
    return best;
  }

  const Sample* at(const std::array<int64_t, 3>& place) const {
    for (const Sample& sample : samples_) {
      if (coordinates(sample.block) == place) return &sample;
    }
    return nullptr;
  }

  static bool meets(const BlockPattern& pattern, const Sample& sample) {
    for (size_t i = 0; i < pattern.box.size(); ++i) {
      if (pattern.box[i].first.at(sample.block) != sample.box[i].begin ||
          pattern.box[i].second.at(sample.block) != sample.box[i].end - 1) {
        return false;
      }
    }
    return true;
  }

  const BlockSample& bytes_;
  Dim3 grid_;
  std::array<int64_t, 3> middle_;
  std::vector<Sample> samples_;
};

std::string isl_text(const Linear& line) {
  return fmt::format("{} + {}x + {}y + {}z", line.constant, line.slope[0], line.slope[1],
                     line.slope[2]);
}

}  // namespace

int64_t Linear::at(const BlockIndex& block) const {
  return constant + slope[0] * block.x + slope[1] * block.y + slope[2] * block.z;
}

std::optional<BlockPattern> fit_pattern(const BlockSample& sample, const Dim3& grid,
                                        const Pitches& pitches) {
  return PatternFinder(sample, grid).find(pitches);
}

isl::map relation_of(const IslContext& context, const BlockPattern& pattern) {
  std::string variables, constraints, rest = "o";
  for (size_t i = 0; i < pattern.pitches.size(); ++i) {
    variables += fmt::format("{}i{}", i == 0 ? "" : ", ", i);
    constraints += fmt::format("{} <= i{} <= {} and ", isl_text(pattern.box[i].first), i,
                               isl_text(pattern.box[i].second));
    rest += fmt::format(" - {} i{}", pattern.pitches[i], i);
  }
  constraints += fmt::format("{} <= {} <= {}", isl_text(pattern.box.back().first), rest,
                             isl_text(pattern.box.back().second));
  const std::string condition =
      variables.empty() ? constraints : fmt::format("exists {} : {}", variables, constraints);
  return isl::map(context.get(), fmt::format("{{ B[x, y, z] -> A[o] : {} }}", condition));
}

}  // namespace sluice::tools
