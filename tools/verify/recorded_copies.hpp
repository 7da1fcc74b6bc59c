// What a run under `sluice verify` noted: its launches, and what it copied to the host.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/number/range.hpp"
#include "base/result.hpp"
#include "dro/recorded/summary.hpp"
#include "dro/records/copy.hpp"

namespace sluice::tools {

// ProcessRecord is the journal of one process.
struct ProcessRecord {
  // HostWrite is a copy to the device, or a memset.
  struct HostWrite {
    uint64_t launches = 0;  // that were called before it
    dro::BufferId buffer = 0;
    Range bytes;
  };
  dro::JournalSummary summary;
  std::map<dro::FootprintId, analysis::Footprint> footprints;
  std::vector<HostWrite> host_writes;
  std::vector<dro::CopyRecord> copies;     // those that were hashed, in the order of their calls
  std::map<std::string, uint64_t> unseen;  // the others, by reason
  bool is_whole = false;                   // it noted all: its exit handlers ran

  uint64_t tasks() const;  // launches that ran as tasks
};

// RunRecord is one run of a program.
struct RunRecord {
  int status = 0;  // exit status, or 128 + signal
  std::vector<ProcessRecord> processes;

  uint64_t copies() const;
  uint64_t copied_bytes() const;
  uint64_t launches() const;
  uint64_t tasks() const;
};

// read_process() reads the journal at `path`. Errors name the record.
Result<ProcessRecord> read_process(const std::string& path);

}  // namespace sluice::tools
