#include "dro/boxes/box_edges.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

#include "dro/boxes/box_product.hpp"
#include "dro/edges/edge_forms.hpp"

namespace sluice::dro {
namespace {

// More products than these are left to others, since each is looked at for each offset.
constexpr size_t most_products = 64;

// So many coordinates, or ranges of blocks, are gone through in a step.
constexpr uint64_t places_a_step = 8;

// Closing collects products, and answers the questions of drawn() about the edges of all of them.
class Closing {
 public:
  Closing(const Dim3& master_grid, const Dim3& slave_grid, Budget& budget)
      : master_grid_(master_grid), slave_grid_(slave_grid), budget_(budget) {}
  bool empty() const { return products_.empty(); }
  // add() is false where there are too many products.
  bool add(AxisProduct product, bool certain) {
    products_.push_back(std::move(product));
    certain_.push_back(certain);
    return products_.size() <= most_products;
  }

  std::optional<BoxPair> boxes();
  bool has_all(const BoxPair& boxes) const;
  std::optional<std::vector<BlockOffset>> offsets(size_t most) const;
  bool has_each(const NeighbourEdges& edges) const;
  // rows() is nothing where something that is not certain would add to them.
  std::optional<RangeEdges> rows() const;

 private:
  bool append_row(const std::array<uint32_t, 3>& slave, RangeEdges& edges) const;
  bool append_masters(const AxisProduct& product, const std::array<uint32_t, 3>& slave,
                      std::vector<BlockRange>& ranges) const;
  bool covered(const BlockOffset& offset) const;

  const Dim3 master_grid_, slave_grid_;
  Budget& budget_;
  std::array<Interval, 3> slaves_, masters_;  // the boxes, by axis
  std::vector<AxisProduct> products_;
  std::vector<bool> certain_;
};

uint64_t extent_of(const Interval& interval) {
  return interval.empty() ? 0 : static_cast<uint64_t>(interval.last - interval.first + 1);
}

BlockBox block_box(const std::array<Interval, 3>& box) {
  const auto at = [](int64_t place) { return static_cast<uint32_t>(place); };
  return {at(box[0].first), at(box[1].first), at(box[2].first),
          at(box[0].last),  at(box[1].last),  at(box[2].last)};
}

std::optional<std::vector<BlockOffset>> Closing::offsets(size_t most) const {
  std::set<BlockOffset> found;
  for (const AxisProduct& product : products_) {
    std::array<std::vector<int64_t>, 3> offsets;
    uint64_t count = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      if (!budget_.take(1 + product.pairs(axis) / places_a_step)) return std::nullopt;
      offsets[axis] = product.offsets(axis, most);
      count *= offsets[axis].size();
      if (count == 0 || count > most) return std::nullopt;
    }
    const auto at = [](int64_t offset) { return static_cast<int32_t>(offset); };
    for (const int64_t z : offsets[2]) {
      for (const int64_t y : offsets[1]) {
        for (const int64_t x : offsets[0])
          found.insert({at(x), at(y), at(z)});
      }
    }
    if (found.size() > most) return std::nullopt;
  }
  return std::vector<BlockOffset>(found.begin(), found.end());
}

// covered() is true where one product is seen to have all edges of an offset between the boxes.
bool Closing::covered(const BlockOffset& offset) const {
  const std::array<int64_t, 3> by = {offset.x, offset.y, offset.z};
  for (size_t i = 0; i < products_.size(); ++i) {
    bool all = certain_[i];
    for (size_t axis = 0; axis < 3 && all; ++axis) {
      const Interval from = {std::max(slaves_[axis].first, masters_[axis].first - by[axis]),
                             std::min(slaves_[axis].last, masters_[axis].last - by[axis])};
      all = budget_.take(1 + extent_of(from) / places_a_step) &&
            products_[i].has_offset(axis, from, by[axis]);
    }
    if (all) return true;
  }
  return false;
}

bool Closing::has_all(const BoxPair&) const {
  for (size_t i = 0; i < products_.size(); ++i) {
    bool all = certain_[i];
    for (size_t axis = 0; axis < 3 && all; ++axis) {
      all = budget_.take(1 + extent_of(slaves_[axis]) / places_a_step) &&
            products_[i].has_all(axis, slaves_[axis], masters_[axis]);
    }
    if (all) return true;
  }
  return false;
}

bool Closing::has_each(const NeighbourEdges& edges) const {
  return std::all_of(edges.offsets.begin(), edges.offsets.end(),
                     [this](const BlockOffset& offset) { return covered(offset); });
}

std::optional<BoxPair> Closing::boxes() {
  for (const AxisProduct& product : products_) {
    for (size_t axis = 0; axis < 3; ++axis) {
      slaves_[axis] = joined(slaves_[axis], product.slaves(axis));
      masters_[axis] = joined(masters_[axis], product.masters(axis));
    }
  }
  return BoxPair{block_box(masters_), block_box(slaves_)};
}

// append_masters() adds the masters of one slave block in one product, as linear ranges; false past
// the budget.
bool Closing::append_masters(const AxisProduct& product, const std::array<uint32_t, 3>& slave,
                             std::vector<BlockRange>& ranges) const {
  const Interval &x = product.row(0, slave[0]), &y = product.row(1, slave[1]),
                 &z = product.row(2, slave[2]);
  if (x.empty()) return true;
  if (!budget_.make<BlockRange>(extent_of(y) * extent_of(z), places_a_step)) return false;
  for (int64_t at_z = z.first; at_z <= z.last; ++at_z) {
    for (int64_t at_y = y.first; at_y <= y.last; ++at_y) {
      const int64_t row = master_grid_.x * (at_y + int64_t{master_grid_.y} * at_z);
      ranges.push_back({static_cast<uint32_t>(row + x.first), static_cast<uint32_t>(row + x.last)});
    }
  }
  return true;
}

// append_row() adds what one slave block waits for; false where it is not certain, or past the
// budget.
bool Closing::append_row(const std::array<uint32_t, 3>& slave, RangeEdges& edges) const {
  std::vector<BlockRange> certain, others;
  for (size_t i = 0; i < products_.size(); ++i) {
    if (!append_masters(products_[i], slave, certain_[i] ? certain : others)) return false;
  }
  if (!budget_.take(sorting_steps(certain.size()))) return false;
  std::sort(certain.begin(), certain.end(),
            [](const BlockRange& a, const BlockRange& b) { return a.first < b.first; });
  for (const BlockRange& range : certain)
    edges.add(range);
  const auto row = std::span(edges.ranges).subspan(edges.rows.back());
  edges.end_row();
  if (!budget_.take(others.size() * row.size() / places_a_step)) return false;
  return std::all_of(others.begin(), others.end(), [&](const BlockRange& other) {
    return std::any_of(row.begin(), row.end(), [&](const BlockRange& range) {
      return range.first <= other.first && other.last <= range.last;
    });
  });
}

std::optional<RangeEdges> Closing::rows() const {
  RangeEdges edges{{0}, {}};
  // Each product is asked for its row of each block.
  if (!budget_.make<uint32_t>(slave_grid_.count()) ||
      !budget_.take(slave_grid_.count() * products_.size() / places_a_step)) {
    return std::nullopt;
  }
  edges.rows.reserve(slave_grid_.count() + 1);
  for (uint32_t z = 0; z < slave_grid_.z; ++z) {
    for (uint32_t y = 0; y < slave_grid_.y; ++y) {
      for (uint32_t x = 0; x < slave_grid_.x; ++x) {
        if (!append_row({x, y, z}, edges)) return std::nullopt;
      }
    }
  }
  if (edges.ranges.empty()) return std::nullopt;
  return edges;
}

}  // namespace

std::optional<EdgeTable> box_edges(const std::vector<BoxMeeting>& meetings, const Dim3& master_grid,
                                   const Dim3& slave_grid, Budget& budget) {
  Closing closing(master_grid, slave_grid, budget);
  const uint64_t sides = uint64_t{master_grid.x} + master_grid.y + master_grid.z + slave_grid.x +
                         slave_grid.y + slave_grid.z;
  for (const BoxMeeting& meeting : meetings) {
    for (const BlockBoxes& later : *meeting.later) {
      for (const BlockBoxes& earlier : *meeting.earlier) {
        // Levels of both, and a row for each coordinate.
        if (!budget.make<Interval>(sides + places_of(later) + places_of(earlier), places_a_step))
          return std::nullopt;
        auto product = product_of(later, earlier, slave_grid, master_grid);
        if (!product) return std::nullopt;
        if (product->empty()) continue;
        if (!closing.add(std::move(*product), meeting.intact)) return std::nullopt;
      }
    }
  }
  if (closing.empty()) return std::nullopt;
  auto table = drawn(closing, master_grid, slave_grid);
  if (!table) return std::nullopt;
  // What no single product shows may be seen in all of them.
  if (std::holds_alternative<RangeEdges>(table->form))
    return closed_form(std::move(*table), budget);
  const auto* edges = std::get_if<NeighbourEdges>(&table->form);
  if (edges != nullptr && edges->boxes.pairs() == table->edge_count) {
    table->form = AllEdges{edges->boxes};
  }
  return table;
}

}  // namespace sluice::dro
