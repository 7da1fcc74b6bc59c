#include "dro/edges/block_bytes.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace sluice::dro {
namespace {

bool comes_before(const ByteRun& a, const ByteRun& b) {
  return std::tie(a.block, a.begin) < std::tie(b.block, b.begin);
}

bool starts_before(const ByteRun& a, const ByteRun& b) {
  return a.begin < b.begin;
}

// So many runs or ranges are gone through in a step.
constexpr uint64_t runs_a_step = 8;

// runs_within() lists the runs of all blocks by their first bytes, cut down to `live`; nothing past
// the budget. Blocks that touch the same bytes meet each piece of what is live once each, so that
// there may be as many runs as blocks times pieces.
std::optional<std::vector<ByteRun>> runs_within(const BlockBytes& bytes, const ByteIntervals& live,
                                                Budget& budget) {
  std::vector<ByteRun> runs;
  const std::vector<Range>& kept = live.ranges();
  if (!budget.take(1 + (bytes.blocks() + bytes.size()) / runs_a_step)) return std::nullopt;
  for (uint32_t block = 0; block < bytes.blocks(); ++block) {
    for (const Range& range : bytes.of(block)) {
      const auto first =
          std::lower_bound(kept.begin(), kept.end(), range.begin,
                           [](const Range& each, int64_t byte) { return each.end <= byte; });
      const auto last =
          std::lower_bound(first, kept.end(), range.end,
                           [](const Range& each, int64_t byte) { return each.begin < byte; });
      if (!budget.make<ByteRun>(static_cast<uint64_t>(last - first), runs_a_step))
        return std::nullopt;
      for (auto it = first; it != last; ++it)
        runs.push_back({block, std::max(range.begin, it->begin), std::min(range.end, it->end)});
    }
  }
  if (!std::is_sorted(runs.begin(), runs.end(), starts_before)) {
    if (!budget.take(sorting_steps(runs.size()))) return std::nullopt;
    std::sort(runs.begin(), runs.end(), starts_before);
  }
  return runs;
}

}  // namespace

Budget::Cost BlockBytes::cost(uint32_t blocks, const std::vector<ByteRun>& runs) {
  const uint64_t sorting =
      std::is_sorted(runs.begin(), runs.end(), comes_before) ? 0 : sorting_steps(runs.size());
  return {1 + (blocks + runs.size()) / runs_a_step + sorting,
          blocks * sizeof(uint32_t) + runs.size() * sizeof(Range)};
}

BlockBytes::BlockBytes(uint32_t blocks, std::vector<ByteRun> runs) {
  if (!std::is_sorted(runs.begin(), runs.end(), comes_before)) {
    std::sort(runs.begin(), runs.end(), comes_before);
  }
  rows_.reserve(blocks + 1);
  ranges_.reserve(runs.size());
  size_t next = 0;
  for (uint32_t block = 0; block < blocks; ++block) {
    const size_t begin = ranges_.size();
    rows_.push_back(static_cast<uint32_t>(begin));
    for (; next < runs.size() && runs[next].block == block; ++next) {
      const ByteRun& run = runs[next];
      if (ranges_.size() > begin && run.begin <= ranges_.back().end) {
        ranges_.back().end = std::max(ranges_.back().end, run.end);
      } else {
        ranges_.push_back({run.begin, run.end});
      }
    }
  }
  rows_.push_back(static_cast<uint32_t>(ranges_.size()));
  ranges_.shrink_to_fit();
}

// Collector finds the masters of one slave block after the other.
class EdgeRows::Collector {
 public:
  Collector(std::vector<ByteRun> runs, uint32_t masters, Budget& budget)
      : runs_(std::move(runs)), budget_(budget), seen_(masters, 0) {
    int64_t reach = INT64_MIN;
    for (const ByteRun& run : runs_)
      reach_.push_back(reach = std::max(reach, run.end));
  }

  // find() fills `masters`, in no order; false past the budget.
  bool find(std::span<const Range> bytes, std::vector<uint32_t>& masters) {
    masters.clear();
    ++round_;
    for (const Range& range : bytes) {
      if (!budget_.take(1)) return false;
      const auto after =
          std::upper_bound(runs_.begin(), runs_.end(), range.end,
                           [](int64_t byte, const ByteRun& run) { return byte <= run.begin; });
      // Runs before it start in time; they may still end too early, but none does before the
      // place up to which no run reaches the range.
      for (auto i = static_cast<size_t>(after - runs_.begin()); i-- > 0;) {
        if (reach_[i] <= range.begin) break;
        if (paid_-- == 0) {
          if (!budget_.take(1)) return false;
          paid_ = runs_a_step - 1;
        }
        const ByteRun& run = runs_[i];
        if (run.end <= range.begin || std::exchange(seen_[run.block], round_) == round_) continue;
        masters.push_back(run.block);
      }
    }
    return true;
  }

 private:
  const std::vector<ByteRun> runs_;  // by first bytes
  std::vector<int64_t> reach_;       // the end of all runs up to this one
  Budget& budget_;
  uint64_t paid_ = 0;  // runs of a step that was taken
  std::vector<uint32_t> seen_;
  uint32_t round_ = 0;
};

EdgeRows::EdgeRows(const Dim3& master_grid, const Dim3& slave_grid)
    : master_grid_(master_grid), slave_grid_(slave_grid) {
  edges_.rows.assign(slave_grid.count() + 1, 0);
}

bool EdgeRows::add(const BlockBytes& later, const BlockBytes& earlier, const ByteIntervals& live,
                   Budget& budget) {
  auto runs = runs_within(earlier, live, budget);
  // With each run goes how far the runs up to it reach.
  if (!runs || !budget.make<int64_t>(runs->size(), runs_a_step) ||
      !budget.make<uint64_t>(later.blocks() + earlier.blocks(), runs_a_step)) {
    return false;
  }
  Collector collector(std::move(*runs), earlier.blocks(), budget);
  const RangeEdges old = std::exchange(edges_, {{0}, {}});
  edges_.rows.reserve(old.rows.size());
  std::vector<uint32_t> masters;
  std::vector<BlockRange> found;
  for (uint32_t slave = 0; slave < later.blocks(); ++slave) {
    const auto bytes = later.of(slave);
    if (!budget.take(1 + bytes.size() / runs_a_step)) return false;
    // Blocks that touch the same bytes wait for the same blocks: dense accesses are found once.
    if (slave == 0 || !std::ranges::equal(bytes, later.of(slave - 1))) {
      if (!collector.find(bytes, masters) || !budget.take(sorting_steps(masters.size())))
        return false;
      std::sort(masters.begin(), masters.end());
      found.clear();
      for (const uint32_t master : masters) {
        if (!found.empty() && found.back().last + 1 == master) {
          found.back().last = master;
        } else {
          found.push_back({master, master});
        }
      }
    }
    const auto before =
        std::span(old.ranges).subspan(old.rows[slave], old.rows[slave + 1] - old.rows[slave]);
    if (!append_row(before, found, budget)) return false;
  }
  return true;
}

// append_row() ends the next row with the blocks of both lists.
bool EdgeRows::append_row(std::span<const BlockRange> a, std::span<const BlockRange> b,
                          Budget& budget) {
  if (!budget.make<BlockRange>(a.size() + b.size(), runs_a_step)) return false;
  while (!a.empty() || !b.empty()) {
    const bool from_a = b.empty() || (!a.empty() && a.front().first <= b.front().first);
    auto& source = from_a ? a : b;
    edges_.add(source.front());
    source = source.subspan(1);
  }
  edges_.end_row();
  return true;
}

EdgeTable EdgeRows::table() && {
  return make_table(master_grid_, slave_grid_, std::move(edges_));
}

}  // namespace sluice::dro
