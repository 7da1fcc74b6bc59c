#include <cstdint>
#include <vector>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

using MemoryTest = DriverTest;

TEST_F(MemoryTest, AllocatesAlignedMemoryAndFreesItOnce) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 1000), CUDA_SUCCESS);
  EXPECT_EQ(memory % 256, 0u);
  EXPECT_EQ(cuMemFree(memory + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(0), CUDA_SUCCESS);
}

TEST_F(MemoryTest, RefusesSizesThatMakeNoSense) {
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  EXPECT_EQ(cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(nullptr, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&memory, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc(&memory, size_t{1} << 60), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAllocPitch(&memory, &pitch, SIZE_MAX, 2, 4), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAllocPitch(&memory, &pitch, size_t{1} << 40, size_t{1} << 40, 4),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAllocPitch(&memory, &pitch, 16, 2, 5), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTest, PitchHoldsTheWidth) {
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  ASSERT_EQ(cuMemAllocPitch(&memory, &pitch, 1001, 7, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch, 1024u);
  size_t bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange(nullptr, &bytes, memory + 5), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 7 * 1024u);
}

TEST_F(MemoryTest, CountsWhatIsAllocated) {
  size_t total = 0;
  size_t free = 0;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 1 << 20), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
  EXPECT_LE(free + (1 << 20), total);
}

TEST_F(MemoryTest, APoolOfManagedMemoryGivesSuch) {
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocFromPoolAsync(&memory, 64, pool, nullptr), CUDA_SUCCESS);
  unsigned is_managed = 0;
  EXPECT_EQ(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory),
            CUDA_SUCCESS);
  EXPECT_EQ(is_managed, 1u);
  EXPECT_EQ(cuMemsetD32Async(memory, 7, 16, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(memory + 60), 7u);
  uint64_t used = 0;
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, 64u);
  EXPECT_EQ(cuMemFreeAsync(memory, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  // Memory that stays in one place has one.
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTest, HostMemoryIsReachedFromTheDevice) {
  void* host = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&host, 100, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
  CUdeviceptr device = 0;
  EXPECT_EQ(cuMemHostGetDevicePointer(&device, host, 0), CUDA_SUCCESS);
  EXPECT_EQ(device, reinterpret_cast<CUdeviceptr>(host));
  unsigned flags = 0;
  EXPECT_EQ(cuMemHostGetFlags(&flags, host), CUDA_SUCCESS);
  EXPECT_TRUE(flags & CU_MEMHOSTALLOC_PORTABLE);
  EXPECT_EQ(cuMemFree(device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(host), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTest, RegistersMemoryOfTheProgram) {
  std::vector<int> values(100);
  const size_t bytes = values.size() * sizeof(int);
  EXPECT_EQ(cuMemHostRegister(values.data(), bytes, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister(&values[50], 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuMemHostUnregister(&values[50]), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(cuMemHostUnregister(values.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(values.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(MemoryTest, PointersSayWhatTheyAre) {
  CUdeviceptr managed = 0;
  ASSERT_EQ(cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  unsigned type = 0;
  unsigned is_managed = 0;
  CUcontext owner = nullptr;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_CONTEXT};
  void* data[] = {&type, &is_managed, &owner};
  EXPECT_EQ(cuPointerGetAttributes(3, attributes, data, managed + 10), CUDA_SUCCESS);
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(is_managed, 1u);
  EXPECT_EQ(owner, context_);

  int local = 0;
  const auto unknown = reinterpret_cast<CUdeviceptr>(&local);
  EXPECT_EQ(cuPointerGetAttributes(3, attributes, data, unknown), CUDA_SUCCESS);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(owner, nullptr);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTest, StreamOrderedMemoryIsFreedInItsTurn) {
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocAsync(&memory, 4000, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(memory, 7, 1000, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(memory, stream), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace sluice::hostcuda
