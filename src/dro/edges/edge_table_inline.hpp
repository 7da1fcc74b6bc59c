// for_each_master_range(), as a template so that workers pay no call for each range.
#pragma once

namespace sluice::dro {
namespace edge_table_detail {

// RangeMerger joins touching ranges as they come and hands on what can grow no more.
template <class Visit>
class RangeMerger {
 public:
  explicit RangeMerger(Visit& visit) : visit_(visit) {}

  void add(uint32_t first, uint32_t last) {
    if (filled_ && first >= first_ && first <= uint64_t{last_} + 1) {
      last_ = std::max(last_, last);
      return;
    }
    finish();
    first_ = first;
    last_ = last;
    filled_ = true;
  }
  void finish() {
    if (filled_) visit_(first_, last_);
    filled_ = false;
  }

 private:
  Visit& visit_;
  uint32_t first_ = 0;
  uint32_t last_ = 0;
  bool filled_ = false;
};

// for_each_row() cuts a run of linear block numbers into rows and calls row(first_x, last_x, y, z).
template <class Row>
void for_each_row(const Dim3& grid, uint32_t first_block, uint32_t block_count, Row&& row) {
  uint32_t x = first_block % grid.x;
  uint32_t y = first_block / grid.x % grid.y;
  uint32_t z = first_block / grid.x / grid.y;
  while (block_count > 0) {
    const uint32_t length = std::min(block_count, grid.x - x);
    row(x, x + length - 1, y, z);
    block_count -= length;
    x = 0;
    if (++y == grid.y) {
      y = 0;
      ++z;
    }
  }
}

inline uint32_t linear_block(const Dim3& grid, uint32_t x, uint32_t y, uint32_t z) {
  return x + grid.x * (y + grid.y * z);
}

// visit_neighbours() shifts each row of the run by each offset; both boxes clip it. Offsets are
// sorted, so those of one row of masters follow each other and merge.
template <class Visit>
void visit_neighbours(const EdgeTable& table, uint32_t first_block, uint32_t block_count,
                      Visit& visit) {
  const BlockBox& from = table.slave_box;
  const BlockBox& to = table.master_box;
  for_each_row(
      table.slave_grid, first_block, block_count,
      [&](int64_t first_x, int64_t last_x, int64_t y, int64_t z) {
        if (y < from.first_y || y > from.last_y || z < from.first_z || z > from.last_z) {
          return;
        }
        first_x = std::max<int64_t>(first_x, from.first_x);
        last_x = std::min<int64_t>(last_x, from.last_x);
        if (first_x > last_x) return;
        RangeMerger merger(visit);
        for (const BlockOffset& offset : table.offsets) {
          const int64_t row_y = y + offset.y;
          const int64_t row_z = z + offset.z;
          const int64_t first = std::max<int64_t>(first_x + offset.x, to.first_x);
          const int64_t last = std::min<int64_t>(last_x + offset.x, to.last_x);
          if (row_y < to.first_y || row_y > to.last_y || row_z < to.first_z || row_z > to.last_z ||
              first > last) {
            continue;
          }
          const uint32_t row = linear_block(table.master_grid, 0, static_cast<uint32_t>(row_y),
                                            static_cast<uint32_t>(row_z));
          merger.add(row + static_cast<uint32_t>(first), row + static_cast<uint32_t>(last));
        }
        merger.finish();
      });
}

template <class Visit>
void visit_all(const EdgeTable& table, uint32_t first_block, uint32_t block_count, Visit& visit) {
  const BlockBox& from = table.slave_box;
  bool waits = false;
  for_each_row(table.slave_grid, first_block, block_count,
               [&](uint32_t first_x, uint32_t last_x, uint32_t y, uint32_t z) {
                 waits = waits ||
                         (first_x <= from.last_x && last_x >= from.first_x && y >= from.first_y &&
                          y <= from.last_y && z >= from.first_z && z <= from.last_z);
               });
  if (!waits) return;
  const BlockBox& to = table.master_box;
  RangeMerger merger(visit);
  for (uint32_t z = to.first_z; z <= to.last_z; ++z) {
    for (uint32_t y = to.first_y; y <= to.last_y; ++y) {
      merger.add(linear_block(table.master_grid, to.first_x, y, z),
                 linear_block(table.master_grid, to.last_x, y, z));
    }
  }
  merger.finish();
}

template <class Visit>
void visit_ranges(const EdgeTable& table, uint32_t first_block, uint32_t block_count,
                  Visit& visit) {
  const uint32_t begin = table.rows[first_block];
  const uint32_t end = table.rows[first_block + block_count];
  RangeMerger merger(visit);
  for (uint32_t i = begin; i < end; ++i) {
    merger.add(table.ranges[i].first, table.ranges[i].last);
  }
  merger.finish();
}

}  // namespace edge_table_detail

template <class Visit>
void for_each_master_range(const EdgeTable& table, uint32_t first_block, uint32_t block_count,
                           Visit&& visit) {
  if (block_count == 0) return;
  switch (table.form) {
    case EdgeForm::neighbours:
      edge_table_detail::visit_neighbours(table, first_block, block_count, visit);
      break;
    case EdgeForm::all:
      edge_table_detail::visit_all(table, first_block, block_count, visit);
      break;
    case EdgeForm::ranges:
      edge_table_detail::visit_ranges(table, first_block, block_count, visit);
      break;
  }
}

}  // namespace sluice::dro
