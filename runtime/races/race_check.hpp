// Races between streams: two launches or copies that touch common bytes, one of them writing, which
// nothing orders.
#pragma once

#include <cstdint>
#include <deque>
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
#include "runtime/races/race_record.hpp"
#include "runtime/races/stream_clocks.hpp"
#include "runtime/races/traced_bytes.hpp"

namespace sluice::runtime {

// RaceCheck. Not thread-safe. Every race is told once for each pair of kernels. Where a footprint
// only says what may be touched, a launch is traced, and what it touched decides.
class RaceCheck : public Observer {
 public:
  // The context is that of the footprints, and must outlive it.
  RaceCheck(FaultReport& report, IslContext& context);
  ~RaceCheck() override;

  StreamClocks& clocks() { return clocks_; }

  Wants wants() const override { return {.pointers = true}; }
  void footprint_dropped(dro::FootprintId id) override { uses_.erase(id); }
  // add() comes before the first launch of a footprint.
  void add(dro::FootprintId id, std::shared_ptr<FootprintBytes> footprint);

  // launch() is a launch with this footprint; `pointers` and `bound` hold one entry for each
  // pointer slot of the footprint. Not null: it should be traced, and the caller gives what it
  // touches, or gives it up.
  std::shared_ptr<TracedBytes> launch(const StreamKey& stream, const Action& action,
                                      dro::FootprintId footprint,
                                      std::span<const AccessedBytes> pointers,
                                      std::span<const dro::BoundArgument> bound);

  // copy() is a copy or memset: each range is (buffer, its bytes, are they written).
  struct CopyRange {
    AccessedBytes where;
    Range bytes;
    bool writes = false;
  };
  void copy(const StreamKey& stream, const Action& action, std::span<const CopyRange> ranges);

  void buffer_destroyed(dro::BufferId buffer) override;
  void finished(dro::JournalWriter* journal) override;

  uint64_t races() const { return pairs_.size(); }

 private:
  using Record = RaceRecord;
  // SlotUse is one set of bytes that a footprint touches through one pointer slot.
  struct SlotUse {
    size_t slot = 0;
    Use use = Use::reads;
    bool whole_buffer = false;
    bool certain = false;  // in every run of the program with this launch
  };
  struct Uses {
    std::vector<SlotUse> all;
    std::shared_ptr<FootprintBytes> bytes;
    bool all_certain() const;
  };
  // Traced is how many launches of a kernel were traced; one that may race is traced more often.
  struct Traced {
    uint64_t launches = 0;
    bool is_suspect = false;
  };

  isl::set known(const ByteSet& set);  // null where isl cannot tell
  bool is_traced(const std::string& kernel);
  void meet(const Record& record);
  void suspect(const Record& earlier, const Record& later);
  void settle();  // what was suspected, as far as it is known now
  // Common is the first and last byte that two sets share; `is_known` is false where isl gave up
  // and their hulls were compared.
  struct Common {
    Range range;
    bool is_known = true;
  };
  std::optional<Common> common_bytes(const Record& a, const Record& b);
  std::optional<Common> common_hull(const isl::set& a, const isl::set& b, int64_t shift);
  void tell(const Record& earlier, const Record& later, const Range& common);

  FaultReport& report_;
  StreamClocks clocks_;
  IslContext& context_;
  std::map<dro::FootprintId, Uses> uses_;
  std::map<dro::BufferId, std::vector<Record>> records_;
  std::map<std::tuple<ByteSet, ByteSet, int64_t>, std::optional<Common>> common_;
  std::map<std::pair<std::string, std::string>, uint64_t> pairs_;  // reported, with how often
  std::map<std::string, Traced> traced_;                           // by kernel
  std::deque<std::pair<Record, Record>> suspected_;
};

}  // namespace sluice::runtime
