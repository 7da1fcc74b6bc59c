// The computations as OpenCL kernels on PoCL.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "contestant.hpp"
#include "shapes.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace sluice::bench {
namespace {

void check(cl_int result, const char* what) {
  if (result == CL_SUCCESS) return;
  fmt::print(stderr, "cpu_device: {}: OpenCL error {}\n", what, result);
  std::exit(1);
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

cl_device_id find_cpu() {
  std::array<cl_platform_id, 16> platforms{};
  cl_uint count = 0;
  if (clGetPlatformIDs(platforms.size(), platforms.data(), &count) != CL_SUCCESS) return nullptr;
  for (cl_uint i = 0; i < count; ++i) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS) {
      return device;
    }
  }
  return nullptr;
}

// The objects are kept until the process ends.
class OpenCl final : public Contestant {
 public:
  OpenCl(cl_device_id device, const Inputs& inputs) : in_(inputs), device_(device) {
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    cl_int result = CL_SUCCESS;
    queue_ = clCreateCommandQueue(context_, device_, 0, &result);
    check(result, "clCreateCommandQueue");
    build();
    first_ = filled(inputs.grid);
    grid_ = {empty(inputs.grid.size()), empty(inputs.grid.size())};
    a_ = filled(inputs.a);
    b_ = filled(inputs.b);
    product_ = empty(inputs.a.size());
    bodies_ = filled(inputs.body_data);
    forces_ = empty(inputs.body_data.size());
    numbers_ = filled(inputs.numbers);
    sums_ = empty(reduce_blocks);
    sum_ = empty(1);
    matrix_ = filled(inputs.matrix);
    turned_ = empty(inputs.matrix.size());
  }
  std::string name() const override {
    std::array<char, 256> name{};
    clGetDeviceInfo(device_, CL_DEVICE_VERSION, name.size(), name.data(), nullptr);
    return name.data();
  }

  void run(Computation what) override {
    switch (what) {
      case Computation::stencil:
        for (int step = 0; step < in_.stencil_steps; ++step) {
          launch("stencil", {in_.stencil_side, in_.stencil_side},
                 {stencil_block_x, stencil_block_y}, step == 0 ? first_ : grid_[step % 2],
                 grid_[(step + 1) % 2], in_.stencil_side, in_.stencil_side);
        }
        break;
      case Computation::gemm:
        for (int time = 0; time < in_.gemm_times; ++time) {
          launch("gemm", {in_.gemm_side, in_.gemm_side}, {gemm_tile, gemm_tile}, a_, b_, product_,
                 in_.gemm_side);
        }
        break;
      case Computation::nbody:
        launch("nbody", {in_.bodies, 1}, {nbody_block, 1}, bodies_, forces_, in_.bodies);
        break;
      case Computation::reduce:
        for (int time = 0; time < in_.sum_times; ++time) {
          launch("reduce", {reduce_blocks * reduce_block, 1}, {reduce_block, 1}, numbers_, sums_,
                 in_.sum_count);
          launch("reduce", {reduce_block, 1}, {reduce_block, 1}, sums_, sum_, reduce_blocks);
        }
        break;
      case Computation::transpose:
        for (int time = 0; time < in_.transpose_times; ++time) {
          launch("transpose",
                 {in_.transpose_side, in_.transpose_side / (transpose_tile / transpose_rows)},
                 {transpose_tile, transpose_rows}, matrix_, turned_, in_.transpose_side,
                 in_.transpose_side);
        }
        break;
    }
    check(clFinish(queue_), "clFinish");
  }

  std::vector<float> answer(Computation what) override {
    switch (what) {
      case Computation::stencil:
        return read(grid_[in_.stencil_steps % 2], in_.grid.size());
      case Computation::gemm:
        return read(product_, in_.a.size());
      case Computation::nbody:
        return three_of_four(read(forces_, in_.body_data.size()));
      case Computation::reduce:
        return read(sum_, 1);
      case Computation::transpose:
        return read(turned_, in_.matrix.size());
    }
    return {};
  }

 private:
  void build() {
    // The header's name means nothing to PoCL: what it says stands in front of the kernels.
    const std::string kernels = text_of(SLUICE_BENCH_CL);
    const std::string text =
        text_of(SLUICE_BENCH_SHAPES) + kernels.substr(kernels.find("kernel void"));
    const char* source = text.c_str();
    cl_int result = CL_SUCCESS;
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &result);
    check(result, "clCreateProgramWithSource");
    check(clBuildProgram(program_, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
  }

  cl_mem empty(size_t count) {
    cl_int result = CL_SUCCESS;
    cl_mem memory =
        clCreateBuffer(context_, CL_MEM_READ_WRITE, count * sizeof(float), nullptr, &result);
    check(result, "clCreateBuffer");
    return memory;
  }
  cl_mem filled(const std::vector<float>& data) {
    cl_mem memory = empty(data.size());
    check(clEnqueueWriteBuffer(queue_, memory, CL_TRUE, 0, data.size() * sizeof(float), data.data(),
                               0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    return memory;
  }
  std::vector<float> read(cl_mem memory, size_t count) {
    std::vector<float> data(count);
    check(clEnqueueReadBuffer(queue_, memory, CL_TRUE, 0, count * sizeof(float), data.data(), 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
    return data;
  }

  template <class... Arguments>
  void launch(const char* name, std::array<int, 2> items, std::array<size_t, 2> group,
              const Arguments&... arguments) {
    cl_kernel& kernel = kernels_[name];
    if (kernel == nullptr) kernel = clCreateKernel(program_, name, nullptr);
    cl_uint place = 0;
    (check(clSetKernelArg(kernel, place++, sizeof arguments, &arguments), name), ...);
    const std::array<size_t, 2> global{static_cast<size_t>(items[0]),
                                       static_cast<size_t>(items[1])};
    check(clEnqueueNDRangeKernel(queue_, kernel, 2, nullptr, global.data(), group.data(), 0,
                                 nullptr, nullptr),
          name);
  }

  const Inputs& in_;
  cl_device_id device_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  std::map<std::string, cl_kernel> kernels_;
  cl_mem first_ = nullptr;
  std::array<cl_mem, 2> grid_{};
  cl_mem a_, b_, product_, bodies_, forces_, numbers_, sums_, sum_, matrix_, turned_;
};

}  // namespace

std::unique_ptr<Contestant> make_opencl(const Inputs& inputs) {
  const cl_device_id device = find_cpu();
  return device == nullptr ? nullptr : std::make_unique<OpenCl>(device, inputs);
}

}  // namespace sluice::bench
