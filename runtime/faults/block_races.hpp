// Races between the blocks of one launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/faults/block_conflicts.hpp"
#include "runtime/faults/fault_report.hpp"
#include "runtime/faults/launch_view.hpp"

namespace sluice::runtime {

// BlockRaces looks at a footprint once for each way in which its pointers share buffers: a launch
// like an earlier one costs a look-up. Two blocks that write the same values are no race. Not
// thread-safe.
class BlockRaces {
 public:
  explicit BlockRaces(FaultReport& report) : report_(report) {}

  void launched(dro::FootprintId id, const LaunchView& view);
  // replaced() says that a footprint has another meaning now.
  void replaced(dro::FootprintId id) { judged_.erase(id); }

 private:
  // For each slot the first one in the same buffer, and how far behind that it begins.
  using Sharing = std::vector<std::pair<size_t, int64_t>>;
  static Sharing sharing_of(const LaunchView& view);

  // Judged is what is known of launches with one footprint and sharing: where blocks meet that
  // write the same values, these depend on the launch's scalars.
  struct Judged {
    bool depends_on_scalars = false;
    std::set<std::vector<std::byte>> scalars;
  };

  // judge() is true where the answer depends on the scalars.
  bool judge(const LaunchView& view, const Sharing& sharing);
  bool judge_writes(const LaunchView& view, const Sharing& sharing, size_t a, size_t b);
  bool judge_reads(const LaunchView& view, const Sharing& sharing, size_t writes, size_t reads);
  BlockConflicts::Answer meet(const LaunchView& view, const Sharing& sharing, size_t a, Use a_use,
                              size_t b, Use b_use);
  bool is_new(const LaunchView& view, size_t a, size_t b);

  FaultReport& report_;
  BlockConflicts conflicts_;
  std::map<dro::FootprintId, std::map<Sharing, Judged>> judged_;
  std::set<std::tuple<std::string, size_t, size_t>> told_;  // kernel and slots
};

}  // namespace sluice::runtime
