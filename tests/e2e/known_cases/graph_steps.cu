// A graph is its launches, a copy's pieces too, and later launches of it depend by blocks: as with
// transfers, 4 blocks of 6 KiB against 6 pieces of 4 KiB. The second launch has another number for
// its last kernel.
#include "sample.hpp"

__global__ void produce(float* x, int each) {
  for (int i = threadIdx.x; i < each; i += blockDim.x)
    x[blockIdx.x * each + i] = static_cast<float>(blockIdx.x * each + i);
}

__global__ void consume(const float* x, float* out, int each, float factor) {
  for (int i = threadIdx.x; i < each; i += blockDim.x)
    out[blockIdx.x * each + i] += factor * x[blockIdx.x * each + i];
}

namespace {

// last_kernel() is the node of the kernel that was captured last.
cudaGraphNode_t last_kernel(cudaGraph_t graph) {
  cudaGraphNode_t nodes[3] = {};
  size_t count = 3;
  cudaGraphGetNodes(graph, nodes, &count);
  cudaGraphNode_t last = nullptr;
  for (size_t i = 0; i < count; ++i) {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    cudaGraphNodeGetType(nodes[i], &type);
    if (type == cudaGraphNodeTypeKernel) last = nodes[i];
  }
  return last;
}

}  // namespace

int main(int argc, char** argv) {
  int launches = 1;  // before the change, and after it
  sample::parse_options("graph_steps", argc, argv, {{"launches", {&launches}, 1, 100}});
  constexpr int blocks = 4, block = 64, each = 1536, count = blocks * each;
  constexpr size_t bytes = count * sizeof(float);
  float* a = sample::allocate(count);
  float* b = sample::allocate(count);
  float* c = sample::allocate(count);
  cudaMemset(c, 0, bytes);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  produce<<<blocks, block, 0, stream>>>(a, each);
  cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, stream);
  consume<<<blocks, block, 0, stream>>>(b, c, each, 1.0f);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);

  const auto launch = [&] {
    for (int i = 0; i < launches; ++i)
      cudaGraphLaunch(executable, stream);
  };
  sample::Stopwatch watch;
  launch();
  int length = each;
  float factor = 2.0f;
  void* parameters[] = {&b, &c, &length, &factor};
  cudaKernelNodeParams changed = {};
  changed.func = reinterpret_cast<void*>(consume);
  changed.gridDim = blocks;
  changed.blockDim = block;
  changed.kernelParams = parameters;
  cudaGraphExecKernelNodeSetParams(executable, last_kernel(graph), &changed);
  cudaGraphDestroy(graph);
  launch();
  const double seconds = watch.seconds();
  if (cudaGetLastError() != cudaSuccess) return 1;

  std::vector<float> expected(count);
  for (int i = 0; i < count; ++i)
    expected[i] = 3.0f * static_cast<float>(launches * i);
  return sample::report(sample::shape_text("blocks", blocks), sample::download(c, count), expected,
                        seconds);
}
