// The journal's record of the footprint check: what the blocks of one kernel really touched, beside
// what its footprints claim.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace sluice::dro {

struct JournalRecord;

// CheckRecord adds up all launches of one kernel. Bytes are summed over blocks.
struct CheckRecord {
  struct Argument {
    std::string name;
    uint64_t read_bytes_claimed = 0;
    uint64_t read_bytes_touched = 0;
    uint64_t written_bytes_claimed = 0;
    uint64_t written_bytes_touched = 0;
    uint64_t must_write_bytes = 0;  // claimed as must-writes
  };
  std::string kernel;
  uint64_t launches = 0;         // checked
  uint64_t unchecked = 0;        // launches that were opaque or ran without block code
  uint64_t blocks = 0;           // checked
  uint64_t launched_blocks = 0;  // of the launches that are checked
  uint64_t violations = 0;
  std::vector<Argument> arguments;
};

// check_text() is one JSON object without its seal; check_of() takes it apart.
std::string check_text(const CheckRecord& check);
Result<CheckRecord> check_of(const JournalRecord& record);

}  // namespace sluice::dro
