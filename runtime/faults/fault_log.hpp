// Where faults go.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "runtime/faults/fault.hpp"

namespace sluice {
class JsonText;
}

namespace sluice::runtime {

// FaultLog writes each fault at once, since a program with faults may not live long: as a line of
// JSON behind what the file has that was asked for, or to the log. Faults of kinds that were not
// asked for are left out. Not thread-safe.
class FaultLog {
 public:
  FaultLog(Checks checks, std::string program)
      : checks_(std::move(checks)), program_(std::move(program)) {}

  const Checks& checks() const { return checks_; }
  // add() counts a fault and tells of it.
  void add(const Fault& fault);
  uint64_t found() const { return found_; }

 protected:
  // append() adds what `object` says of this process to the file, which has been asked for.
  void append(const char* name, const JsonText& object) const;

 private:
  bool is_wanted(const Fault& fault) const;

  const Checks checks_;
  const std::string program_;
  uint64_t found_ = 0;
};

}  // namespace sluice::runtime
