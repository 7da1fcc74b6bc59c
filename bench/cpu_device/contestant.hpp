// What is computed, and those who compute it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace sluice::bench {

enum class Computation { stencil, gemm, nbody, reduce, transpose };
inline constexpr std::array<const char*, 5> computation_names{"2D stencil", "tiled GEMM", "n-body",
                                                              "reduction", "transpose"};

// Inputs of all computations. Bodies are x, y, z and mass; matrices are square and row-major.
struct Inputs {
  int stencil_side = 4096;
  int stencil_steps = 10;
  int gemm_side = 1024;
  int gemm_times = 2;
  int bodies = 16384;
  int sum_count = 1 << 25;
  int sum_times = 5;
  int transpose_side = 4096;
  int transpose_times = 5;
  std::vector<float> grid, a, b, body_data, numbers, matrix;
};

// make_inputs() fills the inputs with reproducible values between 0 and 1.
Inputs make_inputs();

// Contestant computes everything on its own copies of the inputs.
class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual std::string name() const = 0;
  // run() does the whole computation and returns when it is done.
  virtual void run(Computation what) = 0;
  // answer() is what the last run() of the computation found: the sum alone for the reduction,
  // three numbers a body.
  virtual std::vector<float> answer(Computation what) = 0;
};

// Hand-written C++ with OpenMP.
std::unique_ptr<Contestant> make_plain(const Inputs& inputs);
// kernels.cu on the CPU device, through the driver API.
std::unique_ptr<Contestant> make_device(const Inputs& inputs);
// kernels.cl on PoCL; null where the machine has no OpenCL device of a CPU.
std::unique_ptr<Contestant> make_opencl(const Inputs& inputs);

// three_of_four() drops every fourth number.
std::vector<float> three_of_four(const std::vector<float>& all);

}  // namespace sluice::bench
