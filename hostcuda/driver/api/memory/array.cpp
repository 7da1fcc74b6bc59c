// CUDA arrays, and copies of neighbouring bytes from and to them.
#include "hostcuda/driver/memory/array.hpp"

#include <memory>
#include <optional>

#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/memory/mipmapped_array.hpp"
#include "hostcuda/driver/operations/copy.hpp"

using namespace sluice::hostcuda;

namespace {

CUresult make_array(Driver& driver, const Context& context,
                    const CUDA_ARRAY3D_DESCRIPTOR& descriptor, std::shared_ptr<Array>* array) {
  TexelImage image;
  size_t bytes = 0;
  const CUresult described = describe_image(descriptor, &image, &bytes);
  if (described != CUDA_SUCCESS) return described;
  const std::optional<uintptr_t> address =
      driver.memory.allocate(MemoryKind::array, bytes, 0, &context);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  image.data = reinterpret_cast<std::byte*>(*address);
  *array = std::make_shared<Array>(descriptor, image, &context);
  return CUDA_SUCCESS;
}

CUresult create_array(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Array> array;
    const CUresult result = make_array(driver, context, descriptor, &array);
    if (result == CUDA_SUCCESS) *handle = driver.arrays.add(std::move(array));
    return result;
  });
}

template <class Body>
CUresult with_array(CUarray handle, Body&& body) noexcept {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<Array> array = driver.arrays.find(handle);
    return array == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(driver, *array);
  });
}

// LinearSide is one side of a copy of `bytes` neighbouring bytes.
struct LinearSide {
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  size_t offset = 0;  // in an array's first row
};

LinearSide in_array(CUarray array, size_t offset) {
  return {CU_MEMORYTYPE_ARRAY, nullptr, 0, array, offset};
}

CUDA_MEMCPY2D row(const LinearSide& target, const LinearSide& source, size_t bytes) {
  CUDA_MEMCPY2D box = {};
  box.srcXInBytes = source.offset;
  box.srcMemoryType = source.type;
  box.srcHost = source.host;
  box.srcDevice = source.device;
  box.srcArray = source.array;
  box.dstXInBytes = target.offset;
  box.dstMemoryType = target.type;
  box.dstHost = target.host;
  box.dstDevice = target.device;
  box.dstArray = target.array;
  box.WidthInBytes = bytes;
  box.Height = 1;
  return box;
}

CUresult copy_row(const LinearSide& target, const LinearSide& source, size_t bytes) {
  const CUDA_MEMCPY2D box = row(target, source, bytes);
  return cuMemcpy2D_v2(&box);
}

CUresult copy_row(const LinearSide& target, const LinearSide& source, size_t bytes,
                  CUstream stream) {
  const CUDA_MEMCPY2D box = row(target, source, bytes);
  return cuMemcpy2DAsync_v2(&box, stream);
}

LinearSide on_host(const void* memory) {
  return {CU_MEMORYTYPE_HOST, const_cast<void*>(memory)};
}

LinearSide on_device(CUdeviceptr memory) {
  return {CU_MEMORYTYPE_DEVICE, nullptr, memory};
}

}  // namespace

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return create_array(array, {descriptor->Width, descriptor->Height, 0, descriptor->Format,
                              descriptor->NumChannels, 0});
}

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return create_array(array, *descriptor);
}

CUresult cuArrayDestroy(CUarray handle) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<Array> array = driver.arrays.remove(handle);
    if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return driver.when_all_done([&driver, address = array->address()] {
      driver.memory.release(address, MemoryKind::array);
    });
  });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                unsigned int wanted) {
  return with_context([&](Driver& driver, Context& context) -> CUresult {
    if (handle == nullptr || descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<MipmappedArray>();
    const unsigned count = level_count(*descriptor, wanted);
    CUresult result = CUDA_SUCCESS;
    for (unsigned level = 0; level < count && result == CUDA_SUCCESS; ++level) {
      std::shared_ptr<Array> array;
      result = make_array(driver, context, level_descriptor(*descriptor, level), &array);
      if (result == CUDA_SUCCESS) made->levels.push_back(std::move(array));
    }
    if (result != CUDA_SUCCESS) {
      for (const std::shared_ptr<Array>& array : made->levels)
        driver.memory.release(array->address(), MemoryKind::array);
      return result;
    }
    for (const std::shared_ptr<Array>& array : made->levels)
      driver.arrays.add(array);
    *handle = mipmapped_arrays().add(std::move(made));
    return CUDA_SUCCESS;
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* array, CUmipmappedArray handle, unsigned int level) {
  return with_context([&](Driver&, Context&) -> CUresult {
    const std::shared_ptr<MipmappedArray> known = mipmapped_arrays().find(handle);
    if (known == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (array == nullptr || level >= known->levels.size()) return CUDA_ERROR_INVALID_VALUE;
    *array = reinterpret_cast<CUarray>(known->levels[level].get());
    return CUDA_SUCCESS;
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return with_context([&](Driver& driver, Context&) -> CUresult {
    const std::shared_ptr<MipmappedArray> known = mipmapped_arrays().remove(handle);
    if (known == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    for (const std::shared_ptr<Array>& array : known->levels)
      driver.arrays.remove(reinterpret_cast<CUarray>(array.get()));
    return driver.when_all_done([&driver, known] {
      for (const std::shared_ptr<Array>& array : known->levels)
        driver.memory.release(array->address(), MemoryKind::array);
    });
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray handle) {
  return with_array(handle, [&](Driver&, const Array& array) -> CUresult {
    if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR& full = array.descriptor();
    *descriptor = {full.Width, full.Height, full.Format, full.NumChannels};
    return CUDA_SUCCESS;
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray handle) {
  return with_array(handle, [&](Driver&, const Array& array) -> CUresult {
    if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *descriptor = array.descriptor();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyHtoA_v2(CUarray array, size_t offset, const void* host, size_t bytes) {
  return copy_row(in_array(array, offset), on_host(host), bytes);
}

CUresult cuMemcpyAtoH_v2(void* host, CUarray array, size_t offset, size_t bytes) {
  return copy_row(on_host(host), in_array(array, offset), bytes);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray array, size_t offset, const void* host, size_t bytes,
                              CUstream stream) {
  return copy_row(in_array(array, offset), on_host(host), bytes, stream);
}

CUresult cuMemcpyAtoHAsync_v2(void* host, CUarray array, size_t offset, size_t bytes,
                              CUstream stream) {
  return copy_row(on_host(host), in_array(array, offset), bytes, stream);
}

CUresult cuMemcpyDtoA_v2(CUarray array, size_t offset, CUdeviceptr device, size_t bytes) {
  return copy_row(in_array(array, offset), on_device(device), bytes);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr device, CUarray array, size_t offset, size_t bytes) {
  return copy_row(on_device(device), in_array(array, offset), bytes);
}

CUresult cuMemcpyAtoA_v2(CUarray target, size_t target_offset, CUarray source, size_t source_offset,
                         size_t bytes) {
  return copy_row(in_array(target, target_offset), in_array(source, source_offset), bytes);
}
