#include "hostcuda/driver/copy.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace sluice::hostcuda {
namespace {

// A copy from pageable memory up to this size is staged and the call returns at once, as CUDA does.
constexpr size_t staging_limit = 64 << 10;

// extent() is the number of bytes from the first to the last of a box, nothing on overflow.
std::optional<size_t> extent(const CopySide& side, size_t width, size_t height, size_t depth) {
  size_t rows = 0;
  size_t planes = 0;
  size_t total = 0;
  if (__builtin_mul_overflow(side.pitch, height - 1, &rows) ||
      __builtin_mul_overflow(side.slice, depth - 1, &planes) ||
      __builtin_add_overflow(rows, planes, &total) ||
      __builtin_add_overflow(total, width, &total)) {
    return std::nullopt;
  }
  return total;
}

enum class Reach { known, pageable, invalid };

// reach() says whether the device knows the memory of one side of a copy.
Reach reach(const AllocationTable& memory, const CopySide& side, const Copy& copy) {
  const std::optional<size_t> bytes = extent(side, copy.width, copy.height, copy.depth);
  if (!bytes || side.address == 0) return Reach::invalid;
  const std::optional<Allocation> allocation = memory.find(side.address);
  if (allocation && allocation->covers(side.address, *bytes)) return Reach::known;
  if (side.side == Side::device) return Reach::invalid;
  // Host memory may well begin in a registered range and reach beyond it.
  if (side.side == Side::host) return Reach::pageable;
  return allocation ? Reach::invalid : Reach::pageable;
}

void perform(const Copy& copy) {
  auto* destination = reinterpret_cast<std::byte*>(copy.destination.address);
  const auto* source = reinterpret_cast<const std::byte*>(copy.source.address);
  for (size_t z = 0; z < copy.depth; ++z) {
    for (size_t y = 0; y < copy.height; ++y) {
      std::memmove(destination + z * copy.destination.slice + y * copy.destination.pitch,
                   source + z * copy.source.slice + y * copy.source.pitch, copy.width);
    }
  }
}

// stage() copies the source aside, so that the program may change it at once.
std::shared_ptr<std::vector<std::byte>> stage(Copy& copy) {
  auto staged = std::make_shared<std::vector<std::byte>>(copy.width * copy.height * copy.depth);
  CopySide side;
  side.address = reinterpret_cast<uintptr_t>(staged->data());
  side.pitch = copy.width;
  side.slice = copy.width * copy.height;
  perform({side, copy.source, copy.width, copy.height, copy.depth});
  copy.source = side;
  return staged;
}

struct Reaches {
  Reach destination;
  Reach source;
  bool valid() const { return destination != Reach::invalid && source != Reach::invalid; }
};

Reaches reaches(Driver& driver, const Copy& copy) {
  return {reach(driver.memory, copy.destination, copy), reach(driver.memory, copy.source, copy)};
}

bool is_empty(const Copy& copy) {
  return copy.width == 0 || copy.height == 0 || copy.depth == 0;
}

template <class Element>
void fill_row(std::byte* row, uint32_t value, size_t width) {
  std::fill_n(reinterpret_cast<Element*>(row), width, static_cast<Element>(value));
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
}

}  // namespace

Copy linear_copy(uintptr_t destination, Side destination_side, uintptr_t source, Side source_side,
                 size_t bytes) {
  Copy copy;
  copy.destination.address = destination;
  copy.destination.side = destination_side;
  copy.source.address = source;
  copy.source.side = source_side;
  copy.width = bytes;
  return copy;
}

CUresult copy_now(Driver& driver, const Copy& copy) {
  if (is_empty(copy)) return CUDA_SUCCESS;
  if (!reaches(driver, copy).valid()) return CUDA_ERROR_INVALID_VALUE;
  // What orders a stream after another (an event, the default stream) left no trace but its place
  // in the queue, so the copy waits for all of it.
  const CUresult waited = driver.queue.wait(driver.queue.last_ticket());
  if (waited == CUDA_SUCCESS) perform(copy);
  return waited;
}

CUresult copy_in_stream(Driver& driver, const StreamRef& stream, const Copy& copy) {
  if (is_empty(copy)) return CUDA_SUCCESS;
  const Reaches known = reaches(driver, copy);
  if (!known.valid()) return CUDA_ERROR_INVALID_VALUE;
  // Within work nobody can wait; there a copy to pageable memory is simply submitted.
  const bool within_work = Queue::on_dispatcher();
  if (known.source == Reach::pageable) {
    const bool small = copy.width <= staging_limit / copy.height / copy.depth;
    if (known.destination == Reach::pageable || !(small || within_work)) {
      return copy_now(driver, copy);
    }
    Copy staged = copy;
    std::shared_ptr<std::vector<std::byte>> memory = stage(staged);
    driver.submit(stream, std::function<void()>([staged, memory] { perform(staged); }));
    return CUDA_SUCCESS;
  }
  if (known.destination == Reach::pageable && !within_work) return copy_now(driver, copy);
  driver.submit(stream, std::function<void()>([copy] { perform(copy); }));
  return CUDA_SUCCESS;
}

CUresult fill_in_stream(Driver& driver, const StreamRef& stream, const Fill& fill) {
  if (fill.width == 0 || fill.height == 0) return CUDA_SUCCESS;
  Copy box;
  if (__builtin_mul_overflow(fill.width, fill.element_bytes, &box.width)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  box.height = fill.height;
  box.destination = {fill.address, fill.pitch, 0, Side::device};
  const bool aligned = fill.address % fill.element_bytes == 0 &&
                       (fill.height == 1 || fill.pitch % fill.element_bytes == 0);
  if (!aligned || (fill.height > 1 && fill.pitch < box.width) ||
      reach(driver.memory, box.destination, box) != Reach::known) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  driver.submit(stream, std::function<void()>([fill] { perform(fill); }));
  return CUDA_SUCCESS;
}

}  // namespace sluice::hostcuda
