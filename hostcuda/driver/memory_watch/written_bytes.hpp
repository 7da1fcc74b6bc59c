// Which bytes of a piece of memory something has written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

namespace sluice::hostcuda {

// WrittenBytes holds a byte for each byte. Blocks that run at once may set and read it.
class WrittenBytes {
 public:
  // Nothing is written yet. Where there is no memory for it, everything counts as written.
  explicit WrittenBytes(size_t bytes)
      : bytes_(bytes), marks_(static_cast<uint8_t*>(std::calloc(bytes + 1, 1))) {}

  void write(size_t begin, size_t count) { fill(begin, count, 1); }
  void forget() { fill(0, bytes_, 0); }
  // copy() gives `count` bytes from `begin` on what those of another are; null: written.
  void copy(size_t begin, size_t count, const WrittenBytes* from, size_t from_begin);
  // missing() is the first of those bytes that is not written.
  std::optional<size_t> missing(size_t begin, size_t count) const;

 private:
  void fill(size_t begin, size_t count, uint8_t mark);

  struct Free {
    void operator()(uint8_t* marks) const { std::free(marks); }
  };
  size_t bytes_;
  std::unique_ptr<uint8_t[], Free> marks_;
};

}  // namespace sluice::hostcuda
