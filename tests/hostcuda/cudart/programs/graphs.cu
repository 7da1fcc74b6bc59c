// Graphs: built by hand and captured, updated, cloned, with memory of their own.
#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "check.hpp"

constexpr int n = 1000;

__global__ void add(int* values, int amount) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += amount;
}

__global__ void multiply(int* values, const int* factors) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= factors[i];
}

__global__ void fill(int* values, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = value;
}

int* device_values() {
  int* values = nullptr;
  CHECK(cudaMalloc(&values, n * sizeof(int)));
  CHECK(cudaMemset(values, 0, n * sizeof(int)));
  return values;
}

bool all_are(const int* device, int value) {
  std::vector<int> host(n);
  CHECK(cudaMemcpy(host.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int have : host) {
    if (have != value) return false;
  }
  return true;
}

cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

void launch(cudaGraphExec_t exec, cudaStream_t stream) {
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
}

cudaKernelNodeParams launch_of(void* kernel, void** arguments) {
  cudaKernelNodeParams parameters = {};
  parameters.func = kernel;
  parameters.gridDim = dim3((n + 127) / 128);
  parameters.blockDim = dim3(128);
  parameters.kernelParams = arguments;
  return parameters;
}

// memset -> add -> memcpy -> host function, then the same with another amount.
void check_built_by_hand(cudaStream_t stream) {
  int* values = device_values();
  std::vector<int> host(n, -1);
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t cleared, added, copied, told;
  cudaMemsetParams clear = {};
  clear.dst = values;
  clear.elementSize = 4;
  clear.width = n;
  clear.height = 1;
  clear.value = 5;
  CHECK(cudaGraphAddMemsetNode(&cleared, graph, nullptr, 0, &clear));
  int amount = 2;
  void* arguments[] = {&values, &amount};
  cudaKernelNodeParams kernel = launch_of(reinterpret_cast<void*>(add), arguments);
  CHECK(cudaGraphAddKernelNode(&added, graph, &cleared, 1, &kernel));
  CHECK(cudaGraphAddMemcpyNode1D(&copied, graph, &added, 1, host.data(), values, n * sizeof(int),
                                 cudaMemcpyDeviceToHost));
  int seen = 0;
  cudaHostNodeParams tell = {};
  tell.fn = [](void* data) { ++*static_cast<int*>(data); };
  tell.userData = &seen;
  CHECK(cudaGraphAddHostNode(&told, graph, &copied, 1, &tell));

  size_t count = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 4);
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &count));
  EXPECT(count == 1);
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(copied, &type));
  EXPECT(type == cudaGraphNodeTypeMemcpy);

  cudaGraphExec_t exec = instantiate(graph);
  amount = 100;  // the node has its own copy of the argument
  for (int round = 1; round <= 3; ++round) {
    launch(exec, stream);
    EXPECT(host[0] == 7 && host[n - 1] == 7 && seen == round);
  }
  CHECK(cudaGraphExecKernelNodeSetParams(exec, added, &kernel));
  launch(exec, stream);
  EXPECT(host[0] == 105);

  cudaKernelNodeParams read = {};
  CHECK(cudaGraphKernelNodeGetParams(added, &read));
  EXPECT(read.blockDim.x == 128 && *static_cast<int*>(read.kernelParams[1]) == 2);

  cudaGraph_t clone = nullptr;
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphDestroy(graph));
  cudaGraphExec_t of_clone = instantiate(clone);
  launch(of_clone, stream);
  EXPECT(host[0] == 7);

  cudaGraphExecUpdateResultInfo information;
  cudaGraph_t other = nullptr;
  CHECK(cudaGraphCreate(&other, 0));
  EXPECT(cudaGraphExecUpdate(exec, other, &information) == cudaErrorGraphExecUpdateFailure);
  EXPECT(information.result == cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT(cudaGetLastError() == cudaErrorGraphExecUpdateFailure);
  CHECK(cudaGraphExecUpdate(exec, clone, &information));
  launch(exec, stream);
  EXPECT(host[0] == 7);

  cudaGraph_t parent = nullptr;
  cudaGraphNode_t child;
  CHECK(cudaGraphCreate(&parent, 0));
  CHECK(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, clone));
  const int before = seen;
  launch(instantiate(parent), stream);
  EXPECT(seen == before + 1);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(clone));
}

// Two streams: the second forks off by an event and joins by another.
void check_captured(cudaStream_t stream) {
  int* left = device_values();
  int* right = device_values();
  cudaStream_t other;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  const int blocks = (n + 127) / 128;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  fill<<<blocks, 128, 0, stream>>>(left, 3);
  CHECK(cudaEventRecord(fork, stream));
  CHECK(cudaStreamWaitEvent(other, fork, 0));
  fill<<<blocks, 128, 0, other>>>(right, 7);
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(other, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  CHECK(cudaEventRecord(join, other));
  add<<<blocks, 128, 0, stream>>>(left, 1);
  CHECK(cudaStreamWaitEvent(stream, join, 0));
  multiply<<<blocks, 128, 0, stream>>>(left, right);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaStreamIsCapturing(other, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  EXPECT(all_are(left, 0) && all_are(right, 0));  // nothing has run

  size_t count = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 4);
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  EXPECT(count == 4);
  launch(instantiate(graph), stream);
  EXPECT(all_are(left, 28));

  // What is not joined is an error, and the stream is free again.
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  CHECK(cudaEventRecord(fork, stream));
  CHECK(cudaStreamWaitEvent(other, fork, 0));
  fill<<<blocks, 128, 0, other>>>(right, 8);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
  EXPECT(cudaGetLastError() == cudaErrorStreamCaptureUnjoined);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  EXPECT(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
  fill<<<blocks, 128, 0, stream>>>(left, 9);
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(all_are(left, 9));
  EXPECT(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) ==
         cudaErrorStreamCaptureUnsupported);
  cudaGetLastError();
}

void check_memory_of_graphs(cudaStream_t stream) {
  std::vector<int> host(n);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  int* values = nullptr;
  CHECK(cudaMallocAsync(&values, n * sizeof(int), stream));
  fill<<<(n + 127) / 128, 128, 0, stream>>>(values, 11);
  CHECK(cudaMemcpyAsync(host.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(values, stream));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = instantiate(graph);
  launch(exec, stream);
  EXPECT(host[0] == 11 && host[n - 1] == 11);
  size_t used = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT(used == n * sizeof(int));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
}

// Memory that the graph does not free outlives the graph, until the program frees it.
void check_memory_that_leaves_its_graph(cudaStream_t stream) {
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  int* values = nullptr;
  CHECK(cudaMallocAsync(&values, n * sizeof(int), stream));
  fill<<<(n + 127) / 128, 128, 0, stream>>>(values, 12);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = instantiate(graph);
  CHECK(cudaGraphDestroy(graph));
  launch(exec, stream);
  EXPECT(all_are(values, 12));
  CHECK(cudaFree(values));
  launch(exec, stream);
  CHECK(cudaGraphExecDestroy(exec));
  EXPECT(all_are(values, 12));
  CHECK(cudaFreeAsync(values, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(cudaFree(values) == cudaErrorInvalidValue);
  cudaGetLastError();
}

void check_pools(cudaStream_t stream) {
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  uint64_t threshold = 1 << 20;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT(threshold == 1 << 20);
  int* values = nullptr;
  CHECK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&values), n * sizeof(int), pool, stream));
  fill<<<(n + 127) / 128, 128, 0, stream>>>(values, 4);
  uint64_t used = 0;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == n * sizeof(int));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(all_are(values, 4));
  CHECK(cudaFreeAsync(values, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  CHECK(cudaMemPoolDestroy(pool));
}

// A graph's object ends with the last of what was made of the graph.
void check_user_objects(cudaStream_t stream) {
  static std::atomic<bool> has_ended{false};
  cudaUserObject_t object = nullptr;
  cudaGraph_t graph = nullptr;
  CHECK(cudaUserObjectCreate(
      &object, &has_ended, [](void* ended) { *static_cast<std::atomic<bool>*>(ended) = true; }, 1,
      cudaUserObjectNoDestructorSync));
  CHECK(cudaUserObjectRetain(object));
  CHECK(cudaUserObjectRelease(object));
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  CHECK(cudaGraphRetainUserObject(graph, object));
  CHECK(cudaGraphReleaseUserObject(graph, object));
  cudaGraphExec_t exec = instantiate(graph);
  CHECK(cudaGraphDestroy(graph));
  launch(exec, stream);
  EXPECT(!has_ended);
  CHECK(cudaGraphExecDestroy(exec));
  while (!has_ended)
    std::this_thread::yield();
}

void check_exchanged_events(cudaStream_t stream) {
  cudaEvent_t events[3];
  for (cudaEvent_t& event : events)
    CHECK(cudaEventCreate(&event));
  CHECK(cudaEventRecord(events[0], stream));
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t record = nullptr;
  cudaGraphNode_t wait = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, events[1]));
  CHECK(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, events[1]));
  CHECK(cudaGraphEventWaitNodeSetEvent(wait, events[0]));
  CHECK(cudaGraphEventRecordNodeSetEvent(record, events[0]));
  cudaGraphExec_t exec = instantiate(graph);
  CHECK(cudaGraphExecEventRecordNodeSetEvent(exec, record, events[2]));
  CHECK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, events[1]));
  launch(exec, stream);
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, events[0], events[2]));
  EXPECT(milliseconds >= 0);
  EXPECT(cudaEventElapsedTime(&milliseconds, events[0], events[1]) ==
         cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  check_built_by_hand(stream);
  check_captured(stream);
  check_memory_of_graphs(stream);
  check_memory_that_leaves_its_graph(stream);
  check_pools(stream);
  check_user_objects(stream);
  check_exchanged_events(stream);
  std::printf("ok\n");
  return 0;
}
