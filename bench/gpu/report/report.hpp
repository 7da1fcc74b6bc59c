// What a run of the probes found, and the two files it is kept in.
#pragma once
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "statistics.hpp"

namespace sluice::gpu_probe {

// The values that a median should lie between, in the unit of its row. A row with no range is a
// finding: nobody could say beforehand what it would be.
struct Range {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();

  // known() says whether there is an expectation at all.
  bool known() const { return low == low && high == high; }
};

// One case of a probe.
struct Row {
  std::string name;
  std::string unit;
  Summary summary;
  Range expected;

  // verdict() is "finding" without a range, else "as expected", "below" or "above", by the median.
  std::string verdict() const;
};

// One probe: what it expected and why, said before it measured, and what came out.
struct ProbeRecord {
  int number = 0;
  std::string title;
  std::string expectation;
  std::vector<Row> rows;
  std::vector<std::string> notes;
  std::string failure;  // empty unless the probe could not finish or a result was wrong
};

// A run: facts of the machine as (name, value) pairs in the order they are shown, and the probes.
// `gpu` and `date` (YYYY-MM-DD) also name the files.
struct Report {
  std::string gpu;
  std::string date;
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<ProbeRecord> probes;
};

// to_json() gives the whole report, to_markdown() the same for a reader.
std::string to_json(const Report& report);
std::string to_markdown(const Report& report);

// result_stem() is the files' name without its ending, gpu-probe-<gpu>-<date>: the GPU's name in
// lower case with what is not a letter or digit turned into single hyphens.
std::string result_stem(const std::string& gpu, const std::string& date);

}  // namespace sluice::gpu_probe
