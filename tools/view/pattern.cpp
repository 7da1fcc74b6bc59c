#include "tools/view/pattern.hpp"

#include <algorithm>

#include "base/number/divide_up.hpp"

namespace sluice::tools {
namespace {

std::vector<Pattern::Run> runs_of(const std::vector<uint64_t>& cells) {
  std::vector<Pattern::Run> runs;
  for (uint64_t x = 0; x < cells.size(); ++x) {
    if (cells[x] == 0) continue;
    const bool goes_on = !runs.empty() && runs.back().first + runs.back().length == x &&
                         runs.back().edges == cells[x];
    if (goes_on) {
      ++runs.back().length;
    } else {
      runs.push_back({x, 1, cells[x]});
    }
  }
  return runs;
}

}  // namespace

Pattern pattern_of(const dro::EdgeTable& table) {
  const uint64_t masters = table.master_grid.count(), slaves = table.slave_grid.count();
  Pattern pattern;
  pattern.masters_per_cell = divide_up(masters, Pattern::most_cells);
  pattern.slaves_per_cell = divide_up(slaves, Pattern::most_cells);
  pattern.columns = divide_up(masters, pattern.masters_per_cell);
  std::vector<uint64_t> cells(pattern.columns);
  for (uint64_t slave = 0; slave < slaves; ++slave) {
    dro::for_each_master_range(
        table, static_cast<uint32_t>(slave), 1, [&](uint64_t first, uint64_t last) {
          for (uint64_t block = first; block <= last;) {
            const uint64_t cell = block / pattern.masters_per_cell;
            const uint64_t end = std::min((cell + 1) * pattern.masters_per_cell, last + 1);
            cells[cell] += end - block;
            block = end;
          }
        });
    if ((slave + 1) % pattern.slaves_per_cell != 0 && slave + 1 != slaves) continue;
    pattern.rows.push_back(runs_of(cells));
    std::fill(cells.begin(), cells.end(), 0);
  }
  return pattern;
}

}  // namespace sluice::tools
