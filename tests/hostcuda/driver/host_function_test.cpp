#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "driver_fixture.hpp"
#include "hostcuda/block_abi.h"

namespace sluice::hostcuda {
namespace {

void call(void* body) {
  (*static_cast<std::function<void()>*>(body))();
}

class HostFunctionTest : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&stream_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&log_, 1000 * sizeof(int)), CUDA_SUCCESS);
    length_ = device_array(std::vector<int>{0});
    append_ = function("append");
  }

  CUresult append(int number) { return launch(append_, 1, 1, stream_, log_, length_, number); }

  std::vector<int> log() {
    EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
    return host_array<int>(log_, static_cast<size_t>(host_array<int>(length_, 1)[0]));
  }

  CUstream stream_ = nullptr;
  CUdeviceptr log_ = 0;
  CUdeviceptr length_ = 0;
  CUfunction append_ = nullptr;
};

TEST_F(HostFunctionTest, RunsInTheOrderOfTheStream) {
  int seen_before = -1;
  std::function<void()> look = [&] { seen_before = *reinterpret_cast<int*>(length_); };
  EXPECT_EQ(append(1), CUDA_SUCCESS);
  EXPECT_EQ(append(2), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(stream_, call, &look), CUDA_SUCCESS);
  EXPECT_EQ(append(3), CUDA_SUCCESS);
  EXPECT_EQ(log(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(seen_before, 2);
}

TEST_F(HostFunctionTest, MayLaunchKernelsAndHostFunctions) {
  std::atomic<bool> all_done{false};
  std::function<void()> last = [&] { all_done = true; };
  std::atomic<CUresult> result{CUDA_ERROR_UNKNOWN};
  std::function<void()> more = [&] {
    CUresult worst = CUDA_SUCCESS;
    for (int i = 10; i < 20; ++i) {
      if (const CUresult launched = append(i); launched != CUDA_SUCCESS) worst = launched;
    }
    const CUresult submitted = cuLaunchHostFunc(stream_, call, &last);
    result = worst == CUDA_SUCCESS ? submitted : worst;
  };
  EXPECT_EQ(append(1), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(stream_, call, &more), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(log(), (std::vector<int>{1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
  EXPECT_EQ(result.load(), CUDA_SUCCESS);
  EXPECT_TRUE(all_done.load());
}

TEST_F(HostFunctionTest, WaitingInsideIsRefusedAndDoesNotHang) {
  std::atomic<CUresult> result{CUDA_SUCCESS};
  std::atomic<CUresult> freed{CUDA_ERROR_UNKNOWN};
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  std::function<void()> wait = [&] {
    result = cuStreamSynchronize(stream_);
    freed = cuMemFree(memory);
  };
  EXPECT_EQ(cuLaunchHostFunc(stream_, call, &wait), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(result.load(), CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(freed.load(), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(HostFunctionTest, CallbacksGetTheirStreamAndStatus) {
  struct Seen {
    CUstream stream = nullptr;
    CUresult status = CUDA_ERROR_UNKNOWN;
  } seen;
  const CUstreamCallback callback = [](CUstream stream, CUresult status, void* data) {
    *static_cast<Seen*>(data) = {stream, status};
  };
  EXPECT_EQ(cuStreamAddCallback(stream_, callback, &seen, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(seen.stream, stream_);
  EXPECT_EQ(seen.status, CUDA_SUCCESS);
}

TEST_F(HostFunctionTest, EveryOneOfManyRuns) {
  std::atomic<int> count{0};
  std::function<void()> increment = [&] { ++count; };
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(cuLaunchHostFunc(stream_, call, &increment), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(count.load(), 1000);
}

const SluiceHostDeviceTable* private_table() {
  const unsigned char uuid[16] = SLUICE_HOST_DEVICE_TABLE_UUID;
  CUuuid id;
  std::copy(uuid, uuid + 16, id.bytes);
  const void* found = nullptr;
  EXPECT_EQ(cuGetExportTable(&found, &id), CUDA_SUCCESS);
  return static_cast<const SluiceHostDeviceTable*>(found);
}

TEST_F(HostFunctionTest, WhatRunsBlocksRunsInTheOrderOfItsStream) {
  const SluiceHostDeviceTable* table = private_table();
  std::vector<int> seen;
  std::function<void()> look = [&] { seen.push_back(*reinterpret_cast<int*>(length_)); };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(append(i), CUDA_SUCCESS);
    EXPECT_EQ(table->run_in_order(stream_, call, &look), CUDA_SUCCESS);
  }
  EXPECT_EQ(log(), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(table->run_in_order(stream_, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(table->run_in_order(&seen, call, &look), CUDA_ERROR_INVALID_HANDLE);
}

// A window that ran as a function of the program would start a thread for each stream.
TEST_F(HostFunctionTest, WhatRunsBlocksTakesAProcessorOfTheDevice) {
  const SluiceHostDeviceTable* table = private_table();
  int processors = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0),
            CUDA_SUCCESS);
  const int most = std::max(2, processors);
  std::atomic<int> inside{0};
  std::atomic<int> greatest{0};
  std::function<void()> enter = [&] {
    const int now = ++inside;
    for (int known = greatest; known < now && !greatest.compare_exchange_weak(known, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --inside;
  };
  std::vector<CUstream> streams(static_cast<size_t>(4 * most));
  for (CUstream& stream : streams) {
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    EXPECT_EQ(table->run_in_order(stream, call, &enter), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_GE(greatest.load(), 1);
  EXPECT_LE(greatest.load(), most);
  for (CUstream stream : streams)
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

// The shim asks at any time: cuStreamQuery would end a capture that has begun by then.
TEST_F(HostFunctionTest, WhetherAStreamIsBusyChangesNothing) {
  const SluiceHostDeviceTable* table = private_table();
  std::atomic<bool> may_end{false};
  std::function<void()> stay = [&] {
    while (!may_end)
      std::this_thread::yield();
  };
  EXPECT_EQ(table->is_busy(stream_), 0);
  EXPECT_EQ(cuLaunchHostFunc(stream_, call, &stay), CUDA_SUCCESS);
  EXPECT_NE(table->is_busy(stream_), 0);
  ASSERT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_NE(table->is_busy(stream_), 0);
  EXPECT_EQ(append(1), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  may_end = true;
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(table->is_busy(stream_), 0);
  EXPECT_EQ(table->is_busy(&may_end), 0);
}

}  // namespace
}  // namespace sluice::hostcuda
