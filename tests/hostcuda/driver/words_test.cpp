// Words of memory that streams write and wait for, alone, in batches and in graphs.
#include <atomic>
#include <cstdint>
#include <vector>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

class WordsTest : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    void* words = nullptr;
    ASSERT_EQ(cuMemHostAlloc(&words, 64, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
    words_ = static_cast<uint64_t*>(words);
    std::fill_n(words_, 8, 0);
    ASSERT_EQ(cuMemHostGetDevicePointer(&device_words_, words, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuStreamDestroy(stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(other_), CUDA_SUCCESS);
    KernelTest::TearDown();
  }

  // Words are counted in 64 bits, whichever half of them is used.
  CUdeviceptr at(size_t i) const { return device_words_ + 8 * i; }
  std::atomic_ref<uint64_t> word(size_t i) { return std::atomic_ref(words_[i]); }
  std::atomic_ref<uint32_t> half(size_t i) {
    return std::atomic_ref(*reinterpret_cast<uint32_t*>(&words_[i]));
  }

  CUstreamBatchMemOpParams write(size_t i, uint64_t value) const {
    CUstreamBatchMemOpParams operation = {};
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    operation.writeValue.address = at(i);
    operation.writeValue.value64 = value;
    return operation;
  }
  CUstreamBatchMemOpParams wait(size_t i, uint64_t value) const {
    CUstreamBatchMemOpParams operation = {};
    operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    operation.waitValue.address = at(i);
    operation.waitValue.value64 = value;
    operation.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    return operation;
  }

  CUstream stream_ = nullptr;
  CUstream other_ = nullptr;
  uint64_t* words_ = nullptr;
  CUdeviceptr device_words_ = 0;
};

TEST_F(WordsTest, AWaitEndsWhenItsConditionHolds) {
  const struct {
    unsigned flags;
    uint32_t value;
    uint32_t before;
    uint32_t after;
  } cases[] = {
      {CU_STREAM_WAIT_VALUE_GEQ, 3, 2, 7},
      // The comparison goes round: 5 is 21 after 0xfffffff0, and 0xfffffff0 is before 2.
      {CU_STREAM_WAIT_VALUE_GEQ, 0xfffffff0, 0xffffffef, 5},
      {CU_STREAM_WAIT_VALUE_GEQ, 2, 0xfffffff0, 2},
      {CU_STREAM_WAIT_VALUE_EQ, 3, 7, 3},
      {CU_STREAM_WAIT_VALUE_AND, 6, 9, 4},
      {CU_STREAM_WAIT_VALUE_NOR, 0xffff0000, 0x0000ffff, 0x00ff00ff},
  };
  for (const auto& row : cases) {
    for (bool is_wide : {false, true}) {
      // In 64 bits, the same in the upper half.
      const auto widened = [&](uint32_t value) {
        const bool ones = row.flags == CU_STREAM_WAIT_VALUE_NOR;
        return uint64_t{value} << 32 | (ones ? 0xffffffff : 0);
      };
      word(0) = is_wide ? widened(row.before) : row.before;
      word(1) = 0;
      if (is_wide) {
        ASSERT_EQ(cuStreamWaitValue64(stream_, at(0), widened(row.value), row.flags), CUDA_SUCCESS);
      } else {
        ASSERT_EQ(cuStreamWaitValue32(stream_, at(0), row.value, row.flags), CUDA_SUCCESS);
      }
      ASSERT_EQ(cuStreamWriteValue32(stream_, at(1), 1, 0), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamQuery(stream_), CUDA_ERROR_NOT_READY);
      EXPECT_EQ(word(1).load(), 0u);
      if (is_wide) {
        word(0) = widened(row.after);
      } else {
        half(0) = row.after;
      }
      EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
      EXPECT_EQ(word(1).load(), 1u) << row.flags << " " << row.value;
    }
  }
}

TEST_F(WordsTest, WritesTouchTheirWordAlone) {
  words_[0] = words_[1] = ~uint64_t{0};
  ASSERT_EQ(cuStreamWriteValue32(stream_, at(0) + 4, 5, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWriteValue64(stream_, at(1), 6, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(words_[0], 0x5ffffffffu);
  EXPECT_EQ(words_[1], 6u);
}

TEST_F(WordsTest, StreamsHandWorkToEachOther) {
  const int count = 1000;
  const CUdeviceptr memory = device_array(std::vector<int>(count, 0));
  for (uint32_t round = 1; round <= 5; ++round) {
    ASSERT_EQ(cuStreamWaitValue32(other_, at(0), round, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32Async(memory, 2 * round, count, other_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWriteValue32(other_, at(1), round, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32Async(memory, 7, count, stream_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWriteValue32(stream_, at(0), round, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitValue32(stream_, at(1), round, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
    EXPECT_EQ(host_array<int>(memory, count), std::vector<int>(count, 2 * round));
  }
}

TEST_F(WordsTest, AKernelsStoreEndsAWait) {
  CUdeviceptr counter = 0;
  ASSERT_EQ(cuModuleGetGlobal(&counter, nullptr, module_, "counter"), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitValue32(stream_, counter, 12, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(launch(function("add_to_counter"), 1, 1, other_, 5), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
}

TEST_F(WordsTest, WaitingStreamsDoNotHoldOthers) {
  std::vector<CUstream> waiting(12);
  for (CUstream& stream : waiting) {
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitValue64(stream, at(0), 1, 0), CUDA_SUCCESS);
  }
  ASSERT_EQ(cuStreamWriteValue64(other_, at(1), 9, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(other_), CUDA_SUCCESS);
  EXPECT_EQ(word(1).load(), 9u);
  ASSERT_EQ(cuStreamWriteValue64(other_, at(0), 1, 0), CUDA_SUCCESS);
  for (CUstream stream : waiting) {
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  }
}

TEST_F(WordsTest, ABatchIsDoneInItsOrder) {
  CUstreamBatchMemOpParams barrier = {};
  barrier.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
  CUstreamBatchMemOpParams operations[] = {write(0, 1), barrier, wait(1, 2), write(2, 3)};
  ASSERT_EQ(cuStreamBatchMemOp(stream_, 4, operations, 0), CUDA_SUCCESS);
  // The array may change as soon as the call is back.
  operations[3] = write(2, 4);
  ASSERT_EQ(cuStreamWaitValue64(other_, at(0), 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(other_), CUDA_SUCCESS);
  EXPECT_EQ(word(2).load(), 0u);
  word(1) = 2;
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(word(2).load(), 3u);
}

TEST_F(WordsTest, RefusesWhatIsNoWord) {
  EXPECT_EQ(cuStreamWriteValue32(stream_, at(0) + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWriteValue64(stream_, at(0) + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWriteValue32(stream_, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitValue64(stream_, at(8), 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitValue32(stream_, at(0), 1, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWriteValue32(stream_, at(0), 1, 2), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr managed = 0;
  ASSERT_EQ(cuMemAllocManaged(&managed, 8, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitValue32(stream_, managed, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(managed), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitValue32(stream_, at(0), 0, CU_STREAM_WAIT_VALUE_FLUSH),
            CUDA_ERROR_NOT_SUPPORTED);
  CUstreamBatchMemOpParams flush = {};
  flush.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
  EXPECT_EQ(cuStreamBatchMemOp(stream_, 1, &flush, 0), CUDA_ERROR_NOT_SUPPORTED);
  // One that is wrong lets none be done.
  std::vector<CUstreamBatchMemOpParams> batch(256, write(0, 1));
  EXPECT_EQ(cuStreamBatchMemOp(stream_, 256, batch.data(), 0), CUDA_ERROR_INVALID_VALUE);
  batch[254].writeValue.address += 1;
  EXPECT_EQ(cuStreamBatchMemOp(stream_, 255, batch.data(), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamBatchMemOp(stream_, 1, batch.data(), 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(word(0).load(), 0u);
}

TEST_F(WordsTest, TheAttributesSayWhatThereIs) {
  for (const CUdevice_attribute attribute : {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
                                             CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR}) {
    int value = 0;
    EXPECT_EQ(cuDeviceGetAttribute(&value, attribute, 0), CUDA_SUCCESS);
    EXPECT_EQ(value, 1);
  }
  int flushes = 1;
  EXPECT_EQ(cuDeviceGetAttribute(&flushes, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(flushes, 0);
}

TEST_F(WordsTest, ACapturedStreamMakesNodes) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitValue64(stream_, at(0), 1, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWriteValue64(stream_, at(1), 2, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS);
  EXPECT_EQ(word(1).load(), 0u);
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_ERROR_NOT_READY);
  word(0) = 1;
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(word(1).load(), 2u);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(WordsTest, NodesTellAndExchangeTheirOperations) {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUstreamBatchMemOpParams operations[] = {write(0, 1), write(1, 2)};
  CUDA_BATCH_MEM_OP_NODE_PARAMS parameters = {context_, 2, operations, 0};
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &parameters), CUDA_SUCCESS);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  EXPECT_EQ(cuGraphNodeGetType(node, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  const auto run = [&] {
    words_[0] = words_[1] = 0;
    EXPECT_EQ(cuGraphLaunch(exec, stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
    return std::vector<uint64_t>{words_[0], words_[1]};
  };
  EXPECT_EQ(run(), (std::vector<uint64_t>{1, 2}));

  operations[0] = write(0, 5);
  parameters.count = 1;
  EXPECT_EQ(cuGraphBatchMemOpNodeSetParams(node, &parameters), CUDA_SUCCESS);
  CUDA_BATCH_MEM_OP_NODE_PARAMS told = {};
  EXPECT_EQ(cuGraphBatchMemOpNodeGetParams(node, &told), CUDA_SUCCESS);
  ASSERT_EQ(told.count, 1u);
  EXPECT_EQ(told.paramArray[0].writeValue.value64, 5u);
  EXPECT_EQ(run(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(cuGraphExecBatchMemOpNodeSetParams(exec, node, &parameters), CUDA_SUCCESS);
  EXPECT_EQ(run(), (std::vector<uint64_t>{5, 0}));

  CUgraphNodeParams any = {};
  any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  operations[0] = write(1, 8);
  any.memOp.count = 1;
  any.memOp.paramArray = operations;
  EXPECT_EQ(cuGraphExecNodeSetParams(exec, node, &any), CUDA_SUCCESS);
  EXPECT_EQ(run(), (std::vector<uint64_t>{0, 8}));
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

}  // namespace
}  // namespace sluice::hostcuda
