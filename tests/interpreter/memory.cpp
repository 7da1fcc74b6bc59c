#include "interpreter/memory.hpp"

namespace sluice::interpreter {

std::span<std::byte> GlobalMemory::at(uint64_t address, uint64_t bytes) {
  for (Buffer& buffer : buffers_) {
    const uint64_t offset = address - buffer.address;
    const uint64_t size = buffer.bytes.size();
    if (address >= buffer.address && offset <= size && bytes <= size - offset) {
      return std::span(buffer.bytes).subspan(offset, bytes);
    }
  }
  return {};
}

uint64_t load_word(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<uint64_t>(bytes[i]);
  return value;
}

void store_word(std::span<std::byte> bytes, uint64_t value) {
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(value);
    value >>= 8;
  }
}

}  // namespace sluice::interpreter
