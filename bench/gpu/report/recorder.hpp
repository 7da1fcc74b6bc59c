// Takes what the probes say and measure, prints it as it comes and keeps it for the report.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "report.hpp"

namespace sluice::gpu_probe {

// A Recorder serves one run. A probe calls begin() before it measures anything, then row() and
// note() as it goes. Not thread-safe. Lines are flushed at once, so that a run that is cut short
// has shown what it had.
class Recorder {
 public:
  Recorder(Report& report, std::ostream& out) : report_(report), out_(out) {}

  // begin() opens a probe: its number and title, and what its values should be and why.
  void begin(int number, const std::string& title, const std::string& expectation);

  // row() adds one case with its repeats, in `unit`.
  void row(const std::string& name, const std::string& unit, const std::vector<double>& samples,
           Range expected = {});

  // note() adds a sentence: what was left out and why, or a count that is no measurement.
  void note(const std::string& text);

  // fail() marks the open probe as failed, with the reason.
  void fail(const std::string& reason);

  // failed() says whether any probe was marked.
  bool failed() const { return failed_; }

 private:
  ProbeRecord& current();

  Report& report_;
  std::ostream& out_;
  bool failed_ = false;
};

}  // namespace sluice::gpu_probe
