// Replay: a journal's inputs are given to a fresh tracker, and everything it finds is compared,
// byte for byte, with what the journal says was found.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace sluice::dro {

struct ReplayResult {
  std::string difference;  // the first, naming the record; empty: the journal is identical
  std::string note;        // on a journal that a crash cut short; empty: it is whole
  uint64_t records = 0;    // compared

  bool identical() const { return difference.empty(); }
};

// replay() reads the journal at `path`. An error where it cannot be read or a record was damaged;
// the error names it. Takes the time that the program's own analysis of dependences took, or less.
Result<ReplayResult> replay(const std::string& path);

}  // namespace sluice::dro
