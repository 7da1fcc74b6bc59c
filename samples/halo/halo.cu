// Heat on a plate that several processes share, each a band of rows: a 2D 5-point stencil whose
// halos go through the host and MPI. The rows at a band's edges come first, in a stream of their
// own, so that they travel while the rest is computed.
#include <mpi.h>

#include "../common/sample.hpp"

// heat() writes rows first .. first + rows - 1 of `out`; the columns at the sides keep theirs.
__global__ void heat(const float* in, float* out, int width, int first, int rows, float rate) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || x >= width - 1 || y >= rows) return;
  const int i = (first + y) * width + x;
  const float around = in[i - 1] + in[i + 1] + in[i - width] + in[i + width];
  out[i] = in[i] + rate * (around - 4.0f * in[i]);
}

namespace {

constexpr float rate = 0.2f;

std::vector<float> reference(int n, int iterations) {
  std::vector<float> in = sample::pattern(size_t(n) * n);
  std::vector<float> out = in;
  for (int t = 0; t < iterations; ++t) {
    for (int y = 1; y < n - 1; ++y) {
      for (int x = 1; x < n - 1; ++x) {
        const size_t i = size_t(y) * n + x;
        const float around = in[i - 1] + in[i + 1] + in[i - n] + in[i + n];
        out[i] = in[i] + rate * (around - 4.0f * in[i]);
      }
    }
    in.swap(out);
  }
  return in;
}

// Band is the rows of one process: its own ones between one row of each neighbour (or of the
// boundary, which never changes).
class Band {
 public:
  Band(int n, dim3 block) : n_(n), block_(block) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    first_ = bound(rank_);
    rows_ = bound(rank_ + 1) - first_;
    const std::vector<float> plate = sample::pattern(size_t(n) * n);
    const auto begin = plate.begin() + size_t(first_ - 1) * n;
    const std::vector<float> start(begin, begin + size_t(rows_ + 2) * n);
    in_ = sample::upload(start);
    out_ = sample::upload(start);
    CHECK(cudaHostAlloc(&halo_, 4 * row_bytes(), cudaHostAllocDefault));
    CHECK(cudaStreamCreateWithFlags(&edges_, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&inside_, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&edges_done_, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&inside_done_, cudaEventDisableTiming));
  }

  void step() {
    launch(edges_, 1, 1);
    if (rows_ > 1) launch(edges_, rows_, 1);
    if (rows_ > 2) launch(inside_, 2, rows_ - 2);
    copy(edges_, halo_row(0), out_ + n_);
    copy(edges_, halo_row(1), out_ + size_t(rows_) * n_);
    CHECK(cudaStreamSynchronize(edges_));
    exchange();
    if (rank_ > 0) copy(edges_, out_, halo_row(2));
    if (rank_ + 1 < ranks_) copy(edges_, out_ + size_t(rows_ + 1) * n_, halo_row(3));
    // The next step reads what both streams wrote, and writes what both have read.
    CHECK(cudaEventRecord(edges_done_, edges_));
    CHECK(cudaEventRecord(inside_done_, inside_));
    CHECK(cudaStreamWaitEvent(inside_, edges_done_, 0));
    CHECK(cudaStreamWaitEvent(edges_, inside_done_, 0));
    std::swap(in_, out_);
  }

  void wait() const { CHECK(cudaDeviceSynchronize()); }

  // gather() is the whole plate on rank 0.
  std::vector<float> gather() {
    const std::vector<float> own = sample::download(in_ + n_, size_t(rows_) * n_);
    std::vector<float> plate = sample::pattern(size_t(n_) * n_);
    std::vector<int> counts, places;
    for (int rank = 0; rank < ranks_; ++rank) {
      counts.push_back((bound(rank + 1) - bound(rank)) * n_);
      places.push_back(bound(rank) * n_);
    }
    MPI_Gatherv(own.data(), counts[rank_], MPI_FLOAT, plate.data(), counts.data(), places.data(),
                MPI_FLOAT, 0, MPI_COMM_WORLD);
    return plate;
  }

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

 private:
  // bound() is the first row of a rank; the plate's own first and last row are nobody's.
  int bound(int rank) const { return 1 + int(int64_t{n_ - 2} * rank / ranks_); }
  size_t row_bytes() const { return n_ * sizeof(float); }
  float* halo_row(int which) const { return halo_ + size_t(which) * n_; }

  void launch(cudaStream_t stream, int first, int rows) {
    const dim3 blocks(sample::divide_up(n_, block_.x), sample::divide_up(rows, block_.y));
    heat<<<blocks, block_, 0, stream>>>(in_, out_, n_, first, rows, rate);
  }
  void copy(cudaStream_t stream, float* to, const float* from) {
    CHECK(cudaMemcpyAsync(to, from, row_bytes(), cudaMemcpyDefault, stream));
  }
  void exchange() {
    const int above = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
    const int below = rank_ + 1 < ranks_ ? rank_ + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(halo_row(0), n_, MPI_FLOAT, above, 0, halo_row(3), n_, MPI_FLOAT, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(halo_row(1), n_, MPI_FLOAT, below, 1, halo_row(2), n_, MPI_FLOAT, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  int n_, rank_ = 0, ranks_ = 1, first_ = 0, rows_ = 0;
  dim3 block_;
  float *in_ = nullptr, *out_ = nullptr;
  float* halo_ = nullptr;  // rows to above, to below, from above, from below
  cudaStream_t edges_ = nullptr, inside_ = nullptr;
  cudaEvent_t edges_done_ = nullptr, inside_done_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int n = 512, iterations = 50;
  int block_x = 32, block_y = 8;
  sample::parse_options("halo", argc, argv,
                        {{"size", {&n}, 16, 8192},
                         {"iterations", {&iterations}},
                         {"block", {&block_x, &block_y}, 1, 1024}});
  sample::require(block_x * block_y <= 1024, "a block has at most 1024 threads");

  Band band(n, dim3(block_x, block_y));
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int t = 0; t < iterations; ++t)
    band.step();
  band.wait();
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;
  const std::vector<float> result = band.gather();
  int status = 0;
  if (band.rank() == 0) {
    status = sample::report(
        sample::shape_text("size", n, "iterations", iterations, "ranks", band.ranks()), result,
        [&] { return reference(n, iterations); }, seconds);
  }
  MPI_Finalize();
  return status;
}
