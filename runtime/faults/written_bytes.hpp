// Which bytes of the program's buffers something has written.
#pragma once

#include <unordered_map>
#include <vector>

#include "base/number/range.hpp"
#include "dro/types.hpp"
#include "relation/byte_intervals.hpp"

namespace sluice::runtime {

// WrittenBytes errs towards bytes that count as written. Not thread-safe.
class WrittenBytes {
 public:
  void add(dro::BufferId buffer, const Range& bytes) { add(buffer, std::vector<Range>{bytes}); }
  void add(dro::BufferId buffer, std::vector<Range> bytes);
  void forget(dro::BufferId buffer) { written_.erase(buffer); }

  // holds() is true where all of a range is written.
  bool holds(dro::BufferId buffer, const Range& bytes) const;
  // missing() is those of some bytes that nothing has written.
  ByteIntervals missing(dro::BufferId buffer, const ByteIntervals& bytes) const;

 private:
  std::unordered_map<dro::BufferId, ByteIntervals> written_;
};

}  // namespace sluice::runtime
