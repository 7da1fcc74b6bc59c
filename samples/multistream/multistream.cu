// Heat on a plate in four bands of rows, each with a stream of its own, as on four GPUs: after each
// step a band copies its edge rows to pinned memory and records an event, its neighbours' streams
// wait for that event and copy the rows to their halos.
#include "../common/sample.hpp"

constexpr int bands = 4;

// step() writes the next state of the rows 1 .. rows of a band of `n` columns; the rows before and
// behind them are its halos.
__global__ void step(const float* in, float* out, int n, int rows) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x < 1 || x >= n - 1 || y > rows) return;
  const int i = y * n + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

namespace {

struct Band {
  cudaStream_t stream = nullptr;
  float* buffers[2] = {};    // in and out, with the halos
  float* edges[2][2] = {};   // pinned: the first and the last row, of even and odd steps
  cudaEvent_t sent[2] = {};  // they are there
};

void exchange(std::vector<Band>& all, int band, int step, int n, int rows) {
  Band& own = all[band];
  const size_t bytes = n * sizeof(float);
  const int parity = step % 2;
  for (const int side : {0, 1}) {
    const int other = band + (side == 0 ? -1 : 1);
    if (other < 0 || other >= bands) continue;
    CHECK(cudaStreamWaitEvent(own.stream, all[other].sent[parity], 0));
    float* halo = own.buffers[0] + (side == 0 ? 0 : size_t(rows + 1) * n);
    CHECK(cudaMemcpyAsync(halo, all[other].edges[parity][1 - side], bytes, cudaMemcpyHostToDevice,
                          own.stream));
  }
}

void send(Band& band, int step, int n, int rows) {
  const size_t bytes = n * sizeof(float);
  const int parity = step % 2;
  CHECK(cudaMemcpyAsync(band.edges[parity][0], band.buffers[0] + n, bytes, cudaMemcpyDeviceToHost,
                        band.stream));
  CHECK(cudaMemcpyAsync(band.edges[parity][1], band.buffers[0] + size_t(rows) * n, bytes,
                        cudaMemcpyDeviceToHost, band.stream));
  CHECK(cudaEventRecord(band.sent[parity], band.stream));
}

std::vector<float> reference(std::vector<float> in, int n, int rows, int steps) {
  std::vector<float> out = in;
  for (int t = 0; t < steps; ++t) {
    sample::in_parts(rows, n, [&](int first, int end) {
      for (int y = first + 1; y <= end; ++y) {
        for (size_t i = size_t(y) * n + 1; i < size_t(y + 1) * n - 1; ++i)
          out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
      }
    });
    in.swap(out);
  }
  return in;
}

}  // namespace

int main(int argc, char** argv) {
  int n = 2048, rows = 256, steps = 100;
  sample::parse_options(
      "multistream", argc, argv,
      {{"size", {&n}, 3, 32768}, {"rows", {&rows}, 1, 8192}, {"steps", {&steps}}});
  const size_t of_band = size_t(rows + 2) * n;
  const std::vector<float> start = sample::pattern(size_t(bands * rows + 2) * n);
  std::vector<Band> all(bands);
  for (int b = 0; b < bands; ++b) {
    Band& band = all[b];
    CHECK(cudaStreamCreate(&band.stream));
    const auto first = start.begin() + size_t(b * rows) * n;
    for (float*& buffer : band.buffers)
      buffer = sample::upload({first, first + of_band});
    for (auto& rows_of_step : band.edges) {
      for (float*& row : rows_of_step)
        CHECK(cudaMallocHost(&row, n * sizeof(float)));
    }
    for (cudaEvent_t& event : band.sent)
      CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  CHECK(cudaDeviceSynchronize());

  const dim3 threads(32, 8);
  const dim3 blocks(sample::divide_up(n, threads.x), sample::divide_up(rows, threads.y));
  sample::Stopwatch watch;
  for (int t = 0; t < steps; ++t) {
    for (int b = 0; b < bands; ++b) {
      Band& band = all[b];
      if (t > 0) exchange(all, b, t - 1, n, rows);
      step<<<blocks, threads, 0, band.stream>>>(band.buffers[0], band.buffers[1], n, rows);
      std::swap(band.buffers[0], band.buffers[1]);
      send(band, t, n, rows);
    }
  }
  const double seconds = watch.seconds();

  std::vector<float> result(start.begin(), start.begin() + n);
  for (Band& band : all) {
    const std::vector<float> own = sample::download(band.buffers[0], of_band);
    result.insert(result.end(), own.begin() + n, own.end() - n);
    for (float* buffer : band.buffers)
      CHECK(cudaFree(buffer));
    for (auto& rows_of_step : band.edges) {
      for (float* row : rows_of_step)
        CHECK(cudaFreeHost(row));
    }
    for (cudaEvent_t event : band.sent)
      CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(band.stream));
  }
  result.insert(result.end(), start.end() - n, start.end());
  return sample::report(
      sample::shape_text("size", n, "rows", rows, "steps", steps), result,
      [&] { return reference(start, n, bands * rows, steps); }, seconds);
}
