#include "jacobi_bench.cuh"

namespace sluice::gpu_probe {
namespace {

constexpr int rows_at_once = worker_threads / tile_width;
constexpr int rows_a_thread = tile_height / rows_at_once;

static_assert(jacobi_steps % 2 == 0, "the result must end up in the even array");

// One task. The loads come first and stand apart from the stores: `in` and `out` are plain
// pointers, which as far as the compiler knows may overlap, and so each store would hold back the
// next loads. They must not be const __restrict__: that would allow ld.global.nc, which is outside
// the memory model where another worker wrote the data within the same launch.
__device__ __forceinline__ void jacobi_tile(const float* in, float* out, Plate plate,
                                            unsigned tile) {
  const int across = plate.width / tile_width;
  const int thread = static_cast<int>(threadIdx.x);
  const int x = static_cast<int>(tile) % across * tile_width + thread % tile_width;
  const int top = static_cast<int>(tile) / across * tile_height + thread / tile_width;
  const bool inside = x > 0 && x + 1 < plate.width;
  float values[rows_a_thread];
#pragma unroll
  for (int i = 0; i < rows_a_thread; ++i) {
    const int y = top + i * rows_at_once;
    if (inside && y > 0 && y + 1 < plate.height) {
      const float* const cell = in + y * plate.width + x;
      values[i] = jacobi_cell(cell[-plate.width], cell[plate.width], cell[-1], cell[1], cell[0]);
    }
  }
#pragma unroll
  for (int i = 0; i < rows_a_thread; ++i) {
    const int y = top + i * rows_at_once;
    if (inside && y > 0 && y + 1 < plate.height) {
      out[y * plate.width + x] = values[i];
    }
  }
}

__global__ void __launch_bounds__(worker_threads)
    jacobi_launch(const float* in, float* out, Plate plate) {
  jacobi_tile(in, out, plate, blockIdx.x);
}

// The body of the worker loop: even steps read the even array.
struct InlinedBody {
  float* even;
  float* odd;
  Plate plate;
  __device__ void operator()(unsigned step, unsigned tile) const {
    jacobi_tile(step % 2 == 0 ? even : odd, step % 2 == 0 ? odd : even, plate, tile);
  }
};

__device__ __noinline__ void called_tile(const float* in, float* out, Plate plate, unsigned tile) {
  jacobi_tile(in, out, plate, tile);
}

struct CalledBody {
  float* even;
  float* odd;
  Plate plate;
  __device__ void operator()(unsigned step, unsigned tile) const {
    called_tile(step % 2 == 0 ? even : odd, step % 2 == 0 ? odd : even, plate, tile);
  }
};

template <class Body>
__global__ void __launch_bounds__(worker_threads)
    jacobi_worker(WorkerTable table, TableOrder order, Body body) {
  run_worker(table, order, body);
}

__global__ void fill_plate(float* even, float* odd, std::size_t cells) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < cells;
       i += stride) {
    even[i] = first_value(i);
    odd[i] = first_value(i);
  }
}

// Compares bits, not values, so that a NaN would show.
__global__ void count_different(const float* a, const float* b, std::size_t cells,
                                unsigned long long* different) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < cells;
       i += stride) {
    if (__float_as_uint(a[i]) != __float_as_uint(b[i])) {
      atomicAdd(different, 1ull);
    }
  }
}

template <class Kernel>
FormFacts facts_of(Kernel* kernel) {
  cudaFuncAttributes attributes = {};
  check(cudaFuncGetAttributes(&attributes, kernel), "reading a kernel's attributes");
  return {attributes.numRegs, attributes.localSizeBytes, resident_blocks(kernel, worker_threads)};
}

}  // namespace

FormFacts form_facts(Form form) {
  switch (form) {
    case Form::launches:
      return facts_of(jacobi_launch);
    case Form::inlined:
      return facts_of(jacobi_worker<InlinedBody>);
    case Form::called:
      return facts_of(jacobi_worker<CalledBody>);
  }
  throw ProbeFailure("no such form");
}

JacobiBench::JacobiBench(Plate plate)
    : plate_(plate),
      even_(plate.cells()),
      odd_(plate.cells()),
      reference_(plate.cells()),
      order_(std::size_t{plate.tiles().tiles()} * jacobi_steps),
      run_(plate.tiles(), jacobi_steps),
      stopwatch_(stream_) {
  use_order(launch_order(plate.tiles(), jacobi_steps));
}

void JacobiBench::fill() {
  fill_plate<<<1024, 256>>>(even_.get(), odd_.get(), plate_.cells());
  check(cudaGetLastError(), "launching the kernel that fills the plate");
  check(cudaDeviceSynchronize(), "filling the plate");
}

double JacobiBench::run_launches() {
  fill();
  stopwatch_.start();
  for (int step = 0; step < jacobi_steps; ++step) {
    float* const in = step % 2 == 0 ? even_.get() : odd_.get();
    float* const out = step % 2 == 0 ? odd_.get() : even_.get();
    jacobi_launch<<<plate_.tiles().tiles(), worker_threads, 0, stream_.get()>>>(in, out, plate_);
    check(cudaGetLastError(), "launching a Jacobi step");
  }
  return stopwatch_.stop();
}

void JacobiBench::use_order(const std::vector<std::uint32_t>& order) {
  if (!is_valid_order(order, plate_.tiles(), jacobi_steps)) {
    throw ProbeFailure("an order would let a task wait for a later one");
  }
  order_.upload(order);
}

double JacobiBench::run_workers(Form form, int workers) {
  fill();
  run_.clear();
  const TableOrder order = {order_.get()};
  stopwatch_.start();
  if (form == Form::called) {
    jacobi_worker<<<workers, worker_threads, 0, stream_.get()>>>(
        run_.table(), order, CalledBody{even_.get(), odd_.get(), plate_});
  } else {
    jacobi_worker<<<workers, worker_threads, 0, stream_.get()>>>(
        run_.table(), order, InlinedBody{even_.get(), odd_.get(), plate_});
  }
  check(cudaGetLastError(), "launching the worker loop");
  const double time = stopwatch_.stop();
  run_.verify();
  return time;
}

void JacobiBench::keep_as_reference() {
  check(cudaMemcpy(reference_.get(), even_.get(), plate_.cells() * sizeof(float),
                   cudaMemcpyDeviceToDevice),
        "keeping the reference");
}

void JacobiBench::require_equal(const std::string& what) const {
  const Buffer<unsigned long long> different(1);
  count_different<<<1024, 256>>>(even_.get(), reference_.get(), plate_.cells(), different.get());
  check(cudaGetLastError(), "launching the comparison");
  const unsigned long long count = different.download()[0];
  if (count != 0) {
    throw ProbeFailure(what + ": " + std::to_string(count) +
                       " cells differ from the launch order's result");
  }
}

std::vector<float> JacobiBench::result() const {
  return even_.download();
}

double JacobiBench::gcells_per_s(double microseconds) const {
  return static_cast<double>(plate_.cells()) * jacobi_steps / microseconds / 1000;
}

}  // namespace sluice::gpu_probe
