// User objects live as long as a reference to them does, wherever it is held.
#include <atomic>
#include <climits>
#include <memory>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

// Thing is what a program ties to a graph.
class Thing {
 public:
  CUuserObject object(unsigned count = 1) {
    // The driver's thread may still be in the function when the test goes on.
    auto* data = new std::shared_ptr<std::atomic<int>>(ended_);
    CUuserObject made = nullptr;
    EXPECT_EQ(
        cuUserObjectCreate(&made, data, &Thing::end, count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
        CUDA_SUCCESS);
    return made;
  }
  // The object is destroyed on a thread of the driver's own, some time after its last reference.
  void wait_for_end() {
    ended_->wait(0);
    EXPECT_EQ(ended_->load(), 1);
  }
  bool has_ended() const { return ended_->load() != 0; }

 private:
  static void end(void* data) {
    const std::unique_ptr<std::shared_ptr<std::atomic<int>>> ended(
        static_cast<std::shared_ptr<std::atomic<int>>*>(data));
    (*ended)->fetch_add(1);
    (*ended)->notify_all();
  }
  const std::shared_ptr<std::atomic<int>> ended_ = std::make_shared<std::atomic<int>>(0);
};

class UserObjectTest : public DriverTest {
 protected:
  CUgraph graph_with(CUuserObject object) {
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
    return graph;
  }
  CUgraphExec instance_of(CUgraph graph) {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    return exec;
  }
};

TEST_F(UserObjectTest, EndsWithItsLastReference) {
  Thing thing;
  CUuserObject object = thing.object(2);
  EXPECT_EQ(cuUserObjectRelease(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRetain(object, 3), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRelease(object, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuUserObjectRelease(object, 3), CUDA_SUCCESS);
  EXPECT_FALSE(thing.has_ended());
  EXPECT_EQ(cuUserObjectRelease(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRetain(object, 1), CUDA_ERROR_INVALID_VALUE);
  thing.wait_for_end();
}

TEST_F(UserObjectTest, AGraphKeepsIt) {
  Thing thing;
  CUuserObject object = thing.object();
  CUgraph graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphRetainUserObject(graph, object, 2, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRelease(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
  EXPECT_FALSE(thing.has_ended());
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
  thing.wait_for_end();
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(UserObjectTest, SoDoesWhateverIsMadeOfTheGraph) {
  Thing thing;
  CUgraph graph = graph_with(thing.object());
  CUgraph clone = nullptr;
  CUgraph parent = nullptr;
  CUgraphNode child = nullptr;
  ASSERT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphCreate(&parent, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  CUgraphExec of_clone = instance_of(clone);
  EXPECT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(of_clone), CUDA_SUCCESS);
  CUgraphExec of_parent = instance_of(parent);
  EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
  EXPECT_FALSE(thing.has_ended());
  EXPECT_EQ(cuGraphExecDestroy(of_parent), CUDA_SUCCESS);
  thing.wait_for_end();
}

TEST_F(UserObjectTest, ALaunchKeepsItUntilItIsDone) {
  Thing thing;
  CUgraph graph = graph_with(thing.object());
  CUgraphExec exec = instance_of(graph);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  Gate gate;
  ASSERT_EQ(gate.enter(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_FALSE(thing.has_ended());
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  thing.wait_for_end();
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(UserObjectTest, AnUpdateExchangesReferences) {
  Thing first;
  Thing second;
  CUgraph graph = graph_with(first.object());
  CUgraph other = graph_with(second.object());
  CUgraphExec exec = instance_of(graph);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo information = {};
  ASSERT_EQ(cuGraphExecUpdate(exec, other, &information), CUDA_SUCCESS);
  first.wait_for_end();
  EXPECT_EQ(cuGraphDestroy(other), CUDA_SUCCESS);
  EXPECT_FALSE(second.has_ended());
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  second.wait_for_end();
}

TEST_F(UserObjectTest, RefusesWhatIsNotAsItShouldBe) {
  Thing thing;
  CUuserObject object = nullptr;
  const CUhostFn destroy = [](void*) {};
  EXPECT_EQ(cuUserObjectCreate(&object, &thing, destroy, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuUserObjectCreate(&object, &thing, nullptr, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuUserObjectCreate(&object, &thing, destroy, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuUserObjectCreate(nullptr, &thing, destroy, 1, 1), CUDA_ERROR_INVALID_VALUE);
  object = thing.object();
  EXPECT_EQ(cuUserObjectRetain(object, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuUserObjectRetain(object, unsigned{INT_MAX} + 1), CUDA_ERROR_INVALID_VALUE);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphRetainUserObject(graph, object, 1, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphRetainUserObject(nullptr, object, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRelease(object, 1), CUDA_SUCCESS);
  thing.wait_for_end();
}

}  // namespace
}  // namespace sluice::hostcuda
