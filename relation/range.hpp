// Ranges of bytes.
#pragma once

#include <cstdint>

namespace sluice {

// ByteRange is a range of bytes of one buffer, `last` included.
struct ByteRange {
  int64_t first = 0;
  int64_t last = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

}  // namespace sluice
