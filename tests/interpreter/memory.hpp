// The memory that interpreted threads see: bytes at addresses of our choosing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice::interpreter {

// Where shared memory lies in the generic address space, of whichever block asks.
inline constexpr uint64_t shared_window = uint64_t{0x7e} << 40;
inline constexpr uint64_t window_bytes = uint64_t{1} << 24;

// GlobalMemory is a launch's buffers, each at an address of its own. What lies between them is
// nobody's: a kernel that touches it is in error.
class GlobalMemory {
 public:
  // add() takes a buffer that begins at `address`, anywhere below the shared window. Buffers must
  // not overlap.
  void add(uint64_t address, std::vector<std::byte> bytes) {
    buffers_.push_back({address, std::move(bytes)});
  }
  // at() is where `bytes` bytes at an address lie; empty where no buffer holds them all.
  std::span<std::byte> at(uint64_t address, uint64_t bytes);
  size_t size() const { return buffers_.size(); }
  // buffer() is the content of the buffer that was added as the number-th.
  const std::vector<std::byte>& buffer(size_t number) const { return buffers_[number].bytes; }

 private:
  struct Buffer {
    uint64_t address = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<Buffer> buffers_;
};

// Words of 1 to 8 bytes, least significant first, as the GPU and our hosts have them.
uint64_t load_word(std::span<const std::byte> bytes);
void store_word(std::span<std::byte> bytes, uint64_t value);

}  // namespace sluice::interpreter
