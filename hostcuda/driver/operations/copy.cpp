#include "hostcuda/driver/operations/copy.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "hostcuda/driver/graph/capture.hpp"
#include "hostcuda/driver/host_watch/host_watch.hpp"

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

Reaches reaches(const Driver& driver, const Copy& copy) {
  return {reach(driver.memory, copy.destination, copy), reach(driver.memory, copy.source, copy)};
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

CUDA_MEMCPY3D linear_copy_parameters(const Copy& copy) {
  const auto type = [](Side side) {
    switch (side) {
      case Side::host:
        return CU_MEMORYTYPE_HOST;
      case Side::device:
        return CU_MEMORYTYPE_DEVICE;
      default:
        return CU_MEMORYTYPE_UNIFIED;
    }
  };
  CUDA_MEMCPY3D parameters = {};
  parameters.srcMemoryType = type(copy.source.side);
  parameters.srcHost = reinterpret_cast<const void*>(copy.source.address);
  parameters.srcDevice = copy.source.address;
  parameters.srcPitch = copy.width;
  parameters.dstMemoryType = type(copy.destination.side);
  parameters.dstHost = reinterpret_cast<void*>(copy.destination.address);
  parameters.dstDevice = copy.destination.address;
  parameters.dstPitch = copy.width;
  parameters.WidthInBytes = copy.width;
  parameters.Height = 1;
  parameters.Depth = 1;
  return parameters;
}

CUresult check_copy(const Driver& driver, const Copy& copy) {
  return copy.is_empty() || reaches(driver, copy).valid() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult copy_now(Driver& driver, const StreamRef& stream, const Copy& copy) {
  if (copy.is_empty()) return CUDA_SUCCESS;
  if (!reaches(driver, copy).valid()) return CUDA_ERROR_INVALID_VALUE;
  const CUresult waited = driver.engine.wait(driver.engine.before(stream->queue));
  if (waited != CUDA_SUCCESS) return waited;
  const DeviceAccess access;
  perform(copy, &driver.pool);
  return CUDA_SUCCESS;
}

CUresult copy_in_stream(Driver& driver, const StreamRef& stream, const Copy& copy,
                        const CUDA_MEMCPY3D& parameters) {
  if (copy.is_empty()) return CUDA_SUCCESS;
  const Reaches known = reaches(driver, copy);
  if (!known.valid()) return CUDA_ERROR_INVALID_VALUE;
  // A graph reads pageable memory at each of its launches.
  if (is_captured(stream)) {
    return submit(driver, stream, std::make_shared<const CopyOperation>(copy, parameters));
  }
  // Within work nobody can wait; there a copy to pageable memory is simply submitted.
  const bool is_within_work = within_work();
  if (known.source == Reach::pageable) {
    const bool small = copy.width <= staging_limit / copy.height / copy.depth;
    if (known.destination == Reach::pageable || !(small || is_within_work)) {
      return copy_now(driver, stream, copy);
    }
    Copy staged = copy;
    std::shared_ptr<std::vector<std::byte>> memory = stage(staged);
    driver.engine.submit(stream->queue, [staged, memory] { perform(staged); });
    return CUDA_SUCCESS;
  }
  if (known.destination == Reach::pageable && !is_within_work)
    return copy_now(driver, stream, copy);
  driver.engine.submit(stream->queue, std::make_shared<const CopyOperation>(copy, parameters));
  return CUDA_SUCCESS;
}

bool is_of_device(const Driver& driver, uintptr_t address) {
  const std::optional<Allocation> found = driver.memory.find(address);
  return found && found->kind == MemoryKind::device;
}

CUresult copy_as_called(Driver& driver, const StreamRef& stream, const Copy& copy,
                        const CUDA_MEMCPY3D& parameters) {
  const bool is_within = copy.source.side != Side::host && copy.destination.side != Side::host &&
                         is_of_device(driver, copy.destination.address) &&
                         is_of_device(driver, copy.source.address);
  return is_within && !is_captured(stream) ? copy_in_stream(driver, stream, copy, parameters)
                                           : copy_now(driver, stream, copy);
}

CUresult check_fill(const Driver& driver, const Fill& fill) {
  if (fill.width == 0 || fill.height == 0) return CUDA_SUCCESS;
  Copy box;
  if (__builtin_mul_overflow(fill.width, fill.element_bytes, &box.width)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  box.height = fill.height;
  box.destination = {fill.address, fill.pitch, 0, Side::device};
  const bool aligned = fill.address % fill.element_bytes == 0 &&
                       (fill.height == 1 || fill.pitch % fill.element_bytes == 0);
  const bool fits = aligned && (fill.height == 1 || fill.pitch >= box.width) &&
                    reach(driver.memory, box.destination, box) == Reach::known;
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fill_in_stream(Driver& driver, const StreamRef& stream, const Fill& fill) {
  if (fill.width == 0 || fill.height == 0) return CUDA_SUCCESS;
  if (const CUresult checked = check_fill(driver, fill); checked != CUDA_SUCCESS) return checked;
  return submit(driver, stream, std::make_shared<const FillOperation>(fill));
}

}  // namespace sluice::hostcuda
