// Faults, and how much of the run was checked.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/check/observer.hpp"
#include "runtime/faults/fault_log.hpp"

namespace sluice::runtime {

// FaultReport is a FaultLog whose last line says how much was checked. The runtime's lock guards
// it.
//
// A launch is checked whole where its footprint is exact and has no write that may not happen.
class FaultReport final : public Observer, public FaultLog {
 public:
  using FaultLog::FaultLog;

  // in_part() says that a launch was not checked whole, for a reason that the footprint does not
  // show.
  void in_part(const std::string& reason) { ++in_part_[reason]; }
  void copied() { ++copies_; }

  Wants wants() const override { return {}; }
  void add_footprint(dro::FootprintId id, const analysis::Footprint& footprint) override;
  void footprint_dropped(dro::FootprintId id) override { why_in_part_.erase(id); }
  void launched(const Known& launch) override;
  void unchecked(const std::string& kernel, const std::string& reason) override;
  void finished(dro::JournalWriter* journal) override;

 private:
  uint64_t whole_ = 0;  // launches
  uint64_t copies_ = 0;
  std::map<dro::FootprintId, std::string> why_in_part_;  // empty: whole
  std::map<std::string, uint64_t> in_part_;              // launches by reason
  std::map<std::string, uint64_t> unchecked_;
};

}  // namespace sluice::runtime
