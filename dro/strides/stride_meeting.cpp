#include "dro/strides/stride_meeting.hpp"

#include <algorithm>
#include <utility>

#include "base/number/floor_divide.hpp"

namespace sluice::dro {
namespace {

// More parts come of no rows of one array.
constexpr size_t most_found = 256;
// So many steps are gone through one by one, where those of the other part don't fit them.
constexpr int64_t most_single_steps = 32;
// More rows that overlap each other are no rows.
constexpr int64_t most_rows_apart = 64;
constexpr size_t most_live_runs = 48;

// span_of() is from the first byte of a part to behind its last.
int64_t span_of(const BlockStrides& part) {
  return part.last_byte() - part.byte + 1;
}

// Meeting finds all of one pair. Each level of bytes becomes a level of positions of both.
class Meeting {
 public:
  Meeting(Budget& budget, std::vector<StridedPart>& found) : budget_(budget), found_(found) {}

  bool run(BlockStrides later, BlockStrides earlier) {
    // What stays at its bytes meets whatever it meets each time.
    take_still(later, [](const StrideLevel& level) {
      return EdgeLevel{level.count, level.position_stride, 0};
    });
    take_still(earlier, [](const StrideLevel& level) {
      return EdgeLevel{level.count, 0, level.position_stride};
    });
    const auto larger = [](const StrideLevel& a, const StrideLevel& b) {
      return a.byte_stride > b.byte_stride;
    };
    std::ranges::stable_sort(later.levels, larger);
    std::ranges::stable_sort(earlier.levels, larger);
    return meet(std::move(later), std::move(earlier));
  }

 private:
  template <class Level>
  void take_still(BlockStrides& part, const Level& level_of) {
    for (const StrideLevel& level : part.levels) {
      if (level.byte_stride == 0) levels_.push_back(level_of(level));
    }
    std::erase_if(part.levels, [](const StrideLevel& level) { return level.byte_stride == 0; });
  }

  static bool is_outermost(const BlockStrides& part, int64_t stride) {
    return !part.levels.empty() && part.levels[0].byte_stride == stride;
  }

  bool meet(BlockStrides later, BlockStrides earlier) {
    if (!budget_.take(1)) return false;
    if (later.byte > earlier.last_byte() || earlier.byte > later.last_byte()) return true;
    if (later.levels.empty() && earlier.levels.empty()) return meet_runs(later, earlier);
    const auto outermost = [](const BlockStrides& part) {
      return part.levels.empty() ? 0 : part.levels[0].byte_stride;
    };
    const int64_t stride = std::max(outermost(later), outermost(earlier));
    if (!is_outermost(later, stride)) {
      return cut(later, earlier,
                 [&](BlockStrides a, BlockStrides b) { return meet(std::move(a), std::move(b)); });
    }
    if (!is_outermost(earlier, stride)) {
      return cut(earlier, later,
                 [&](BlockStrides a, BlockStrides b) { return meet(std::move(b), std::move(a)); });
    }
    return meet_rows(std::move(later), std::move(earlier), stride);
  }

  // cut() goes on with a part in steps of the other's outermost level, of which it has none.
  template <class GoOn>
  bool cut(const BlockStrides& part, const BlockStrides& other, const GoOn& go_on) {
    const int64_t stride = other.levels[0].byte_stride;
    if (part.levels.empty()) {
      if (part.length <= stride) return go_on(in_rows(part, 1, stride, 0), other);
      return cut_run(part, other, go_on);
    }
    const StrideLevel& own = part.levels[0];
    const int64_t ratio = stride / own.byte_stride;
    if (stride % own.byte_stride == 0) {
      BlockStrides inner = part;
      inner.levels[0].count = std::min(own.count, ratio);
      const int64_t rows = std::max<int64_t>(1, own.count / ratio);
      if (!go_on(in_rows(inner, rows, stride, ratio * own.position_stride), other)) return false;
      const int64_t done = rows * inner.levels[0].count;
      if (done == own.count) return true;
      inner.levels[0].count = own.count - done;
      inner.byte += done * own.byte_stride;
      inner.position += done * own.position_stride;
      return go_on(in_rows(inner, 1, stride, 0), other);
    }
    if (other.levels[0].count <= own.count) {
      return by_steps(other, [&](BlockStrides step) { return go_on(part, std::move(step)); });
    }
    return by_steps(part, [&](BlockStrides step) { return go_on(std::move(step), other); });
  }

  // cut_run() cuts where the other's rows begin, so that each piece meets one of them.
  template <class GoOn>
  bool cut_run(const BlockStrides& run, const BlockStrides& other, const GoOn& go_on) {
    const int64_t stride = other.levels[0].byte_stride;
    for (int64_t done = 0; done < run.length;) {
      const int64_t phase = run.byte + done - other.byte;
      const int64_t into = phase - floor_divide(phase, stride) * stride;
      const int64_t left = run.length - done;
      BlockStrides piece{run.block, run.position + done, run.byte + done, 0, {}};
      int64_t rows = 1;
      if (into == 0 && left >= stride) rows = left / stride;
      piece.length = std::min(stride - into, left);
      if (!go_on(in_rows(piece, rows, stride, stride), other)) return false;
      done += rows * piece.length;
    }
    return true;
  }

  static BlockStrides in_rows(BlockStrides part, int64_t rows, int64_t byte_stride,
                              int64_t position_stride) {
    part.levels.insert(part.levels.begin(), {rows, position_stride, byte_stride});
    return part;
  }

  // by_steps() goes on with each repetition of the outermost level by itself.
  template <class GoOn>
  bool by_steps(const BlockStrides& part, const GoOn& go_on) {
    const StrideLevel level = part.levels[0];
    if (level.count > most_single_steps) return false;
    for (int64_t i = 0; i < level.count; ++i) {
      BlockStrides step = part;
      step.levels.erase(step.levels.begin());
      step.position += i * level.position_stride;
      step.byte += i * level.byte_stride;
      if (!go_on(std::move(step))) return false;
    }
    return true;
  }

  // meet_rows() pairs each row of one with those of the other that it reaches, which lie the same
  // number of rows apart everywhere.
  bool meet_rows(BlockStrides later, BlockStrides earlier, int64_t stride) {
    const StrideLevel a = later.levels[0], b = earlier.levels[0];
    later.levels.erase(later.levels.begin());
    earlier.levels.erase(earlier.levels.begin());
    const int64_t ahead = earlier.byte - later.byte;
    const int64_t first =
        std::max(floor_divide(-span_of(earlier) - ahead, stride) + 1, 1 - a.count);
    const int64_t last = std::min(floor_divide(span_of(later) - 1 - ahead, stride), b.count - 1);
    if (last - first > most_rows_apart) return false;
    for (int64_t apart = first; apart <= last; ++apart) {
      const int64_t from = std::max<int64_t>(0, -apart);
      const int64_t to = std::min(a.count - 1, b.count - 1 - apart);
      if (from > to) continue;
      BlockStrides row = later, met = earlier;
      row.position += from * a.position_stride;
      met.position += (from + apart) * b.position_stride;
      met.byte += apart * stride;
      levels_.push_back({to - from + 1, a.position_stride, b.position_stride});
      const bool good = meet(std::move(row), std::move(met));
      levels_.pop_back();
      if (!good) return false;
    }
    return true;
  }

  bool meet_runs(const BlockStrides& later, const BlockStrides& earlier) {
    const int64_t begin = std::max(later.byte, earlier.byte);
    const int64_t end = std::min(later.byte + later.length, earlier.byte + earlier.length);
    StridedPart part{later.position + begin - later.byte,
                     later.block,
                     earlier.position + begin - earlier.byte,
                     earlier.block,
                     end - begin,
                     0,
                     {}};
    for (const EdgeLevel& level : levels_) {
      if (level.count > 1) part.levels.push_back(level);
    }
    // The slave finds its rows by the largest steps first.
    std::ranges::stable_sort(part.levels, [](const EdgeLevel& a, const EdgeLevel& b) {
      return std::pair(a.slave_stride, a.master_stride) >
             std::pair(b.slave_stride, b.master_stride);
    });
    join_dense(part);
    if (found_.size() == most_found || part.levels.size() > StridedEdges::most_levels) return false;
    found_.push_back(std::move(part));
    return true;
  }

  // join_dense() makes one run of those that follow each other on both sides.
  static void join_dense(StridedPart& part) {
    const auto is_dense = [&](const EdgeLevel& level) {
      return level.slave_stride == part.length && level.master_stride == part.length;
    };
    for (auto level = std::ranges::find_if(part.levels, is_dense); level != part.levels.end();
         level = std::ranges::find_if(part.levels, is_dense)) {
      part.length *= level->count;
      part.levels.erase(level);
    }
  }

  Budget& budget_;
  std::vector<StridedPart>& found_;
  std::vector<EdgeLevel> levels_;
};

}  // namespace

bool meet(const BlockStrides& later, const BlockStrides& earlier, Budget& budget,
          std::vector<StridedPart>& found) {
  return Meeting(budget, found).run(later, earlier);
}

namespace {

// PeriodicRuns is ranges that come again every so many: `count` times as many as `period`.
struct PeriodicRuns {
  size_t period = 1;
  size_t count = 1;
};

// periodic_from() is the longest from a place on: what is left of the columns of an array is often
// two ranges a row.
PeriodicRuns periodic_from(const std::vector<Range>& ranges, size_t from) {
  constexpr size_t most_a_row = 4;
  constexpr size_t enough = 3;
  PeriodicRuns best;
  for (size_t period = 1; period <= most_a_row && from + period < ranges.size(); ++period) {
    const int64_t stride = ranges[from + period].begin - ranges[from].begin;
    size_t end = from;
    while (end + period < ranges.size() &&
           ranges[end + period].begin - ranges[end].begin == stride &&
           ranges[end + period].size() == ranges[end].size()) {
      ++end;
    }
    const size_t count = (end - from) / period + 1;
    if (count >= enough && count * period > best.count * best.period) best = {period, count};
  }
  return best;
}

// strides_of() is a list of bytes as parts whose positions are their bytes; nothing where they are
// too many.
std::optional<Strides> strides_of(const std::vector<Range>& ranges) {
  Strides parts;
  for (size_t from = 0; from < ranges.size();) {
    const PeriodicRuns runs = periodic_from(ranges, from);
    for (size_t i = from; i < from + runs.period; ++i) {
      const int64_t begin = ranges[i].begin;
      BlockStrides part{1, begin, begin, ranges[i].size(), {}};
      if (runs.count > 1) {
        const int64_t stride = ranges[i + runs.period].begin - begin;
        part.levels.push_back({static_cast<int64_t>(runs.count), stride, stride});
      }
      parts.push_back(std::move(part));
    }
    if (parts.size() > most_live_runs) return std::nullopt;
    from += runs.period * runs.count;
  }
  return parts;
}

}  // namespace

std::optional<Strides> within(const Strides& strides, const ByteIntervals& live, Budget& budget) {
  if (!budget.take(1 + live.ranges().size() / 2)) return std::nullopt;
  const auto runs = strides_of(live.ranges());
  if (!runs) return std::nullopt;
  Strides left;
  for (const BlockStrides& bytes : *runs) {
    for (const BlockStrides& part : strides) {
      std::vector<StridedPart> met;
      if (!meet(part, bytes, budget, met)) return std::nullopt;
      for (const StridedPart& each : met) {
        BlockStrides kept{part.block, each.slave_start, each.master_start, each.length, {}};
        for (const EdgeLevel& level : each.levels)
          kept.levels.push_back({level.count, level.slave_stride, level.master_stride});
        left.push_back(std::move(kept));
      }
      if (left.size() > 2 * most_parts) return std::nullopt;
    }
  }
  return left;
}

}  // namespace sluice::dro
