// The computations as CUDA kernels on the CPU device.
#include <array>

#include "contestant.hpp"
#include "driver.hpp"
#include "shapes.hpp"

namespace sluice::bench {
namespace {

class Device final : public Contestant {
 public:
  explicit Device(const Inputs& inputs)
      : in_(inputs),
        first_(inputs.grid),
        grid_{Buffer(inputs.grid.size()), Buffer(inputs.grid.size())},
        a_(inputs.a),
        b_(inputs.b),
        product_(inputs.a.size()),
        bodies_(inputs.body_data),
        forces_(inputs.body_data.size()),
        numbers_(inputs.numbers),
        sums_(reduce_blocks),
        sum_(1),
        matrix_(inputs.matrix),
        turned_(inputs.matrix.size()) {}
  std::string name() const override { return "CPU device"; }

  void run(Computation what) override {
    switch (what) {
      case Computation::stencil:
        run_stencil();
        break;
      case Computation::gemm: {
        const unsigned tiles = in_.gemm_side / gemm_tile;
        void* arguments[] = {a_.argument(), b_.argument(), product_.argument(),
                             side(&in_.gemm_side)};
        for (int time = 0; time < in_.gemm_times; ++time)
          launch(gemm_, tiles, tiles, gemm_tile, gemm_tile, arguments);
        break;
      }
      case Computation::nbody: {
        void* arguments[] = {bodies_.argument(), forces_.argument(), side(&in_.bodies)};
        launch(nbody_, in_.bodies / nbody_block, 1, nbody_block, 1, arguments);
        break;
      }
      case Computation::reduce:
        run_reduce();
        break;
      case Computation::transpose: {
        const unsigned tiles = in_.transpose_side / transpose_tile;
        void* arguments[] = {matrix_.argument(), turned_.argument(), side(&in_.transpose_side),
                             side(&in_.transpose_side)};
        for (int time = 0; time < in_.transpose_times; ++time)
          launch(transpose_, tiles, tiles, transpose_tile, transpose_rows, arguments);
        break;
      }
    }
    check(cuCtxSynchronize(), "cuCtxSynchronize");
  }

  std::vector<float> answer(Computation what) override {
    switch (what) {
      case Computation::stencil:
        return grid_[in_.stencil_steps % 2].read();
      case Computation::gemm:
        return product_.read();
      case Computation::nbody:
        return three_of_four(forces_.read());
      case Computation::reduce:
        return sum_.read();
      case Computation::transpose:
        return turned_.read();
    }
    return {};
  }

 private:
  static void* side(const int* value) { return const_cast<int*>(value); }

  static void launch(CUfunction kernel, unsigned grid_x, unsigned grid_y, unsigned block_x,
                     unsigned block_y, void** arguments) {
    check(cuLaunchKernel(kernel, grid_x, grid_y, 1, block_x, block_y, 1, 0, nullptr, arguments,
                         nullptr),
          "cuLaunchKernel");
  }

  void run_stencil() {
    for (int step = 0; step < in_.stencil_steps; ++step) {
      Buffer& from = step == 0 ? first_ : grid_[step % 2];
      void* arguments[] = {from.argument(), grid_[(step + 1) % 2].argument(),
                           side(&in_.stencil_side), side(&in_.stencil_side)};
      launch(stencil_, in_.stencil_side / stencil_block_x, in_.stencil_side / stencil_block_y,
             stencil_block_x, stencil_block_y, arguments);
    }
  }

  void run_reduce() {
    static const int partial_sums = reduce_blocks;
    for (int time = 0; time < in_.sum_times; ++time) {
      void* all[] = {numbers_.argument(), sums_.argument(), side(&in_.sum_count)};
      launch(reduce_, reduce_blocks, 1, reduce_block, 1, all);
      void* partial[] = {sums_.argument(), sum_.argument(), side(&partial_sums)};
      launch(reduce_, 1, 1, reduce_block, 1, partial);
    }
  }

  const Inputs& in_;
  Context context_{SLUICE_BENCH_PTX};
  CUfunction stencil_ = context_.kernel("stencil");
  CUfunction gemm_ = context_.kernel("gemm");
  CUfunction nbody_ = context_.kernel("nbody");
  CUfunction reduce_ = context_.kernel("reduce");
  CUfunction transpose_ = context_.kernel("transpose");
  Buffer first_;
  std::array<Buffer, 2> grid_;
  Buffer a_, b_, product_, bodies_, forces_, numbers_, sums_, sum_, matrix_, turned_;
};

}  // namespace

std::unique_ptr<Contestant> make_device(const Inputs& inputs) {
  return std::make_unique<Device>(inputs);
}

}  // namespace sluice::bench
