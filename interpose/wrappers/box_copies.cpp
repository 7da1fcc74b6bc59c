// Copies of rectangles and boxes. Rectangles of device memory, for which the host does not wait,
// may be tasks. The others close the windows and go to the driver as they are; what they overwrite
// stays live for the dependences, since the driver orders them anyway; those to the host are hashed
// where that is asked for.
#include <algorithm>

#include "interpose/wrappers/wrappers.hpp"

using namespace sluice::interpose;
using sluice::runtime::Box;
using sluice::runtime::HostCopies;
using sluice::runtime::HostCopy;
using sluice::runtime::Transfer;

namespace {

// A rectangle is a box of one slice.
CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D& copy) {
  CUDA_MEMCPY3D box = {};
  box.srcXInBytes = copy.srcXInBytes;
  box.srcY = copy.srcY;
  box.srcMemoryType = copy.srcMemoryType;
  box.srcDevice = copy.srcDevice;
  box.srcPitch = copy.srcPitch;
  box.dstXInBytes = copy.dstXInBytes;
  box.dstY = copy.dstY;
  box.dstMemoryType = copy.dstMemoryType;
  box.dstHost = copy.dstHost;
  box.dstDevice = copy.dstDevice;
  box.dstPitch = copy.dstPitch;
  box.WidthInBytes = copy.WidthInBytes;
  box.Height = copy.Height;
  box.Depth = 1;
  return box;
}
const CUDA_MEMCPY3D& box_of(const CUDA_MEMCPY3D& copy) {
  return copy;
}

// begin_of() is the box that begins at a place (bytes, rows, slices) of what lies at `base`;
// pitches of 0 stand for rows and slices without gaps.
Box begin_of(uint64_t base, size_t x, size_t y, size_t z, size_t pitch, size_t height,
             const CUDA_MEMCPY3D& copy) {
  Box box{.address = 0,
          .row_bytes = copy.WidthInBytes,
          .rows = copy.Height,
          .row_pitch = pitch != 0 ? pitch : copy.WidthInBytes,
          .slices = std::max<size_t>(copy.Depth, 1),
          .slice_pitch = 0};
  box.slice_pitch = (height != 0 ? height : copy.Height) * box.row_pitch;
  box.address = base + z * box.slice_pitch + y * box.row_pitch + x;
  return box;
}

// host_of() is the host memory that a copy writes; 0 where it writes other memory.
uint64_t host_of(const CUDA_MEMCPY3D& copy) {
  if (copy.dstMemoryType == CU_MEMORYTYPE_HOST) return reinterpret_cast<uint64_t>(copy.dstHost);
  const bool may_be_host = copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED;
  return may_be_host && is_host_memory(copy.dstDevice) ? copy.dstDevice : 0;
}

void tell(const char* function, const CUDA_MEMCPY3D& copy, CUstream stream, bool host_waits) {
  const uint64_t host = host_of(copy);
  if (host == 0 || copy.srcMemoryType == CU_MEMORYTYPE_HOST) return;
  const bool is_array = copy.srcMemoryType == CU_MEMORYTYPE_ARRAY;
  Box from = begin_of(copy.srcDevice, copy.srcXInBytes, copy.srcY, copy.srcZ, copy.srcPitch,
                      copy.srcHeight, copy);
  if (is_array) from.address = 0;
  note_host_copy({.function = function,
                  .from = from,
                  .to = begin_of(host, copy.dstXInBytes, copy.dstY, copy.dstZ, copy.dstPitch,
                                 copy.dstHeight, copy),
                  .stream = key_of(stream),
                  .host_waits = host_waits});
}

bool may_be_device(CUmemorytype type) {
  return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED;
}

// copying() is a copy between rectangles of device memory; nothing of another one.
Transfer copying(const CUDA_MEMCPY3D&, CUstream) {
  return {};
}
Transfer copying(const CUDA_MEMCPY2D& copy, CUstream stream) {
  if (!may_be_device(copy.dstMemoryType) || !may_be_device(copy.srcMemoryType)) return {};
  const CUDA_MEMCPY3D box = box_of(copy);
  const Box to = begin_of(copy.dstDevice, copy.dstXInBytes, copy.dstY, 0, copy.dstPitch, 0, box);
  const Box from = begin_of(copy.srcDevice, copy.srcXInBytes, copy.srcY, 0, copy.srcPitch, 0, box);
  return {.to = to.address,
          .from = from.address,
          .row_bytes = copy.WidthInBytes,
          .rows = copy.Height,
          .to_pitch = to.row_pitch,
          .from_pitch = from.row_pitch,
          .stream = key_of(stream)};
}

// tell_written() tells of the bytes from the first to the last that a copy writes.
void tell_written(const CUDA_MEMCPY3D& copy) {
  if (races() == nullptr || !may_be_device(copy.dstMemoryType) || copy.Height == 0 ||
      copy.WidthInBytes == 0)
    return;
  const Box box = begin_of(copy.dstDevice, copy.dstXInBytes, copy.dstY, copy.dstZ, copy.dstPitch,
                           copy.dstHeight, copy);
  tell_perhaps_written(
      *races(), box.address,
      (box.slices - 1) * box.slice_pitch + (box.rows - 1) * box.row_pitch + box.row_bytes);
}

template <class Copy, class Call>
CUresult observed(const char* function, const Copy* copy, CUstream stream, bool host_waits,
                  Call&& call) {
  const KeepErrno keep;
  if (copy != nullptr) {
    Transfer transfer = copying(*copy, stream);
    transfer.host_waits = host_waits;
    if (const std::optional<CUresult> result = taken(transfer)) return *result;
  }
  flushed_runtime();
  const CUresult result = call();
  if (result != CUDA_SUCCESS) return result;
  tell_written(box_of(*copy));
  if (copies() != nullptr) tell(function, box_of(*copy), stream, host_waits);
  return result;
}

}  // namespace

// SLUICE_BOX_COPY(symbol, type): the host may wait, and the _ptds form takes the thread's own
// stream.
#define SLUICE_BOX_COPY_ON(symbol, type, stream)                                         \
  extern "C" CUresult sluice_wrap_##symbol(const type* copy) {                           \
    return observed(#symbol, copy, stream, true, [&] { return driver().symbol(copy); }); \
  }
#define SLUICE_BOX_COPY(symbol, type)       \
  SLUICE_BOX_COPY_ON(symbol, type, nullptr) \
  SLUICE_BOX_COPY_ON(symbol##_ptds, type, CU_STREAM_PER_THREAD)
#define SLUICE_BOX_COPY_ASYNC(symbol, type)                                                       \
  extern "C" CUresult sluice_wrap_##symbol(const type* copy, CUstream stream) {                   \
    return observed(#symbol, copy, stream, false, [&] { return driver().symbol(copy, stream); }); \
  }
SLUICE_BOX_COPY(cuMemcpy2D_v2, CUDA_MEMCPY2D)
SLUICE_BOX_COPY(cuMemcpy2DUnaligned_v2, CUDA_MEMCPY2D)
SLUICE_BOX_COPY_ASYNC(cuMemcpy2DAsync_v2, CUDA_MEMCPY2D)
SLUICE_BOX_COPY(cuMemcpy3D_v2, CUDA_MEMCPY3D)
SLUICE_BOX_COPY_ASYNC(cuMemcpy3DAsync_v2, CUDA_MEMCPY3D)
#undef SLUICE_BOX_COPY_ASYNC
#undef SLUICE_BOX_COPY
#undef SLUICE_BOX_COPY_ON

void sluice::interpose::note_host_copy(HostCopy copy) {
  HostCopies* const told = copies();
  if (told == nullptr) return;
  if (!copy.host_waits && is_capturing() && copy.unseen == nullptr) {
    copy.unseen = "a stream was being captured";
  }
  tell_copied(*told, copy);
}

bool sluice::interpose::is_host_memory(CUdeviceptr address) {
  const auto get = driver().cuPointerGetAttribute;
  unsigned int type = CU_MEMORYTYPE_HOST;
  // Memory that the driver does not know is the host's.
  return get == nullptr || get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS ||
         type == CU_MEMORYTYPE_HOST;
}
