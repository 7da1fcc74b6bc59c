#include <future>
#include <numeric>
#include <vector>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

std::vector<int> counting(size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

using CopyTest = DriverTest;

TEST_F(CopyTest, GoesThereAndBack) {
  const std::vector<int> values = counting(1000);
  const CUdeviceptr first = device_array(values);
  const CUdeviceptr second = device_array(std::vector<int>(1000));
  EXPECT_EQ(cuMemcpyDtoD(second, first, 4000), CUDA_SUCCESS);
  EXPECT_EQ(host_array<int>(second, 1000), values);
  std::vector<int> back(1000);
  EXPECT_EQ(cuMemcpy(reinterpret_cast<CUdeviceptr>(back.data()), first, 4000), CUDA_SUCCESS);
  EXPECT_EQ(back, values);
}

TEST_F(CopyTest, RefusesRangesOutsideOfAllocations) {
  std::vector<char> host(2000);
  const CUdeviceptr device = device_array(std::vector<char>(1000));
  EXPECT_EQ(cuMemcpyHtoD(device, host.data(), 1001), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(device + 999, host.data(), 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(host.data(), device + 1, 1000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(host.data(), 0, 10), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(nullptr, device, 10), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(host.data()), host.data(), 10),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(device, host.data(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(device, host.data(), SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8(device, 1, 1001), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(device, 1, SIZE_MAX / 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(device + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CopyTest, PageableSourcesMayBeReusedAtOnce) {
  for (const size_t count : {100, 100000}) {
    const CUdeviceptr device = device_array(std::vector<int>(count));
    std::vector<int> source = counting(count);
    const std::vector<int> expected = source;
    EXPECT_EQ(cuMemcpyHtoDAsync(device, source.data(), count * 4, nullptr), CUDA_SUCCESS);
    std::fill(source.begin(), source.end(), -1);
    EXPECT_EQ(host_array<int>(device, count), expected);
  }
}

TEST_F(CopyTest, PageableDestinationsAreWrittenOnReturn) {
  const std::vector<int> values = counting(1000);
  const CUdeviceptr device = device_array(values);
  std::vector<int> back(1000);
  EXPECT_EQ(cuMemcpyDtoHAsync(back.data(), device, 4000, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(back, values);
}

// A blocking stream comes after the default stream's earlier work, though it had none of its own.
TEST_F(CopyTest, PageableCopiesComeAfterTheDefaultStream) {
  constexpr size_t bytes = 8 << 20;
  const CUdeviceptr device = device_array(std::vector<char>(bytes));
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  for (unsigned char i = 1; i <= 20; ++i) {
    ASSERT_EQ(cuMemsetD8Async(device, i, bytes, nullptr), CUDA_SUCCESS);
  }
  std::vector<char> back(bytes);
  EXPECT_EQ(cuMemcpyDtoHAsync(back.data(), device, bytes, stream), CUDA_SUCCESS);
  EXPECT_EQ(back, std::vector<char>(bytes, 20));
}

// The host waits for neither (CUDA's API synchronization behavior); for managed memory it does.
TEST_F(CopyTest, WithinDeviceMemoryReturnsBeforeItIsDone) {
  const std::vector<int> values = counting(1000);
  const CUdeviceptr from = device_array(values);
  const CUdeviceptr to = device_array(std::vector<int>(1000));
  const CUdeviceptr filled = device_array(std::vector<char>(64));
  std::promise<void> may_end;
  std::shared_future<void> end = may_end.get_future().share();
  const auto wait = [](void* future) { static_cast<std::shared_future<void>*>(future)->wait(); };
  ASSERT_EQ(cuLaunchHostFunc(nullptr, wait, &end), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoD(to, from, 4000), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy(to, from, 4000), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(filled, 7, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  may_end.set_value();
  EXPECT_EQ(host_array<int>(to, 1000), values);
  EXPECT_EQ(host_array<char>(filled, 64), std::vector<char>(64, 7));
}

TEST_F(CopyTest, OfManagedMemoryIsDoneOnReturn) {
  const std::vector<int> values = counting(1000);
  const CUdeviceptr from = device_array(values);
  CUdeviceptr managed = 0;
  ASSERT_EQ(cuMemAllocManaged(&managed, 4000, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  const auto* seen = reinterpret_cast<const int*>(managed);
  ASSERT_EQ(cuMemcpyDtoD(managed, from, 4000), CUDA_SUCCESS);
  EXPECT_EQ(std::vector<int>(seen, seen + 1000), values);
  ASSERT_EQ(cuMemsetD32(managed, 3, 1000), CUDA_SUCCESS);
  EXPECT_EQ(std::vector<int>(seen, seen + 1000), std::vector<int>(1000, 3));
  EXPECT_EQ(cuMemFree(managed), CUDA_SUCCESS);
}

TEST_F(CopyTest, FillsEveryElement) {
  const CUdeviceptr device = device_array(std::vector<char>(64, 0));
  EXPECT_EQ(cuMemsetD8(device, 0xab, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD16(device + 16, 0x1234, 8), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(device + 32, 0xdeadbeef, 4, nullptr), CUDA_SUCCESS);
  const std::vector<unsigned> words = host_array<unsigned>(device, 16);
  for (size_t i = 0; i < 16; ++i) {
    const unsigned expected = i / 4 == 1 ? 0x12341234u : i / 4 == 2 ? 0xdeadbeefu : 0xababababu;
    EXPECT_EQ(words[i], expected) << i;
  }
}

TEST_F(CopyTest, FillsRowsAndLeavesTheGaps) {
  const CUdeviceptr device = device_array(std::vector<char>(5 * 32, 1));
  EXPECT_EQ(cuMemsetD2D8(device, 32, 9, 20, 5), CUDA_SUCCESS);
  const std::vector<char> bytes = host_array<char>(device, 5 * 32);
  for (size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(bytes[i], i % 32 < 20 ? 9 : 1) << i;
  EXPECT_EQ(cuMemsetD2D8(device, 32, 9, 32, 6), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD2D8(device, 16, 9, 20, 2), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CopyTest, CopiesARectangle) {
  const std::vector<int> values = counting(100);
  const CUdeviceptr device = device_array(values);
  std::vector<int> out(12, -1);
  CUDA_MEMCPY2D box = {};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = device;
  box.srcPitch = 40;
  box.srcXInBytes = 8;
  box.srcY = 3;
  box.dstMemoryType = CU_MEMORYTYPE_HOST;
  box.dstHost = out.data();
  box.WidthInBytes = 16;
  box.Height = 3;
  EXPECT_EQ(cuMemcpy2D(&box), CUDA_SUCCESS);
  EXPECT_EQ(out, (std::vector<int>{32, 33, 34, 35, 42, 43, 44, 45, 52, 53, 54, 55}));
  box.Height = 8;
  EXPECT_EQ(cuMemcpy2D(&box), CUDA_ERROR_INVALID_VALUE);
  box.Height = 3;
  box.srcPitch = 20;
  EXPECT_EQ(cuMemcpy2D(&box), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CopyTest, CopiesABox) {
  const std::vector<int> values = counting(4 * 4 * 4);
  const CUdeviceptr device = device_array(std::vector<int>(64, -1));
  CUDA_MEMCPY3D box = {};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = values.data();
  box.srcPitch = 16;
  box.srcHeight = 4;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = device;
  box.dstPitch = 16;
  box.dstHeight = 4;
  box.dstXInBytes = 4;
  box.dstY = 1;
  box.dstZ = 2;
  box.WidthInBytes = 8;
  box.Height = 2;
  box.Depth = 2;
  EXPECT_EQ(cuMemcpy3D(&box), CUDA_SUCCESS);
  const std::vector<int> out = host_array<int>(device, 64);
  for (int z = 0; z < 4; ++z) {
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 4; ++x) {
        const bool inside = x >= 1 && x < 3 && y >= 1 && y < 3 && z >= 2;
        const int expected = inside ? (z - 2) * 16 + (y - 1) * 4 + x - 1 : -1;
        EXPECT_EQ(out[static_cast<size_t>(z * 16 + y * 4 + x)], expected);
      }
    }
  }
}

}  // namespace
}  // namespace sluice::hostcuda
