#include "hostcuda/driver/memory_watch/written_bytes.hpp"

#include <algorithm>

namespace sluice::hostcuda {
namespace {

constexpr uint32_t all_marked = 0x01010101;

// Blocks write the same marks at once: each is set in one piece.
void set(uint8_t* mark, uint8_t value) {
  std::atomic_ref(*mark).store(value, std::memory_order_relaxed);
}
uint8_t get(const uint8_t* mark) {
  return std::atomic_ref(*const_cast<uint8_t*>(mark)).load(std::memory_order_relaxed);
}
bool is_word(const uint8_t* mark, size_t count) {
  return count >= sizeof(uint32_t) && reinterpret_cast<uintptr_t>(mark) % sizeof(uint32_t) == 0;
}
std::atomic_ref<uint32_t> word(const uint8_t* mark) {
  return std::atomic_ref(*reinterpret_cast<uint32_t*>(const_cast<uint8_t*>(mark)));
}

}  // namespace

void WrittenBytes::fill(size_t begin, size_t count, uint8_t mark) {
  if (marks_ == nullptr || (mark != 0 && is_complete())) return;
  for (uint8_t* at = marks_.get() + begin; count != 0;) {
    const size_t step = is_word(at, count) ? sizeof(uint32_t) : 1;
    if (step != 1) {
      word(at).store(all_marked * mark, std::memory_order_relaxed);
    } else {
      set(at, mark);
    }
    at += step;
    count -= step;
  }
}

void WrittenBytes::forget() {
  ++losses_;
  fill(0, bytes_, 0);
  ++losses_;
}

bool WrittenBytes::are_all_written(std::span<const Range> ranges) const {
  return is_complete() || std::ranges::none_of(ranges, [&](const Range& range) {
           return missing(static_cast<size_t>(range.begin), static_cast<size_t>(range.size()))
               .has_value();
         });
}

void WrittenBytes::write_all(std::span<const Range> ranges) {
  if (is_complete()) return;
  size_t count = 0;
  for (const Range& range : ranges) {
    write(static_cast<size_t>(range.begin), static_cast<size_t>(range.size()));
    count += static_cast<size_t>(range.size());
  }
  // To look at all takes no longer than that then.
  if (2 * count < bytes_) return;
  const uint64_t losses = losses_.load();
  if (!missing(0, bytes_)) complete_.store(losses);
}

void WrittenBytes::copy(size_t begin, size_t count, const WrittenBytes* from, size_t from_begin) {
  if (from == nullptr || !from->missing(from_begin, count)) return write(begin, count);
  if (marks_ == nullptr) return;
  ++losses_;
  for (size_t i = 0; i < count; ++i)
    set(marks_.get() + begin + i, get(from->marks_.get() + from_begin + i));
  ++losses_;
}

std::optional<size_t> WrittenBytes::missing(size_t begin, size_t count) const {
  if (marks_ == nullptr || is_complete()) return std::nullopt;
  const uint8_t* const marks = marks_.get();
  for (size_t at = begin; at < begin + count;) {
    const size_t left = begin + count - at;
    if (is_word(marks + at, left) &&
        word(marks + at).load(std::memory_order_relaxed) == all_marked) {
      at += sizeof(uint32_t);
    } else if (get(marks + at) == 0) {
      return at;
    } else {
      ++at;
    }
  }
  return std::nullopt;
}

}  // namespace sluice::hostcuda
