// Which bytes of a piece of memory something has written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

#include "base/number/range.hpp"

namespace sluice::hostcuda {

// WrittenBytes holds a byte for each byte. Blocks that run at once may set and read it.
// Once all are written they mostly stay so, and nothing more is looked at.
class WrittenBytes {
 public:
  // Nothing is written yet. Where there is no memory for it, everything counts as written.
  explicit WrittenBytes(size_t bytes)
      : bytes_(bytes), marks_(static_cast<uint8_t*>(std::calloc(bytes + 1, 1))) {}

  void write(size_t begin, size_t count) { fill(begin, count, 1); }
  void forget();
  // copy() gives `count` bytes from `begin` on what those of another are; null: written.
  void copy(size_t begin, size_t count, const WrittenBytes* from, size_t from_begin);
  // are_all_written() is true of ranges of which no byte is missing, write_all() writes them.
  bool are_all_written(std::span<const Range> ranges) const;
  void write_all(std::span<const Range> ranges);
  // missing() is the first of those bytes that is not written.
  std::optional<size_t> missing(size_t begin, size_t count) const;

 private:
  void fill(size_t begin, size_t count, uint8_t mark);
  bool is_complete() const { return complete_.load() == losses_.load(); }

  struct Free {
    void operator()(uint8_t* marks) const { std::free(marks); }
  };
  size_t bytes_;
  std::unique_ptr<uint8_t[], Free> marks_;
  // How often marks may have gone, counted before and after; and that count when all were there.
  std::atomic<uint64_t> losses_ = 0, complete_ = UINT64_MAX;
};

}  // namespace sluice::hostcuda
