// The computations as one would write them by hand for this machine.
#include <algorithm>
#include <cmath>
#include <utility>

#include "contestant.hpp"
#include "shapes.hpp"

namespace sluice::bench {
namespace {

void stencil_step(const float* in, float* out, int width, int height) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < height; ++y) {
    const float* row = in + static_cast<size_t>(y) * width;
    float* target = out + static_cast<size_t>(y) * width;
    const auto edge = [&](int x) {
      float sum = row[x];
      if (x > 0) sum += row[x - 1];
      if (x < width - 1) sum += row[x + 1];
      if (y > 0) sum += row[x - width];
      if (y < height - 1) sum += row[x + width];
      target[x] = sum * 0.2f;
    };
    if (y == 0 || y == height - 1) {
      for (int x = 0; x < width; ++x)
        edge(x);
      continue;
    }
    edge(0);
    for (int x = 1; x < width - 1; ++x)
      target[x] = (row[x] + row[x - 1] + row[x + 1] + row[x - width] + row[x + width]) * 0.2f;
    edge(width - 1);
  }
}

// The loops stand in the order in which the compiler can vectorise the innermost.
void multiply(const float* a, const float* b, float* c, int n) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < n; ++y) {
    float* target = c + static_cast<size_t>(y) * n;
    std::fill(target, target + n, 0.0f);
    for (int k = 0; k < n; ++k) {
      const float factor = a[static_cast<size_t>(y) * n + k];
      const float* row = b + static_cast<size_t>(k) * n;
      for (int x = 0; x < n; ++x)
        target[x] += factor * row[x];
    }
  }
}

struct Bodies {
  std::vector<float> x, y, z, mass;
};

void attract(const Bodies& bodies, float* forces, int count) {
#pragma omp parallel for schedule(static)
  for (int self = 0; self < count; ++self) {
    const float x = bodies.x[self];
    const float y = bodies.y[self];
    const float z = bodies.z[self];
    float fx = 0;
    float fy = 0;
    float fz = 0;
#pragma omp simd reduction(+ : fx, fy, fz)
    for (int other = 0; other < count; ++other) {
      const float dx = bodies.x[other] - x;
      const float dy = bodies.y[other] - y;
      const float dz = bodies.z[other] - z;
      const float near = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + nbody_softening);
      const float weight = bodies.mass[other] * near * near * near;
      fx += dx * weight;
      fy += dy * weight;
      fz += dz * weight;
    }
    forces[3 * self] = fx;
    forces[3 * self + 1] = fy;
    forces[3 * self + 2] = fz;
  }
}

float sum_of(const float* numbers, int count) {
  float sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (int i = 0; i < count; ++i)
    sum += numbers[i];
  return sum;
}

void turn(const float* in, float* out, int side) {
#pragma omp parallel for schedule(static) collapse(2)
  for (int top = 0; top < side; top += transpose_tile) {
    for (int left = 0; left < side; left += transpose_tile) {
      for (int x = left; x < left + transpose_tile; ++x) {
        for (int y = top; y < top + transpose_tile; ++y)
          out[static_cast<size_t>(x) * side + y] = in[static_cast<size_t>(y) * side + x];
      }
    }
  }
}

class Plain final : public Contestant {
 public:
  explicit Plain(const Inputs& inputs)
      : in_(inputs),
        grid_{inputs.grid, inputs.grid},
        product_(inputs.a.size()),
        forces_(3 * static_cast<size_t>(inputs.bodies)),
        turned_(inputs.matrix.size()) {
    for (size_t i = 0; i < inputs.body_data.size(); i += 4) {
      bodies_.x.push_back(inputs.body_data[i]);
      bodies_.y.push_back(inputs.body_data[i + 1]);
      bodies_.z.push_back(inputs.body_data[i + 2]);
      bodies_.mass.push_back(inputs.body_data[i + 3]);
    }
  }
  std::string name() const override { return "C++/OpenMP"; }

  void run(Computation what) override {
    switch (what) {
      case Computation::stencil:
        for (int step = 0; step < in_.stencil_steps; ++step)
          stencil_step(step == 0 ? in_.grid.data() : grid_[step % 2].data(),
                       grid_[(step + 1) % 2].data(), in_.stencil_side, in_.stencil_side);
        return;
      case Computation::gemm:
        for (int time = 0; time < in_.gemm_times; ++time)
          multiply(in_.a.data(), in_.b.data(), product_.data(), in_.gemm_side);
        return;
      case Computation::nbody:
        return attract(bodies_, forces_.data(), in_.bodies);
      case Computation::reduce:
        for (int time = 0; time < in_.sum_times; ++time)
          sum_ = sum_of(in_.numbers.data(), in_.sum_count);
        return;
      case Computation::transpose:
        for (int time = 0; time < in_.transpose_times; ++time)
          turn(in_.matrix.data(), turned_.data(), in_.transpose_side);
        return;
    }
  }

  std::vector<float> answer(Computation what) override {
    switch (what) {
      case Computation::stencil:
        return grid_[in_.stencil_steps % 2];
      case Computation::gemm:
        return product_;
      case Computation::nbody:
        return forces_;
      case Computation::reduce:
        return {sum_};
      case Computation::transpose:
        return turned_;
    }
    return {};
  }

 private:
  const Inputs& in_;
  Bodies bodies_;
  std::array<std::vector<float>, 2> grid_;
  std::vector<float> product_, forces_, turned_;
  float sum_ = 0;
};

}  // namespace

std::unique_ptr<Contestant> make_plain(const Inputs& inputs) {
  return std::make_unique<Plain>(inputs);
}

}  // namespace sluice::bench
