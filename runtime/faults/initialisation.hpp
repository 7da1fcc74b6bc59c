// Launches that read what nothing has written.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "runtime/faults/fault_report.hpp"
#include "runtime/faults/launch_view.hpp"
#include "runtime/faults/written_bytes.hpp"

namespace sluice::runtime {

// Initialisation tells of bytes that a launch certainly reads and computes with, and that no
// launch, copy or memset has written; each slot of a kernel once. What may have been written counts
// as written. Not thread-safe.
class Initialisation {
 public:
  explicit Initialisation(FaultReport& report) : report_(report) {}

  void written(dro::BufferId buffer, const Range& bytes) { written_.add(buffer, bytes); }
  // anything_written() says that all buffers up to that one may have been written.
  void anything_written(dro::BufferId newest) { newest_ = newest; }
  void destroyed(dro::BufferId buffer);
  void launched(const LaunchView& view);

 private:
  bool counts_as_written(dro::BufferId buffer) const {
    return buffer <= newest_ || whole_.contains(buffer);
  }
  void judge(const LaunchView& view, size_t slot);
  ByteIntervals never_written(const LaunchView& view, size_t slot,
                              const analysis::SlotValues& values);
  void tell(const LaunchView& view, size_t slot, const ByteIntervals& bytes,
            const analysis::SlotValues& values);
  void write(const LaunchView& view, size_t slot, Use use);

  FaultReport& report_;
  WrittenBytes written_;
  std::set<dro::BufferId> whole_;  // that count as written whatever comes
  dro::BufferId newest_ = 0;       // so are it and all before
  std::set<std::pair<std::string, size_t>> told_;
};

}  // namespace sluice::runtime
