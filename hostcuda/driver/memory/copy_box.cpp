#include "hostcuda/driver/memory/copy_box.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace sluice::hostcuda {
namespace {

std::atomic<CopyListener*> the_listener = nullptr;

template <class Element>
void fill_row(std::byte* row, uint32_t value, size_t width) {
  std::fill_n(reinterpret_cast<Element*>(row), width, static_cast<Element>(value));
}

}  // namespace

void perform(const Copy& copy) {
  auto* destination = reinterpret_cast<std::byte*>(copy.destination.address);
  const auto* source = reinterpret_cast<const std::byte*>(copy.source.address);
  for (size_t z = 0; z < copy.depth; ++z) {
    for (size_t y = 0; y < copy.height; ++y) {
      std::memmove(destination + z * copy.destination.slice + y * copy.destination.pitch,
                   source + z * copy.source.slice + y * copy.source.pitch, copy.width);
    }
  }
  if (CopyListener* listener = the_listener.load(std::memory_order_acquire)) listener->copied(copy);
}

void perform(const Fill& fill) {
  auto* row = reinterpret_cast<std::byte*>(fill.address);
  for (size_t y = 0; y < fill.height; ++y, row += fill.pitch) {
    switch (fill.element_bytes) {
      case 1:
        fill_row<uint8_t>(row, fill.value, fill.width);
        break;
      case 2:
        fill_row<uint16_t>(row, fill.value, fill.width);
        break;
      default:
        fill_row<uint32_t>(row, fill.value, fill.width);
    }
  }
  if (CopyListener* listener = the_listener.load(std::memory_order_acquire)) listener->filled(fill);
}

void listen_to_copies(CopyListener* listener) {
  the_listener.store(listener, std::memory_order_release);
}

}  // namespace sluice::hostcuda
