#include <vector>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

class StreamTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, -1), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&start_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&end_, 0), CUDA_SUCCESS);
  }

  CUstream stream_ = nullptr;
  CUevent start_ = nullptr;
  CUevent end_ = nullptr;
};

TEST_F(StreamTest, KnowsItsProperties) {
  unsigned flags = 0;
  int priority = 0;
  CUcontext context = nullptr;
  EXPECT_EQ(cuStreamGetFlags(stream_, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(cuStreamGetPriority(stream_, &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, -1);
  EXPECT_EQ(cuStreamGetCtx(stream_, &context), CUDA_SUCCESS);
  EXPECT_EQ(context, context_);
}

TEST_F(StreamTest, QueriesWhileAndAfterWork) {
  Gate gate;
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_SUCCESS);
  ASSERT_EQ(gate.enter(stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(end_, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventQuery(end_), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(end_), CUDA_SUCCESS);
}

TEST_F(StreamTest, AnotherStreamWaitsForAnEvent) {
  CUstream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, 0), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 4), CUDA_SUCCESS);
  Gate gate;
  ASSERT_EQ(gate.enter(stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(memory, 1, 1, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(end_, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(other, end_, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuMemsetD32Async(memory, 2, 1, other), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(host_array<int>(memory, 1)[0], 2);
}

TEST_F(StreamTest, AHeldStreamDoesNotHoldOthers) {
  CUstream other = nullptr;
  ASSERT_EQ(cuStreamCreate(&other, 0), CUDA_SUCCESS);
  Gate gate;
  ASSERT_EQ(gate.enter(stream_), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(memory, 3, 1, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(host_array<int>(memory, 1)[0], 3);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
}

TEST_F(StreamTest, TheLegacyStreamWaitsForBlockingStreamsAndAThreadsOwnDoesNot) {
  CUstream blocking = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, 0), CUDA_SUCCESS);
  Gate gate;
  ASSERT_EQ(gate.enter(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(blocking), CUDA_SUCCESS);
}

TEST_F(StreamTest, ADestroyedStreamEndsItsWork) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(memory, 5, 1, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream_), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_ERROR_INVALID_HANDLE);
  // No copy of a default stream waits for a non-blocking stream; the context's end of work does.
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(host_array<int>(memory, 1)[0], 5);
}

TEST_F(StreamTest, EventsMeasureTime) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 16 << 20), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start_, end_), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(cuEventRecord(start_, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(memory, 1, 16 << 20, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(end_, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(end_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start_, end_), CUDA_SUCCESS);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, end_, start_), CUDA_SUCCESS);
  EXPECT_LT(milliseconds, 0);
}

// A time that a thread of the device takes would be late by what starting or waking it takes.
TEST_F(StreamTest, AnEventOfAnIdleStreamIsReachedAtOnce) {
  ASSERT_EQ(cuEventRecord(start_, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(start_), CUDA_SUCCESS);
}

TEST_F(StreamTest, EventsWithoutTimingGiveNone) {
  CUevent untimed = nullptr;
  ASSERT_EQ(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(untimed, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(end_, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, untimed, end_), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy(untimed), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(untimed), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StreamTest, WildHandlesAreErrors) {
  const auto wild = reinterpret_cast<CUstream>(0x1234);
  EXPECT_EQ(cuStreamSynchronize(wild), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(reinterpret_cast<CUevent>(wild), nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(end_, wild), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamWaitEvent(nullptr, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(CU_STREAM_LEGACY), CUDA_SUCCESS);
}

}  // namespace
}  // namespace sluice::hostcuda
