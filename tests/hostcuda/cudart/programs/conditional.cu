// Conditional nodes of graphs, and nodes added by one structure for all types.
#include <cuda_runtime.h>

#include <utility>
#include <vector>

#include "check.hpp"

__global__ void set(cudaGraphConditionalHandle handle, const unsigned* value) {
  cudaGraphSetConditional(handle, *value);
}

__global__ void count(unsigned* place) { ++*place; }

__global__ void halve(cudaGraphConditionalHandle handle, unsigned* value) {
  *value /= 2;
  cudaGraphSetConditional(handle, *value);
}

cudaGraphNodeParams kernel(void* function, void** arguments) {
  cudaGraphNodeParams node = {cudaGraphNodeTypeKernel};
  node.kernel.func = function;
  node.kernel.gridDim = node.kernel.blockDim = dim3(1);
  node.kernel.kernelParams = arguments;
  return node;
}

cudaGraphNodeParams conditional(cudaGraphConditionalHandle handle,
                                cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams node = {cudaGraphNodeTypeConditional};
  node.conditional.handle = handle;
  node.conditional.type = type;
  node.conditional.size = size;
  return node;
}

// run() launches with the value given and returns how often each place was counted.
std::vector<unsigned> run(cudaGraphExec_t exec, unsigned* device, unsigned value) {
  std::vector<unsigned> words = {value, 0, 0, 0, 0};
  CHECK(cudaMemcpy(device, words.data(), words.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(words.data(), device, words.size() * 4, cudaMemcpyDeviceToHost));
  return words;
}

using Words = std::vector<unsigned>;

// A graph that sets its condition, then chooses among `size` bodies that count.
void choose(unsigned* device, cudaGraphConditionalNodeType type, unsigned size,
            const std::vector<std::pair<unsigned, Words>>& cases) {
  cudaGraph_t graph = nullptr;
  cudaGraphConditionalHandle handle = {};
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph));
  void* arguments[] = {&handle, &device};
  cudaGraphNodeParams setting = kernel(reinterpret_cast<void*>(set), arguments);
  cudaGraphNode_t first = nullptr;
  cudaGraphNode_t choice = nullptr;
  CHECK(cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &setting));
  cudaGraphNodeParams node = conditional(handle, type, size);
  CHECK(cudaGraphAddNode(&choice, graph, &first, nullptr, 1, &node));
  for (unsigned i = 0; i < size; ++i) {
    unsigned* place = device + 1 + i;
    void* counting[] = {&place};
    cudaGraphNodeParams body = kernel(reinterpret_cast<void*>(count), counting);
    cudaGraphNode_t added = nullptr;
    CHECK(cudaGraphAddNode(&added, node.conditional.phGraph_out[i], nullptr, nullptr, 0, &body));
  }
  cudaGraphNodeType known = cudaGraphNodeTypeEmpty;
  CHECK(cudaGraphNodeGetType(choice, &known));
  EXPECT(known == cudaGraphNodeTypeConditional);
  cudaGraph_t copy = nullptr;
  EXPECT(cudaGraphClone(&copy, graph) == cudaErrorNotSupported);
  cudaGetLastError();
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  for (const auto& [value, expected] : cases)
    EXPECT(run(exec, device, value) == expected);
  CHECK(cudaGraphExecDestroy(exec));
}

// A loop whose body is captured, which begins by its default value in each launch.
void loop(unsigned* device) {
  cudaGraph_t graph = nullptr;
  cudaGraphConditionalHandle handle = {};
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams node = conditional(handle, cudaGraphCondTypeWhile, 1);
  cudaGraphNode_t added = nullptr;
  CHECK(cudaGraphAddNode(&added, graph, nullptr, nullptr, 0, &node));
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCaptureToGraph(stream, node.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
  count<<<1, 1, 0, stream>>>(device + 1);
  halve<<<1, 1, 0, stream>>>(handle, device);
  CHECK(cudaStreamEndCapture(stream, nullptr));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(run(exec, device, 1000) == (Words{0, 10, 0, 0, 0}));
  EXPECT(run(exec, device, 0) == (Words{0, 1, 0, 0, 0}));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
}

void increment(void* value) { ++*static_cast<int*>(value); }

// A node of each other type, and new parameters for one.
void other_types(unsigned* device) {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNodeParams fill = {cudaGraphNodeTypeMemset};
  fill.memset.dst = device;
  fill.memset.value = 7;
  fill.memset.elementSize = 4;
  fill.memset.width = 5;
  fill.memset.height = 1;
  cudaGraphNode_t nodes[4] = {};
  CHECK(cudaGraphAddNode(&nodes[0], graph, nullptr, nullptr, 0, &fill));
  cudaGraphNodeParams nothing = {cudaGraphNodeTypeEmpty};
  CHECK(cudaGraphAddNode(&nodes[1], graph, &nodes[0], nullptr, 1, &nothing));
  Words words(5);
  cudaGraphNodeParams copy = {cudaGraphNodeTypeMemcpy};
  copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(device, 20, 20, 1);
  copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(words.data(), 20, 20, 1);
  copy.memcpy.copyParams.extent = make_cudaExtent(20, 1, 1);
  copy.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaGraphAddNode(&nodes[2], graph, &nodes[1], nullptr, 1, &copy));
  int calls = 0;
  cudaGraphNodeParams host = {cudaGraphNodeTypeHost};
  host.host.fn = increment;
  host.host.userData = &calls;
  CHECK(cudaGraphAddNode(&nodes[3], graph, &nodes[2], nullptr, 1, &host));
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(words == Words(5, 7));
  EXPECT(calls == 1);
  fill.memset.value = 9;
  CHECK(cudaGraphExecNodeSetParams(exec, nodes[0], &fill));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(words == Words(5, 9));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void refusals() {
  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle = {};
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph));
  cudaGraphNode_t node = nullptr;
  cudaGraphNodeParams loop = conditional(handle, cudaGraphCondTypeWhile, 2);
  EXPECT(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop) == cudaErrorInvalidValue);
  cudaGraphNodeParams wild = conditional({}, cudaGraphCondTypeIf, 1);
  EXPECT(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &wild) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaGraphDestroy(graph));
}

int main() {
  unsigned* device = nullptr;
  CHECK(cudaMalloc(&device, 5 * sizeof(unsigned)));
  choose(device, cudaGraphCondTypeIf, 1, {{0, {0, 0, 0, 0, 0}}, {3, {3, 1, 0, 0, 0}}});
  choose(device, cudaGraphCondTypeIf, 2, {{0, {0, 0, 1, 0, 0}}, {1, {1, 1, 0, 0, 0}}});
  choose(device, cudaGraphCondTypeSwitch, 4,
         {{0, {0, 1, 0, 0, 0}}, {3, {3, 0, 0, 0, 1}}, {4, {4, 0, 0, 0, 0}}});
  loop(device);
  other_types(device);
  refusals();
  CHECK(cudaFree(device));
  std::printf("ok\n");
  return 0;
}
