// A journal read whole, for the views that need more than its summary.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "dro/edges/edge_table.hpp"
#include "dro/recorded/summary.hpp"

namespace sluice::tools {

struct RecordedRun {
  dro::JournalSummary summary;
  std::vector<dro::EdgeTable> tables;  // by EdgeTableId
  std::vector<dro::TaskRecord> tasks;  // in the order of the journal; none where nobody traced
};

// read_run() reads the journal at `path`. Errors name the record: also where a table leads to
// blocks that there are not, or tasks to launches.
Result<RecordedRun> read_run(const std::string& path);

// replayed() is success where the journal's dependences, recomputed, are those it holds. Views that
// write files ask it first. Else the error names the record that differs.
Status replayed(const std::string& path);

}  // namespace sluice::tools
