// The bytes of some buffers, each counted once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/plan.hpp"

namespace sluice::schedule {

// BufferSet holds each buffer with the bytes that it was first added with. Not thread-safe.
class BufferSet {
 public:
  void add(std::span<const TouchedBuffer> touched) {
    for (const TouchedBuffer& buffer : touched) {
      // From the back, since launches mostly touch what the one before them did.
      const auto is_it = [&](const TouchedBuffer& known) { return known.buffer == buffer.buffer; };
      if (std::find_if(buffers_.rbegin(), buffers_.rend(), is_it) != buffers_.rend()) continue;
      buffers_.push_back(buffer);
      bytes_ += buffer.bytes;
    }
  }

  uint64_t bytes() const { return bytes_; }

 private:
  std::vector<TouchedBuffer> buffers_;
  uint64_t bytes_ = 0;
};

}  // namespace sluice::schedule
