// Proves what driver calls the runtime's functions make, and how errors are kept, on a driver that
// only records.
#include <thread>

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include "hostcuda/cudart/fake_driver.hpp"

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, CUstream_st*);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*);
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t cudaMemcpy_ptds(void*, const void*, size_t, cudaMemcpyKind);
}

namespace sluice::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RuntimeCalls : public ::testing::Test {
 protected:
  // Each test starts after a reset, with a driver that has seen nothing and one registered image.
  void SetUp() override {
    fake_driver() = {};
    cudaDeviceReset();
    cudaGetLastError();
    fake_driver() = {};
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFunction(handle_, &kernel_, &kernel_, "kernel", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFunction(handle_, &absent_, &absent_, "absent", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterVar(handle_, &variable_, &variable_, "variable", 0, 16, 0, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  void TearDown() override { __cudaUnregisterFatBinary(handle_); }

  void** handle_ = nullptr;
  char wrapper_ = 0;
  char kernel_ = 0;
  char absent_ = 0;
  char variable_ = 0;
};

TEST_F(RuntimeCalls, NoDeviceIsAPeer) {
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST_F(RuntimeCalls, LoadsAnImageOnceAtItsFirstUse) {
  EXPECT_THAT(fake_driver().images, IsEmpty());
  void* arguments[] = {nullptr};
  EXPECT_EQ(cudaLaunchKernel(&kernel_, dim3(2), dim3(32), arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(&kernel_, dim3(2), dim3(32), arguments, 0, nullptr), cudaSuccess);
  EXPECT_THAT(fake_driver().images, ElementsAre(&wrapper_));
  EXPECT_EQ(fake_driver().count("cuLibraryGetKernel"), 1);
  EXPECT_EQ(fake_driver().count("cuLaunchKernel"), 2);
  EXPECT_EQ(fake_driver().count("cuDevicePrimaryCtxRetain"), 1);
}

TEST_F(RuntimeCalls, ForgetsAnUnregisteredImage) {
  __cudaUnregisterFatBinary(handle_);
  EXPECT_EQ(cudaLaunchKernel(&kernel_, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
  EXPECT_THAT(fake_driver().images, IsEmpty());
}

TEST_F(RuntimeCalls, HandsTheLaunchConfigurationOn) {
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, &kernel_), cudaSuccess);
  void* arguments[] = {nullptr};
  const auto stream = reinterpret_cast<cudaStream_t>(0x77);
  EXPECT_EQ(__cudaLaunchKernel(kernel, dim3(5, 6, 7), dim3(8, 9, 10), arguments, 11, stream),
            cudaSuccess);
  const FakeLaunch& launch = fake_driver().launches.at(0);
  EXPECT_EQ(launch.function, reinterpret_cast<CUfunction>(kernel));
  EXPECT_THAT(launch.grid, ElementsAre(5, 6, 7));
  EXPECT_THAT(launch.block, ElementsAre(8, 9, 10));
  EXPECT_EQ(launch.shared_bytes, 11u);
  EXPECT_EQ(launch.stream, stream);
  EXPECT_EQ(launch.arguments, arguments);
}

TEST_F(RuntimeCalls, NestsCallConfigurations) {
  const auto stream = reinterpret_cast<cudaStream_t>(0x77);
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(1), dim3(2), 3, stream), 0u);
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(4), dim3(5), 6, nullptr), 0u);
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t popped = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &popped), cudaSuccess);
  EXPECT_EQ(grid.x, 4u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &popped), cudaSuccess);
  EXPECT_EQ(grid.x, 1u);
  EXPECT_EQ(block.x, 2u);
  EXPECT_EQ(shared, 3u);
  EXPECT_EQ(popped, stream);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &popped),
            cudaErrorMissingConfiguration);
}

TEST_F(RuntimeCalls, ReportsAFailedImageAtEveryLaunch) {
  fake_driver().library_result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &kernel_), cudaErrorNoKernelImageForDevice);
  cudaGetLastError();
  EXPECT_EQ(__cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(cudaLaunchKernel(&kernel_, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(fake_driver().count("cuLibraryLoadData"), 1);
  EXPECT_THAT(fake_driver().launches, IsEmpty());
}

TEST_F(RuntimeCalls, CallsAKernelThatItsImageLacksAnInvalidFunction) {
  EXPECT_EQ(cudaLaunchKernel(&absent_, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
}

TEST_F(RuntimeCalls, TellsAWrongBlockFromAWrongValue) {
  fake_driver().launch_result = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(cudaLaunchKernel(&kernel_, dim3(1), dim3(32, 33), nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&kernel_, dim3(0), dim3(32), nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&kernel_, dim3(1), dim3(32), nullptr, 1u << 30, nullptr),
            cudaErrorInvalidValue);
}

TEST_F(RuntimeCalls, MeansThePerThreadStreamInPerThreadBuilds) {
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, &kernel_), cudaSuccess);
  EXPECT_EQ(__cudaLaunchKernel_ptsz(kernel, dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(fake_driver().launches.at(0).stream, CU_STREAM_PER_THREAD);
  fake_driver().calls.clear();
  char bytes[4] = {};
  EXPECT_EQ(cudaMemcpy_ptds(bytes, bytes, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_THAT(fake_driver().calls,
              ElementsAre("cuMemcpyHtoDAsync per thread", "cuStreamSynchronize per thread"));
}

TEST_F(RuntimeCalls, PicksTheCopyByItsKind) {
  char bytes[4] = {};
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  fake_driver().calls.clear();
  for (const cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                    cudaMemcpyDeviceToDevice, cudaMemcpyDefault}) {
    EXPECT_EQ(cudaMemcpy(bytes, bytes, 4, kind), cudaSuccess);
  }
  EXPECT_THAT(fake_driver().calls,
              ElementsAre("cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD", "cuMemcpy"));
  EXPECT_EQ(cudaMemcpy(bytes, bytes, 4, static_cast<cudaMemcpyKind>(9)),
            cudaErrorInvalidMemcpyDirection);
}

TEST_F(RuntimeCalls, AllocatesNothingForNoBytes) {
  void* pointer = &wrapper_;
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(fake_driver().count("cuMemAlloc"), 0);
  EXPECT_EQ(fake_driver().count("cuMemFree"), 0);
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaSuccess);
  EXPECT_EQ(pointer, reinterpret_cast<void*>(0x5000));
}

TEST_F(RuntimeCalls, KeepsCopiesToSymbolsInside) {
  char bytes[32] = {};
  EXPECT_EQ(cudaMemcpyToSymbol(&variable_, bytes, 16, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(&variable_, bytes, 16, 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&variable_, bytes, 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyToSymbol(&kernel_, bytes, 4, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol);
  size_t size = 0;
  EXPECT_EQ(cudaGetSymbolSize(&size, &variable_), cudaSuccess);
  EXPECT_EQ(size, 16u);
}

TEST_F(RuntimeCalls, KeepsAContextThatTheProgramMadeCurrent) {
  const auto own = reinterpret_cast<CUcontext>(0x9000);
  ASSERT_EQ(cuCtxSetCurrent(own), CUDA_SUCCESS);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  CUcontext current = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, own);
  EXPECT_EQ(fake_driver().count("cuDevicePrimaryCtxRetain"), 0);
}

TEST_F(RuntimeCalls, KeepsADevicePerThread) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  int device = -1;
  std::thread([&] { ASSERT_EQ(cudaGetDevice(&device), cudaSuccess); }).join();
  EXPECT_EQ(device, 0);
  ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(RuntimeCalls, KeepsTheLastErrorOfEachThreadUntilItIsRead) {
  cudaSetDevice(7);
  cudaFree(nullptr);
  cudaError_t elsewhere = cudaErrorUnknown;
  std::thread([&] { elsewhere = cudaPeekAtLastError(); }).join();
  EXPECT_EQ(elsewhere, cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(RuntimeCalls, KeepsAStickyErrorUntilTheDeviceIsReset) {
  fake_driver().synchronize_result = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  std::thread([] { EXPECT_EQ(cudaDeviceReset(), cudaSuccess); }).join();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(RuntimeCalls, RefusesWhatItLacks) {
  cudaIpcMemHandle_t handle;
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST(ErrorTexts, NameEveryError) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorUnknown), "cudaErrorUnknown");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

}  // namespace
}  // namespace sluice::test
