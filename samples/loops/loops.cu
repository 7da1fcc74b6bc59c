// Loops as programs have them: a stencil's step and something beside it in each. `--body` says
// what: 0 nothing, 1 a copy back from device to device, 2 an event, 3 a counter that is cleared and
// a sum by shuffles, 4 the same through shared memory, 5 two steps as a graph. All bodies but 1 go
// back and forth between two buffers.
#include <utility>

#include "../common/sample.hpp"

enum Body { nothing, copy, event, shuffles, shared_memory, graph };
constexpr int threads = 256;

__global__ void step(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = 0.5f * in[i] + 0.25f * (in[i - 1] + in[i + 1]);
}

// Sums of bits are the same in any order.
__global__ void sum_by_shuffles(const float* values, unsigned* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mine = i < n ? __float_as_uint(values[i]) : 0;
  for (int lanes = 16; lanes > 0; lanes /= 2)
    mine += __shfl_down_sync(~0u, mine, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
__global__ void sum_through_memory(const float* values, unsigned* sum, int n) {
  __shared__ unsigned sums[threads];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = i < n ? __float_as_uint(values[i]) : 0;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(sum, sums[0]);
}

namespace {

void step_on_host(const std::vector<float>& in, std::vector<float>& out) {
  for (size_t i = 1; i + 1 < in.size(); ++i)
    out[i] = 0.5f * in[i] + 0.25f * (in[i - 1] + in[i + 1]);
}

// Loop is one program's data and its loop.
class Loop {
 public:
  Loop(int body, const std::vector<float>& start)
      : body_(body),
        n_(int(start.size())),
        in_(sample::upload(start)),
        out_(sample::upload(start)) {
    CHECK(cudaMalloc(&sum_, sizeof(unsigned)));
    CHECK(cudaMemset(sum_, 0, sizeof(unsigned)));
    CHECK(cudaStreamCreate(&stream_));
    if (body_ == graph) capture();
  }
  ~Loop() {
    if (instance_ != nullptr) CHECK(cudaGraphExecDestroy(instance_));
    CHECK(cudaStreamDestroy(stream_));
    CHECK(cudaFree(in_));
    CHECK(cudaFree(out_));
    CHECK(cudaFree(sum_));
  }

  void run(int steps) {
    for (int i = 0; i < steps; i += body_ == graph ? 2 : 1) {
      if (body_ == graph) {
        CHECK(cudaGraphLaunch(instance_, stream_));
        continue;
      }
      make_step();
      go_on();
    }
    CHECK(cudaStreamSynchronize(stream_));
  }
  // result() is the last step's values, and the sum of its bits where there is one.
  std::vector<float> result() const {
    std::vector<float> values = sample::download(in_, n_);
    unsigned sum = 0;
    CHECK(cudaMemcpy(&sum, sum_, sizeof sum, cudaMemcpyDeviceToHost));
    values.push_back(float(sum >> 8));
    return values;
  }

 private:
  unsigned blocks() const { return sample::divide_up(n_, threads); }
  void make_step() { step<<<blocks(), threads, 0, stream_>>>(in_, out_, n_); }

  void go_on() {
    if (body_ == copy) {
      CHECK(cudaMemcpyAsync(in_, out_, sizeof(float) * n_, cudaMemcpyDeviceToDevice, stream_));
      return;
    }
    std::swap(in_, out_);
    if (body_ == event) {
      cudaEvent_t done;
      CHECK(cudaEventCreate(&done));
      CHECK(cudaEventRecord(done, stream_));
      CHECK(cudaEventDestroy(done));
    } else if (body_ == shuffles || body_ == shared_memory) {
      CHECK(cudaMemsetAsync(sum_, 0, sizeof(unsigned), stream_));
      const auto add_up = body_ == shuffles ? sum_by_shuffles : sum_through_memory;
      add_up<<<blocks(), threads, 0, stream_>>>(in_, sum_, n_);
    }
  }

  void capture() {
    cudaGraph_t steps;
    CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 2; ++i) {
      make_step();
      std::swap(in_, out_);
    }
    CHECK(cudaStreamEndCapture(stream_, &steps));
    CHECK(cudaGraphInstantiate(&instance_, steps, 0));
    CHECK(cudaGraphDestroy(steps));
  }

  const int body_;
  const int n_;
  float* in_;
  float* out_;
  unsigned* sum_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t instance_ = nullptr;
};

std::vector<float> reference(int body, const std::vector<float>& start, int steps) {
  std::vector<float> in = start, out = start;
  for (int i = 0; i < steps; ++i) {
    step_on_host(in, out);
    if (body == copy) {
      in = out;
    } else {
      std::swap(in, out);
    }
  }
  unsigned sum = 0;
  for (float value : in) {
    unsigned bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    sum += bits;
  }
  const bool sums = body == shuffles || body == shared_memory;
  in.push_back(sums ? float(sum >> 8) : 0.0f);
  return in;
}

}  // namespace

int main(int argc, char** argv) {
  int size = 1 << 16, steps = 100, rounds = 1, body = nothing;
  sample::parse_options("loops", argc, argv,
                        {{"size", {&size}, 3, 1 << 26},
                         {"steps", {&steps}, 2, 1 << 20},
                         {"rounds", {&rounds}, 1, 1000},
                         {"body", {&body}, 0, graph}});
  sample::require(body != graph || steps % 2 == 0, "a graph makes two steps");
  const std::vector<float> start = sample::pattern(size);
  Loop loop(body, start);
  double seconds = 0;  // of the last round
  for (int round = 0; round < rounds; ++round) {
    sample::Stopwatch watch;
    loop.run(steps);
    seconds = watch.seconds();
  }
  return sample::report(
      sample::shape_text("size", size, "body", body), loop.result(),
      [&] { return reference(body, start, rounds * steps); }, seconds);
}
