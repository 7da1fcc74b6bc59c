// Where faults go, and how much of the run was checked.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "runtime/check/observer.hpp"
#include "runtime/faults/fault.hpp"

namespace sluice {
class JsonText;
}

namespace sluice::runtime {

// FaultReport writes each fault at once, since a program with faults may not live long: as a line
// of JSON behind what the file has that was asked for, or to the log. A last line, or the
// log's, says how much was checked. Faults of kinds that were not asked for are left out. Not
// thread-safe: the runtime's lock guards it.
//
// A launch is checked whole where its footprint is exact and has no write that may not happen.
class FaultReport final : public Observer {
 public:
  FaultReport(Checks checks, std::string program)
      : checks_(std::move(checks)), program_(std::move(program)) {}

  const Checks& checks() const { return checks_; }
  // add() counts a fault and tells of it.
  void add(const Fault& fault);
  // in_part() says that a launch was not checked whole, for a reason that the footprint does not
  // show.
  void in_part(const std::string& reason) { ++in_part_[reason]; }
  void copied() { ++copies_; }
  uint64_t found() const { return found_; }

  Wants wants() const override { return {}; }
  void add_footprint(dro::FootprintId id, const analysis::Footprint& footprint) override;
  void launched(const Known& launch) override;
  void unchecked(const std::string& kernel, const std::string& reason) override;
  void finished(dro::JournalWriter* journal) override;

 private:
  bool is_wanted(const Fault& fault) const;
  void append(const JsonText& line) const;

  const Checks checks_;
  const std::string program_;
  uint64_t found_ = 0;
  uint64_t whole_ = 0;  // launches
  uint64_t copies_ = 0;
  std::map<dro::FootprintId, std::string> why_in_part_;  // empty: whole
  std::map<std::string, uint64_t> in_part_;              // launches by reason
  std::map<std::string, uint64_t> unchecked_;
};

}  // namespace sluice::runtime
