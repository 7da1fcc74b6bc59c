#include "hostcuda/driver/memory/copy_box.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "hostcuda/driver/memory/box_pieces.hpp"

namespace sluice::hostcuda {
namespace {

std::atomic<CopyListener*> the_listener = nullptr;

template <class Element>
void fill_elements(uintptr_t address, uint32_t value, size_t bytes) {
  std::fill_n(reinterpret_cast<Element*>(address), bytes / sizeof(Element),
              static_cast<Element>(value));
}

auto copier(const Copy& copy) {
  return [copy](size_t row, size_t from, size_t bytes) {
    const size_t z = copy.depth == 1 ? 0 : row / copy.height;
    const size_t y = row - z * copy.height;
    const auto address = [&](const CopySide& side) {
      return reinterpret_cast<void*>(side.address + z * side.slice + y * side.pitch + from);
    };
    std::memmove(address(copy.destination), address(copy.source), bytes);
  };
}

auto filler(const Fill& fill) {
  return [fill](size_t row, size_t from, size_t bytes) {
    const uintptr_t address = fill.address + row * fill.pitch + from;
    switch (fill.element_bytes) {
      case 1:
        return fill_elements<uint8_t>(address, fill.value, bytes);
      case 2:
        return fill_elements<uint16_t>(address, fill.value, bytes);
      default:
        return fill_elements<uint32_t>(address, fill.value, bytes);
    }
  };
}

// A copy between boxes that overlap is memmove()'s, row by row.
bool may_overlap(const Copy& copy) {
  const auto end = [&copy](const CopySide& side) {
    return side.address + (copy.depth - 1) * side.slice + (copy.height - 1) * side.pitch +
           copy.width;
  };
  return copy.destination.address < end(copy.source) && copy.source.address < end(copy.destination);
}

}  // namespace

void perform(const Copy& copy, BlockPool* pool) {
  if (copy.is_empty()) return;
  BoxPieces(copy.height * copy.depth, copy.width)
      .visit_all(copier(copy), may_overlap(copy) ? nullptr : pool);
  if (CopyListener* listener = the_listener.load(std::memory_order_acquire)) listener->copied(copy);
}

void perform(const Fill& fill, BlockPool* pool) {
  BoxPieces(fill.height, fill.width * fill.element_bytes).visit_all(filler(fill), pool);
  if (CopyListener* listener = the_listener.load(std::memory_order_acquire)) listener->filled(fill);
}

void listen_to_copies(CopyListener* listener) {
  the_listener.store(listener, std::memory_order_release);
}

}  // namespace sluice::hostcuda
