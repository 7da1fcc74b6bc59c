// The events of graphs' nodes, exchanged in the graph and in what is instantiated of it.
#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

class GraphEventTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    for (CUevent* event : {&first_, &second_, &start_})
      ASSERT_EQ(cuEventCreate(event, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(start_, stream_), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuGraphExecDestroy(exec_), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph_), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(other_), CUDA_SUCCESS);
    for (CUevent event : {first_, second_, start_})
      EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
    DriverTest::TearDown();
  }

  void run() {
    ASSERT_EQ(cuGraphLaunch(exec_, stream_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  }
  bool is_recorded(CUevent event) const {
    float milliseconds = -1;
    const CUresult result = cuEventElapsedTime(&milliseconds, start_, event);
    EXPECT_TRUE(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_HANDLE) << result;
    return result == CUDA_SUCCESS && milliseconds >= 0;
  }

  CUstream stream_ = nullptr;
  CUstream other_ = nullptr;
  CUevent first_ = nullptr;
  CUevent second_ = nullptr;
  CUevent start_ = nullptr;
  CUgraph graph_ = nullptr;
  CUgraphNode node_ = nullptr;
  CUgraphExec exec_ = nullptr;
};

TEST_F(GraphEventTest, ANodeRecordsTheEventThatItGotLast) {
  ASSERT_EQ(cuGraphAddEventRecordNode(&node_, graph_, nullptr, 0, first_), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphEventRecordNodeSetEvent(node_, second_), CUDA_SUCCESS);
  CUevent told = nullptr;
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(node_, &told), CUDA_SUCCESS);
  EXPECT_EQ(told, second_);
  ASSERT_EQ(cuGraphInstantiate(&exec_, graph_, 0), CUDA_SUCCESS);
  run();
  EXPECT_FALSE(is_recorded(first_));
  EXPECT_TRUE(is_recorded(second_));
  EXPECT_EQ(cuGraphExecEventRecordNodeSetEvent(exec_, node_, first_), CUDA_SUCCESS);
  run();
  EXPECT_TRUE(is_recorded(first_));
}

TEST_F(GraphEventTest, ALaunchWaitsForTheEventThatTheNodeGotLast) {
  ASSERT_EQ(cuGraphAddEventWaitNode(&node_, graph_, nullptr, 0, first_), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&exec_, graph_, 0), CUDA_SUCCESS);
  run();
  Gate gate;
  ASSERT_EQ(gate.enter(other_), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(second_, other_), CUDA_SUCCESS);
  run();
  EXPECT_EQ(cuGraphExecEventWaitNodeSetEvent(exec_, node_, second_), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec_, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
}

TEST_F(GraphEventTest, ALaunchComesAfterTheOneBeforeInAnotherStream) {
  ASSERT_EQ(cuGraphAddEmptyNode(&node_, graph_, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&exec_, graph_, 0), CUDA_SUCCESS);
  Gate gate;
  ASSERT_EQ(gate.enter(other_), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec_, other_), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec_, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream_), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
}

TEST_F(GraphEventTest, EventsGoToNodesOfTheirKind) {
  ASSERT_EQ(cuGraphAddEventWaitNode(&node_, graph_, nullptr, 0, first_), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&exec_, graph_, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphEventRecordNodeSetEvent(node_, second_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecEventRecordNodeSetEvent(exec_, node_, second_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphEventWaitNodeSetEvent(node_, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUgraphNodeParams any = {};
  any.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  any.eventWait.event = second_;
  EXPECT_EQ(cuGraphNodeSetParams(node_, &any), CUDA_SUCCESS);
  CUevent told = nullptr;
  EXPECT_EQ(cuGraphEventWaitNodeGetEvent(node_, &told), CUDA_SUCCESS);
  EXPECT_EQ(told, second_);
}

}  // namespace
}  // namespace sluice::hostcuda
