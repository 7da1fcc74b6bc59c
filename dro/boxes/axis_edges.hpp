// Edges between blocks that are a product of edges between coordinates.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dro/boxes/block_boxes.hpp"

namespace sluice::dro {

// AxisProduct relates slave and master blocks of which each coordinate is related on its own: block
// s waits for block m where s.x is related to m.x, s.y to m.y and s.z to m.z. It begins with all
// pairs within two domains; meet() takes out the pairs whose positions on one level don't meet.
class AxisProduct {
 public:
  AxisProduct(const Dim3& slave_grid, const Dim3& master_grid,
              const std::array<Interval, 3>& slaves, const std::array<Interval, 3>& masters);

  // meet() is false where what is left is no product of intervals for each coordinate. At most one
  // level of either side has the same axis.
  bool meet(const BoxLevel& slaves, const BoxLevel& masters);
  // finish() ends the construction; false as meet().
  bool finish();

  bool empty() const;
  // slaves() and masters() are the smallest intervals that hold all that is related.
  const Interval& slaves(size_t axis) const { return axes_[axis].slaves; }
  const Interval& masters(size_t axis) const { return axes_[axis].masters; }

  // row() is the masters' coordinates that a slave's is related to.
  const Interval& row(size_t axis, uint32_t slave) const { return axes_[axis].rows[slave]; }

  // pairs() is how many pairs there are of one coordinate, and at least its extent.
  uint64_t pairs(size_t axis) const;

  // offsets() lists master - slave of all pairs, ascending; nothing past `most`.
  std::vector<int64_t> offsets(size_t axis, size_t most) const;
  // has_offset() is true where each s of `from` is related to s + offset.
  bool has_offset(size_t axis, const Interval& from, int64_t offset) const;
  // has_all() is true where each of `slaves` is related to each of `masters`.
  bool has_all(size_t axis, const Interval& slaves, const Interval& masters) const;

 private:
  struct Axis {
    std::vector<bool> slave_in, master_in;  // coordinates that may be related
    std::vector<Interval> rows;             // by slave coordinate: its masters
    bool met = false;                       // rows are filled
    Interval slaves, masters;
  };
  static bool meet_on(Axis& axis, const std::vector<Interval>& slaves,
                      const std::vector<Interval>& masters);
  static bool finish(Axis& axis);

  std::array<Axis, 3> axes_;
  bool nothing_ = false;
};

}  // namespace sluice::dro
