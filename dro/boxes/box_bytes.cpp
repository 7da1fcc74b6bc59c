// What all blocks touch together, where accesses are boxes.
#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "dro/boxes/block_boxes.hpp"
#include "dro/boxes/box_product.hpp"

namespace sluice::dro {
namespace {

// So many ranges, or entries of tables, are gone through in a step.
constexpr uint64_t entries_a_step = 8;

bool have_equal_strides(const BlockBoxes& a, const BlockBoxes& b) {
  return std::ranges::equal(a.levels, b.levels, {}, &BoxLevel::stride, &BoxLevel::stride);
}

// PieceStack lists the bytes of pieces whose strides are equal, level by level. Where the same
// pieces stand at several positions of a level, what they have within is found once: the seven
// reads of a stencil in a cube take one list of its rows and not seven that are merged.
class PieceStack {
 public:
  PieceStack(std::span<const BlockBoxes> pieces, Budget& budget)
      : pieces_(pieces), budget_(budget), positions_(pieces.size()) {}

  // list() is sorted ranges between which bytes are missing; nothing past the budget.
  std::optional<std::vector<Range>> list() {
    std::vector<uint32_t> all;
    for (uint32_t piece = 0; piece < pieces_.size(); ++piece) {
      if (touches_nothing(pieces_[piece])) continue;
      std::vector<std::vector<Range>>& levels = positions_[piece];
      for (const BoxLevel& level : pieces_[piece].levels) {
        if (!budget_.make<Range>(level.at.size(), entries_a_step)) return std::nullopt;
        std::vector<Range> positions;
        for (const Interval& at : level.at) {
          if (!at.empty()) positions.push_back({at.first, at.last + 1});
        }
        if (!join(positions)) return std::nullopt;
        levels.push_back(std::move(positions));
      }
      all.push_back(piece);
    }
    if (all.empty()) return std::vector<Range>();
    return bytes_at(0, all);
  }

 private:
  // Place is where, on one level, the same pieces stand from `first` to before `end`.
  struct Place {
    int64_t first = 0;
    int64_t end = 0;
    std::vector<uint32_t> pieces;
  };

  // join() joins ranges in place; false past the budget.
  bool join(std::vector<Range>& ranges) {
    const bool sorted = std::ranges::is_sorted(ranges, {}, &Range::begin);
    if (!budget_.take(1 + ranges.size() / entries_a_step +
                      (sorted ? 0 : sorting_steps(ranges.size()))))
      return false;
    join_ranges(ranges);
    return true;
  }

  std::optional<std::vector<Place>> places_at(size_t depth, const std::vector<uint32_t>& pieces);
  std::optional<std::vector<Range>> bytes_at(size_t depth, const std::vector<uint32_t>& pieces);

  const std::span<const BlockBoxes> pieces_;
  Budget& budget_;
  std::vector<std::vector<std::vector<Range>>> positions_;  // by piece and level
};

// places_at() cuts a level where a piece begins or ends.
std::optional<std::vector<PieceStack::Place>> PieceStack::places_at(
    size_t depth, const std::vector<uint32_t>& pieces) {
  std::vector<int64_t> cuts;
  for (const uint32_t piece : pieces) {
    const std::vector<Range>& positions = positions_[piece][depth];
    if (!budget_.make<int64_t>(2 * positions.size(), entries_a_step)) return std::nullopt;
    for (const Range& range : positions)
      cuts.insert(cuts.end(), {range.begin, range.end});
  }
  if (!budget_.take(sorting_steps(cuts.size()) + cuts.size() * pieces.size() / entries_a_step))
    return std::nullopt;
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Place> places;
  std::vector<size_t> next(pieces.size());
  for (size_t cut = 0; cut + 1 < cuts.size(); ++cut) {
    Place place{cuts[cut], cuts[cut + 1], {}};
    for (size_t i = 0; i < pieces.size(); ++i) {
      const std::vector<Range>& positions = positions_[pieces[i]][depth];
      while (next[i] < positions.size() && positions[next[i]].end <= place.first)
        ++next[i];
      if (next[i] < positions.size() && positions[next[i]].begin <= place.first)
        place.pieces.push_back(pieces[i]);
    }
    if (!place.pieces.empty()) places.push_back(std::move(place));
  }
  return places;
}

// bytes_at() lists what pieces touch within one position of the level around `depth`.
std::optional<std::vector<Range>> PieceStack::bytes_at(size_t depth,
                                                       const std::vector<uint32_t>& pieces) {
  std::vector<Range> ranges;
  if (depth + 1 == pieces_[pieces.front()].levels.size()) {
    for (const uint32_t piece : pieces) {
      const std::vector<Range>& positions = positions_[piece][depth];
      if (!budget_.make<Range>(positions.size(), entries_a_step)) return std::nullopt;
      ranges.insert(ranges.end(), positions.begin(), positions.end());
    }
  } else {
    const int64_t stride = pieces_[pieces.front()].levels[depth].stride;
    const auto places = places_at(depth, pieces);
    if (!places) return std::nullopt;
    std::map<std::vector<uint32_t>, std::vector<Range>> known;
    for (const Place& place : *places) {
      const auto [within, is_new] = known.try_emplace(place.pieces);
      if (is_new) {
        auto found = bytes_at(depth + 1, place.pieces);
        if (!found) return std::nullopt;
        within->second = std::move(*found);
      }
      for (int64_t at = place.first; at < place.end; ++at) {
        if (!budget_.make<Range>(within->second.size(), entries_a_step)) return std::nullopt;
        for (const Range& range : within->second)
          ranges.push_back({stride * at + range.begin, stride * at + range.end});
      }
    }
  }
  if (!join(ranges)) return std::nullopt;
  return ranges;
}

}  // namespace

std::optional<Range> hull_of(const Boxes& boxes) {
  std::optional<Range> all;
  for (const BlockBoxes& piece : boxes) {
    if (touches_nothing(piece)) continue;
    Range range{0, 1};
    for (const BoxLevel& level : piece.levels) {
      const Interval positions = hull_of(level);
      range.begin += level.stride * positions.first;
      range.end += level.stride * positions.last;
    }
    all = joined(all, range);
  }
  return all;
}

std::optional<ByteIntervals> bytes_of(const Boxes& boxes, Budget& budget) {
  ByteIntervals bytes;
  for (auto first = boxes.begin(); first != boxes.end();) {
    const auto end = std::find_if(first, boxes.end(), [&](const BlockBoxes& piece) {
      return !have_equal_strides(*first, piece);
    });
    auto ranges = PieceStack(std::span(first, end), budget).list();
    first = end;
    if (!ranges) return std::nullopt;
    const ByteIntervals more(std::move(*ranges));
    const Budget::Cost cost = bytes.merging_cost(more);
    if (!budget.take(cost.steps, cost.bytes)) return std::nullopt;
    bytes = bytes.with(more);
  }
  return bytes;
}

}  // namespace sluice::dro
