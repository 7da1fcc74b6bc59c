// Races between streams: two launches or copies that touch common bytes, one of them writing, which
// nothing orders.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/dim3.hpp"
#include "dro/types.hpp"
#include "relation/isl_context.hpp"
#include "runtime/check/observer.hpp"
#include "runtime/faults/action.hpp"
#include "runtime/faults/fault_report.hpp"
#include "runtime/races/ordering.hpp"
#include "runtime/races/stream_clocks.hpp"

namespace sluice::runtime {

// AccessedBytes is one way in which an action touches a buffer.
struct AccessedBytes {
  dro::BufferId buffer = 0;
  uint64_t bytes = 0;     // of the buffer
  int64_t argument = -1;  // the pointer's place among the kernel's parameters; -1: none
};

// RaceCheck. Not thread-safe. Every race is told once for each pair of kernels.
class RaceCheck : public Observer {
 public:
  explicit RaceCheck(FaultReport& report);
  ~RaceCheck() override;

  StreamClocks& clocks() { return clocks_; }

  Wants wants() const override { return {.pointers = true}; }
  void add_footprint(dro::FootprintId id, const analysis::Footprint& footprint) override;

  // launch() is a launch with this footprint; `pointers` and `bound` hold one entry for each
  // pointer slot of the footprint.
  void launch(const StreamKey& stream, const Action& action, dro::FootprintId footprint,
              std::span<const AccessedBytes> pointers, std::span<const dro::BoundArgument> bound);

  // copy() is a copy or memset: each range is (buffer, its bytes, are they written).
  struct CopyRange {
    AccessedBytes where;
    Range bytes;
    bool writes = false;
  };
  void copy(const StreamKey& stream, const Action& action, std::span<const CopyRange> ranges);

  void buffer_destroyed(dro::BufferId buffer) override;

  uint64_t races() const { return pairs_.size(); }

 private:
  using SetId = size_t;
  // Use is one set of bytes that a footprint touches through one pointer slot.
  struct Use {
    size_t slot = 0;
    SetId set = 0;
    bool whole_buffer = false;
    bool writes = false;
    bool certain = false;  // in every run of the program with this launch
  };
  // Record is what an action did to a buffer. Of actions that do the same in one stream the last is
  // kept: what is ordered after it is ordered after all.
  struct Record {
    ActionTime time;
    std::shared_ptr<const Action> action;
    AccessedBytes where;
    SetId set = 0;
    int64_t offset = 0;
    bool writes = false;
    bool certain = false;
  };

  SetId range_of(int64_t bytes);  // [0, bytes)
  void meet(const Record& record);
  // Common is the first and last byte that two sets share; `is_known` is false where isl gave up
  // and their hulls were compared.
  struct Common {
    Range range;
    bool is_known = true;
  };
  std::optional<Common> common_bytes(const Record& a, const Record& b);
  std::optional<Common> common_hull(const isl::set& a, const isl::set& b, int64_t shift);
  void tell(const Record& earlier, const Record& later, const Common& common);

  FaultReport& report_;
  StreamClocks clocks_;
  IslContext context_;
  std::vector<isl::set> sets_;
  std::map<int64_t, SetId> ranges_;
  std::map<dro::FootprintId, std::vector<Use>> uses_;
  std::map<dro::BufferId, std::vector<Record>> records_;
  std::map<std::tuple<SetId, SetId, int64_t>, std::optional<Common>> common_;
  std::map<std::pair<std::string, std::string>, uint64_t> pairs_;  // reported, with how often
};

}  // namespace sluice::runtime
