#include "dro/boxes/box_edges.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "dro/boxes/box_product.hpp"
#include "dro/edges/edge_forms.hpp"

namespace sluice::dro {
namespace {

// More products than these are left to others, since each is looked at for each offset.
constexpr size_t most_products = 64;

// Tables of more rows or ranges are left to others.
constexpr size_t most_ranges = size_t{1} << 22;

// Closing collects products, and says in what closed form their edges are.
class Closing {
 public:
  Closing(const Dim3& master_grid, const Dim3& slave_grid) {
    table_.master_grid = master_grid;
    table_.slave_grid = slave_grid;
  }
  bool empty() const { return products_.empty(); }
  // add() is false where there are too many products.
  bool add(AxisProduct product, bool certain) {
    products_.push_back(std::move(product));
    certain_.push_back(certain);
    return products_.size() <= most_products;
  }
  // closed() is nothing where the edges are not seen to have a closed form, rows() where something
  // that is not certain would add to them.
  std::optional<EdgeTable> closed();
  std::optional<EdgeTable> rows() const;

 private:
  bool append_row(const std::array<uint32_t, 3>& slave, EdgeTable& table) const;
  bool find_offsets();
  bool covered(const BlockOffset& offset) const;
  bool all_covered() const;

  EdgeTable table_;
  std::array<Interval, 3> slaves_, masters_;  // the boxes, by axis
  std::vector<AxisProduct> products_;
  std::vector<bool> certain_;
};

BlockBox block_box(const std::array<Interval, 3>& box) {
  const auto at = [](int64_t place) { return static_cast<uint32_t>(place); };
  return {at(box[0].first), at(box[1].first), at(box[2].first),
          at(box[0].last),  at(box[1].last),  at(box[2].last)};
}

// find_offsets() lists the offsets of all products; false where there are too many.
bool Closing::find_offsets() {
  std::set<std::array<int64_t, 3>> found;  // z, y, x
  for (const AxisProduct& product : products_) {
    std::array<std::vector<int64_t>, 3> offsets;
    uint64_t count = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      offsets[axis] = product.offsets(axis, most_offsets);
      count *= offsets[axis].size();
      if (count == 0 || count > most_offsets) return false;
    }
    for (const int64_t z : offsets[2]) {
      for (const int64_t y : offsets[1]) {
        for (const int64_t x : offsets[0])
          found.insert({z, y, x});
      }
    }
    if (found.size() > most_offsets) return false;
  }
  for (const auto& [z, y, x] : found) {
    table_.offsets.push_back(
        {static_cast<int32_t>(x), static_cast<int32_t>(y), static_cast<int32_t>(z)});
  }
  return true;
}

// covered() is true where one product is seen to have all edges of an offset between the boxes.
bool Closing::covered(const BlockOffset& offset) const {
  const std::array<int64_t, 3> by = {offset.x, offset.y, offset.z};
  for (size_t i = 0; i < products_.size(); ++i) {
    bool all = certain_[i];
    for (size_t axis = 0; axis < 3 && all; ++axis) {
      const Interval from = {std::max(slaves_[axis].first, masters_[axis].first - by[axis]),
                             std::min(slaves_[axis].last, masters_[axis].last - by[axis])};
      all = products_[i].has_offset(axis, from, by[axis]);
    }
    if (all) return true;
  }
  return false;
}

bool Closing::all_covered() const {
  for (size_t i = 0; i < products_.size(); ++i) {
    bool all = certain_[i];
    for (size_t axis = 0; axis < 3 && all; ++axis)
      all = products_[i].has_all(axis, slaves_[axis], masters_[axis]);
    if (all) return true;
  }
  return false;
}

// Every edge lies within the boxes and has one of the offsets. So where what is certain has all
// edges of each offset between the boxes, these are the edges.
std::optional<EdgeTable> Closing::closed() {
  for (const AxisProduct& product : products_) {
    for (size_t axis = 0; axis < 3; ++axis) {
      slaves_[axis] = joined(slaves_[axis], product.slaves(axis));
      masters_[axis] = joined(masters_[axis], product.masters(axis));
    }
  }
  table_.slave_box = block_box(slaves_);
  table_.master_box = block_box(masters_);
  const uint64_t pairs = box_count(table_.slave_box) * box_count(table_.master_box);
  const bool all = all_covered();
  if (!all) {
    if (!find_offsets()) return std::nullopt;
    const bool every = std::all_of(table_.offsets.begin(), table_.offsets.end(),
                                   [this](const BlockOffset& offset) { return covered(offset); });
    if (!every) return std::nullopt;
    table_.form = EdgeForm::neighbours;
    table_.edge_count = neighbour_count(table_);
  }
  if (all || table_.edge_count == pairs) {
    table_.form = EdgeForm::all;
    table_.offsets.clear();
    table_.edge_count = pairs;
  }
  return table_;
}

// append_masters() adds the masters of one slave block in one product, as linear ranges.
void append_masters(const AxisProduct& product, const std::array<uint32_t, 3>& slave,
                    const Dim3& grid, std::vector<BlockRange>& ranges) {
  const Interval &x = product.row(0, slave[0]), &y = product.row(1, slave[1]),
                 &z = product.row(2, slave[2]);
  if (x.empty()) return;
  for (int64_t at_z = z.first; at_z <= z.last; ++at_z) {
    for (int64_t at_y = y.first; at_y <= y.last; ++at_y) {
      const int64_t row = grid.x * (at_y + int64_t{grid.y} * at_z);
      ranges.push_back({static_cast<uint32_t>(row + x.first), static_cast<uint32_t>(row + x.last)});
    }
  }
}

// append_row() adds what one slave block waits for; false where it is not certain.
bool Closing::append_row(const std::array<uint32_t, 3>& slave, EdgeTable& table) const {
  std::vector<BlockRange> certain, others;
  for (size_t i = 0; i < products_.size(); ++i) {
    append_masters(products_[i], slave, table.master_grid, certain_[i] ? certain : others);
  }
  std::sort(certain.begin(), certain.end(),
            [](const BlockRange& a, const BlockRange& b) { return a.first < b.first; });
  const size_t begin = table.ranges.size();
  for (const BlockRange& range : certain) {
    if (table.ranges.size() > begin && range.first <= uint64_t{table.ranges.back().last} + 1) {
      table.ranges.back().last = std::max(table.ranges.back().last, range.last);
    } else {
      table.ranges.push_back(range);
    }
  }
  table.rows.push_back(static_cast<uint32_t>(table.ranges.size()));
  return std::all_of(others.begin(), others.end(), [&](const BlockRange& other) {
    return std::any_of(table.ranges.begin() + static_cast<std::ptrdiff_t>(begin),
                       table.ranges.end(), [&](const BlockRange& range) {
                         return range.first <= other.first && other.last <= range.last;
                       });
  });
}

std::optional<EdgeTable> Closing::rows() const {
  EdgeTable table;
  table.form = EdgeForm::ranges;
  table.master_grid = table_.master_grid;
  table.slave_grid = table_.slave_grid;
  if (table.slave_grid.count() > most_ranges) return std::nullopt;
  table.rows.reserve(table.slave_grid.count() + 1);
  table.rows.push_back(0);
  for (uint32_t z = 0; z < table.slave_grid.z; ++z) {
    for (uint32_t y = 0; y < table.slave_grid.y; ++y) {
      for (uint32_t x = 0; x < table.slave_grid.x; ++x) {
        if (!append_row({x, y, z}, table) || table.ranges.size() > most_ranges) {
          return std::nullopt;
        }
      }
    }
  }
  for (const BlockRange& range : table.ranges)
    table.edge_count += uint64_t{range.last} - range.first + 1;
  if (table.edge_count == 0) return std::nullopt;
  return closed_form(std::move(table));
}

}  // namespace

std::optional<EdgeTable> box_edges(const std::vector<BoxMeeting>& meetings, const Dim3& master_grid,
                                   const Dim3& slave_grid) {
  Closing closing(master_grid, slave_grid);
  for (const BoxMeeting& meeting : meetings) {
    for (const BlockBoxes& later : *meeting.later) {
      for (const BlockBoxes& earlier : *meeting.earlier) {
        auto product = product_of(later, earlier, slave_grid, master_grid);
        if (!product) return std::nullopt;
        if (product->empty()) continue;
        if (!closing.add(std::move(*product), meeting.intact)) return std::nullopt;
      }
    }
  }
  if (closing.empty()) return std::nullopt;
  if (auto table = closing.closed()) return table;
  return closing.rows();
}

}  // namespace sluice::dro
