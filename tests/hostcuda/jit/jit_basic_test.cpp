// Kernels without barriers compute, bit by bit, what plain loops compute.
#include <cmath>
#include <cstdint>

#include <gmock/gmock.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

using testing::ElementsAreArray;

std::vector<float> numbers(size_t count) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = std::sin(static_cast<float>(i) * 0.37f) * 100.0f;
  return result;
}

uint32_t blocks_for(uint32_t size, uint32_t block) {
  return (size + block - 1) / block;
}

class JitBasic : public testing::Test {
 protected:
  Kernels kernels{"jit_basic"};
};

TEST_F(JitBasic, AddsVectorsOfRaggedLength) {
  for (uint32_t n : {1u, 31u, 256u, 1000u}) {
    for (uint32_t block : {1u, 32u, 96u, 256u, 1024u}) {
      const std::vector<float> a = numbers(n);
      const std::vector<float> b(a.rbegin(), a.rend());
      std::vector<float> c(n + 8, -1.0f);
      kernels.run("vector_add", {blocks_for(n, block)}, {block}, 0, a.data(), b.data(), c.data(),
                  static_cast<int>(n));
      for (uint32_t i = 0; i < n; ++i)
        ASSERT_EQ(c[i], a[i] + b[i]) << i << " of " << n;
      for (uint32_t i = n; i < n + 8; ++i)
        ASSERT_EQ(c[i], -1.0f);
    }
  }
}

TEST_F(JitBasic, StridesOverTheGrid) {
  std::vector<float> data = numbers(5000);
  std::vector<float> expected = data;
  for (float& value : expected)
    value *= 1.5f;
  kernels.run("scale_strided", {7}, {96}, 0, data.data(), 1.5f, 5000u);
  EXPECT_THAT(data, ElementsAreArray(expected));
}

std::vector<float> guarded_reference(const std::vector<float>& in, int width, int height) {
  std::vector<float> out(in.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int at = y * width + x;
      float sum = in[at];
      if (x > 0) sum += in[at - 1];
      if (x < width - 1) sum += in[at + 1];
      if (y > 0) sum += in[at - width];
      if (y < height - 1) sum += in[at + width];
      out[at] = sum * 0.2f;
    }
  }
  return out;
}

struct Case {
  int width, height;
  Dim3 block;
};

const Case cases[] = {{64, 64, {16, 16}}, {64, 64, {32, 8}}, {100, 37, {32, 8}}, {33, 65, {24, 5}},
                      {7, 5, {8, 8}},     {1, 1, {32, 32}},  {130, 9, {128, 1}}, {9, 130, {1, 64}}};

TEST_F(JitBasic, StencilWithFourGuardsAtEverySize) {
  for (const Case& c : cases) {
    const std::vector<float> in = numbers(static_cast<size_t>(c.width) * c.height);
    std::vector<float> out(in.size(), -1.0f);
    const Dim3 grid = {blocks_for(c.width, c.block.x), blocks_for(c.height, c.block.y)};
    kernels.run("stencil_guarded", grid, c.block, 0, in.data(), out.data(), c.width, c.height);
    EXPECT_THAT(out, ElementsAreArray(guarded_reference(in, c.width, c.height)))
        << c.width << " x " << c.height << ", block " << c.block.x << " x " << c.block.y;
  }
}

TEST_F(JitBasic, StencilOfTheInteriorLeavesTheBorderAlone) {
  for (const Case& c : cases) {
    const std::vector<float> in = numbers(static_cast<size_t>(c.width) * c.height);
    std::vector<float> out(in.size(), -1.0f);
    std::vector<float> expected = out;
    for (int y = 1; y < c.height - 1; ++y) {
      for (int x = 1; x < c.width - 1; ++x) {
        const int at = y * c.width + x;
        expected[at] =
            0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - c.width] + in[at + c.width]);
      }
    }
    const Dim3 grid = {blocks_for(c.width, c.block.x), blocks_for(c.height, c.block.y)};
    kernels.run("stencil_interior", grid, c.block, 0, in.data(), out.data(), c.width, c.height);
    EXPECT_THAT(out, ElementsAreArray(expected)) << c.width << " x " << c.height;
  }
}

TEST_F(JitBasic, StencilInOneDimensionOfDoubles) {
  const int n = 777;
  std::vector<double> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = std::cos(i * 0.1) * 1e3;
  std::vector<double> out(n, 0.0);
  kernels.run("stencil_1d", {7}, {128}, 0, in.data(), out.data(), n);
  for (int i = 1; i < n - 1; ++i)
    ASSERT_EQ(out[i], (in[i - 1] + in[i] + in[i + 1]) / 3.0) << i;
  EXPECT_EQ(out.front(), 0.0);
  EXPECT_EQ(out.back(), 0.0);
}

TEST_F(JitBasic, StencilInThreeDimensions) {
  const int nx = 19, ny = 11, nz = 7;
  const std::vector<float> in = numbers(nx * ny * nz);
  std::vector<float> expected(in.size());
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        const int at = (z * ny + y) * nx + x;
        float sum = in[at] * 2.0f;
        if (x > 0) sum += in[at - 1];
        if (x + 1 < nx) sum += in[at + 1];
        if (y > 0) sum += in[at - nx];
        if (y + 1 < ny) sum += in[at + nx];
        if (z > 0) sum += in[at - nx * ny];
        if (z + 1 < nz) sum += in[at + nx * ny];
        expected[at] = sum;
      }
    }
  }
  for (const Dim3& block : {Dim3{8, 4, 2}, Dim3{4, 4, 4}, Dim3{16, 1, 3}}) {
    std::vector<float> out(in.size(), -1.0f);
    const Dim3 grid = {blocks_for(nx, block.x), blocks_for(ny, block.y), blocks_for(nz, block.z)};
    kernels.run("stencil_3d", grid, block, 0, in.data(), out.data(), nx, ny, nz);
    EXPECT_THAT(out, ElementsAreArray(expected));
  }
}

TEST_F(JitBasic, NumbersThreadsAndBlocksInLinearOrder) {
  for (const Dim3& block : {Dim3{5}, Dim3{1, 6}, Dim3{1, 1, 7}, Dim3{2, 3, 4}}) {
    const Dim3 grid = {3, 2, 4};
    const auto threads = static_cast<uint32_t>(block.count());
    std::vector<uint32_t> out(grid.count() * threads, ~0u);
    kernels.run("identify", grid, block, 0, out.data());
    for (uint32_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], (i / threads) << 16 | i % threads) << i;
    }
    // The same with blocks spread over calls that start anywhere.
    std::vector<uint32_t> spread(out.size(), ~0u);
    kernels.run_on(5, "identify", grid, block, 0, spread.data());
    EXPECT_EQ(spread, out);
  }
}

TEST_F(JitBasic, RoundsTwiceUnlessFused) {
  const int n = 1000;
  const std::vector<float> a = numbers(n);
  const std::vector<float> b(a.rbegin(), a.rend());
  const std::vector<float> c = numbers(n);
  std::vector<float> apart(n), fused(n);
  kernels.run("rounding", {8}, {128}, 0, a.data(), b.data(), c.data(), apart.data(), fused.data(),
              n);
  int different = 0;
  for (int i = 0; i < n; ++i) {
    const float product = a[i] * b[i];
    ASSERT_EQ(apart[i], product + c[i]) << i;
    ASSERT_EQ(fused[i], std::fma(a[i], b[i], c[i])) << i;
    different += apart[i] != fused[i];
  }
  EXPECT_GT(different, 0) << "the operands don't tell the two apart";
}

TEST_F(JitBasic, ComputesDoublesExactly) {
  const int n = 300;
  std::vector<double> in(n), out(n);
  for (int i = 0; i < n; ++i)
    in[i] = i * 1.37 + 0.01;
  kernels.run("doubles", {3}, {128}, 0, in.data(), out.data(), n);
  for (int i = 0; i < n; ++i) {
    const double x = in[i];
    const double expected = std::sqrt(x) / (1.0 + x * x) - std::fma(x, 3.25, -1e-300) +
                            std::nearbyint(x) + static_cast<double>(static_cast<int>(x));
    ASSERT_EQ(out[i], expected) << i;
  }
}

TEST_F(JitBasic, LoopsAsLongAsEachThreadWants) {
  const int n = 200;
  std::vector<uint32_t> in(n), out(n), expected(n);
  for (int i = 0; i < n; ++i) {
    in[i] = static_cast<uint32_t>(i + 1);
    for (uint32_t value = in[i]; value > 1; ++expected[i]) {
      value = value & 1 ? 3 * value + 1 : value / 2;
    }
  }
  kernels.run("collatz", {4}, {64}, 0, in.data(), out.data(), n);
  EXPECT_EQ(out, expected);
}

TEST_F(JitBasic, KnowsItsKernels) {
  EXPECT_THAT(kernels.module().kernel_names(), testing::Contains("stencil_guarded"));
  const Result<KernelFacts> facts = kernels.module().facts("stencil_guarded");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->parameter_bytes, 24u);
  EXPECT_EQ(facts->parameters.at(3).offset, 20u);
  EXPECT_EQ(facts->static_shared_bytes, 0u);
  EXPECT_EQ(facts->max_threads, 1024u);
}

}  // namespace
}  // namespace sluice::hostcuda
