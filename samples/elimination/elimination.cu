// Gaussian elimination without pivoting: two launches a column, which take the column as an
// argument.
#include "../common/sample.hpp"

// find_factors() computes by how much of the pivot's row each row below it is reduced.
__global__ void find_factors(const float* matrix, float* factors, int n, int pivot) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x + pivot + 1;
  if (row < n) factors[row] = matrix[row * (n + 1) + pivot] / matrix[pivot * (n + 1) + pivot];
}

// eliminate() reduces the rows below the pivot. The matrix has n + 1 columns: the last is the
// right-hand side.
__global__ void eliminate(float* matrix, const float* factors, int n, int pivot) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x + pivot;
  const int row = blockIdx.y * blockDim.y + threadIdx.y + pivot + 1;
  if (row < n && column <= n) {
    matrix[row * (n + 1) + column] -= factors[row] * matrix[pivot * (n + 1) + column];
  }
}

namespace {

// A matrix whose diagonal outweighs each row, so that no pivot is small.
std::vector<float> system(int n) {
  std::vector<float> matrix = sample::pattern(size_t(n) * (n + 1));
  for (int i = 0; i < n; ++i)
    matrix[size_t(i) * (n + 1) + i] += static_cast<float>(n);
  return matrix;
}

std::vector<float> reference(int n) {
  std::vector<float> matrix = system(n);
  const size_t width = n + 1;
  for (int pivot = 0; pivot + 1 < n; ++pivot) {
    for (int row = pivot + 1; row < n; ++row) {
      const float factor = matrix[row * width + pivot] / matrix[pivot * width + pivot];
      for (int column = pivot; column <= n; ++column)
        matrix[row * width + column] -= factor * matrix[pivot * width + column];
    }
  }
  return matrix;
}

}  // namespace

int main(int argc, char** argv) {
  int n = 64, block_x = 16, block_y = 16;
  sample::parse_options("elimination", argc, argv,
                        {{"size", {&n}, 2, 8192}, {"block", {&block_x, &block_y}, 1, 1024}});
  sample::require(block_x * block_y <= 1024, "a block has at most 1024 threads");

  const std::vector<float> start = system(n);
  float* matrix = sample::upload(start);
  float* factors = sample::allocate(n);

  const dim3 threads(block_x, block_y);
  const unsigned line = block_x * block_y;
  sample::Stopwatch watch;
  for (int pivot = 0; pivot + 1 < n; ++pivot) {
    const int rows = n - pivot - 1, columns = n - pivot + 1;
    const dim3 blocks(sample::divide_up(columns, block_x), sample::divide_up(rows, block_y));
    find_factors<<<sample::divide_up(rows, line), line>>>(matrix, factors, n, pivot);
    eliminate<<<blocks, threads>>>(matrix, factors, n, pivot);
  }
  const double seconds = watch.seconds();

  const std::vector<float> result = sample::download(matrix, start.size());
  CHECK(cudaFree(matrix));
  CHECK(cudaFree(factors));
  const std::string block = std::to_string(block_x) + "x" + std::to_string(block_y);
  return sample::report(
      sample::shape_text("size", n) + " block=" + block, result, [&] { return reference(n); },
      seconds);
}
