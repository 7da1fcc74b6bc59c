// Arithmetic in directed rounding modes, against the host's own modes.
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

struct Mode {
  const char* name;
  int host;
};
constexpr Mode modes[] = {{"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

template <class Real>
std::vector<Real> values() {
  using Limits = std::numeric_limits<Real>;
  return {Real{0},
          -Real{0},
          Real{1},
          Real{-1},
          Real{1} / 3,
          Real{-2} / 7,
          Limits::denorm_min(),
          -Limits::denorm_min(),
          Limits::min(),
          Limits::min() * -Real{1.5},
          std::sqrt(Limits::min()) / 1024,
          Limits::max() / 97,
          Limits::max() / -97,
          Limits::min() * 97,
          Limits::max(),
          -Limits::max(),
          2 - Limits::epsilon(),
          Real{3},
          Limits::infinity(),
          -Limits::infinity(),
          Limits::quiet_NaN(),
          1 / Limits::epsilon() + 1};
}

template <class Real, class Function>
Real in_mode(int mode, Real a, Real b, Real c, Function function) {
  const volatile Real x = a;
  const volatile Real y = b;
  const volatile Real z = c;
  const int before = std::fegetround();
  std::fesetround(mode);
  const volatile Real result = function(Real{x}, Real{y}, Real{z});
  std::fesetround(before);
  return result;
}

template <class Real>
std::string kernel_text(std::string_view instruction, const char* sources) {
  const int bits = 8 * sizeof(Real);
  return fmt::format(
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u64 left, .param .u64 right, .param .u64 out, .param .f{0} c) "
      "{{\n"
      ".reg .b32 %r<2>; .reg .b64 %rd<9>; .reg .f{0} %a, %b, %c, %d;\n"
      "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, {1};\n"
      "ld.param.u64 %rd2, [left]; add.u64 %rd3, %rd2, %rd1; ld.global.f{0} %a, [%rd3];\n"
      "ld.param.u64 %rd4, [right]; add.u64 %rd5, %rd4, %rd1; ld.global.f{0} %b, [%rd5];\n"
      "ld.param.f{0} %c, [c];\n"
      "{2}.f{0} %d, {3};\n"
      "ld.param.u64 %rd6, [out]; add.u64 %rd7, %rd6, %rd1; st.global.f{0} [%rd7], %d;\n"
      "ret;\n}}\n",
      bits, sizeof(Real), instruction, sources);
}

template <class Real>
bool are_same(Real a, Real b) {
  return std::memcmp(&a, &b, sizeof(Real)) == 0 || (std::isnan(a) && std::isnan(b));
}

template <class Real>
struct Pairs {
  std::vector<Real> left;
  std::vector<Real> right;
  void add(Real a, Real b) {
    left.push_back(a);
    right.push_back(b);
  }
};

// expect_directed() runs one operation on all pairs, one thread each.
template <class Real, class Function>
void expect_directed(const char* opcode, const char* sources, Function reference,
                     const Pairs<Real>& pairs, Real third) {
  const auto& [left, right] = pairs;
  for (const Mode& mode : modes) {
    const std::string instruction = fmt::format("{}.{}", opcode, mode.name);
    Kernels kernels(compile_text(kernel_text<Real>(instruction, sources)));
    std::vector<Real> out(left.size());
    kernels.run("k", {1, 1, 1}, {static_cast<uint32_t>(left.size()), 1, 1}, 0, left.data(),
                right.data(), out.data(), third);
    for (size_t i = 0; i < out.size(); ++i) {
      const Real expected = in_mode(mode.host, left[i], right[i], third, reference);
      ASSERT_TRUE(are_same(out[i], expected))
          << instruction << " of " << left[i] << " and " << right[i] << ": " << out[i]
          << " instead of " << expected;
    }
    ASSERT_EQ(std::fegetround(), FE_TONEAREST);
  }
}

template <class Real, class Function>
void expect_directed(const char* opcode, const char* sources, Function reference) {
  Pairs<Real> pairs;
  for (Real a : values<Real>()) {
    for (Real b : values<Real>())
      pairs.add(a, b);
  }
  expect_directed(opcode, sources, reference, pairs, Real{1.5} / (1 << 30));
}

TEST(JitRounding, MultipliesAndDividesInDirectedModes) {
  const auto product = [](auto a, auto b, auto) { return a * b; };
  const auto quotient = [](auto a, auto b, auto) { return a / b; };
  expect_directed<double>("mul", "%a, %b", product);
  expect_directed<float>("mul", "%a, %b", product);
  expect_directed<double>("div", "%a, %b", quotient);
  expect_directed<float>("div", "%a, %b", quotient);
}

TEST(JitRounding, AddsInDirectedModes) {
  const auto sum = [](auto a, auto b, auto) { return a + b; };
  const auto difference = [](auto a, auto b, auto) { return a - b; };
  expect_directed<double>("add", "%a, %b", sum);
  expect_directed<float>("add", "%a, %b", sum);
  expect_directed<double>("sub", "%a, %b", difference);
  expect_directed<float>("sub", "%a, %b", difference);
}

TEST(JitRounding, FusesInDirectedModes) {
  const auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
  expect_directed<double>("fma", "%a, %b, %c", fused);
  expect_directed<float>("fma", "%a, %b, %c", fused);
}

// As expf() of CUDA has it, whose addend is large: the numbers around the borders of what is
// computed in floats alone where the processor has no instruction for it.
TEST(JitRounding, FusesSmallProductsWithLargeAddendsInDirectedModes) {
  const float step = std::numeric_limits<float>::epsilon();
  Pairs<float> pairs;
  for (float b : {252.0F, 1.0F, 1 + step, -1.5F, 0.99F, 3145728.25F, 3145729.0F, -3145728.25F}) {
    for (float a : {0.0F, 0x1p-149F, 0x1.8p-148F, 0x1p-126F, 0x1p-30F, 0x1.8p-24F, 0.25F, 0.5F,
                    1 - step / 2, 1.0F, 1 + step, 2 - step, 2.0F, 7.0F, -0x1p-149F, -0.3F})
      pairs.add(a, b);
    for (int i = 0; i < 40; ++i)
      pairs.add(static_cast<float>(i) / 37 * 1.1F, b);
  }
  const auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
  for (float c : {12582913.0F, 4.0F, 0x1p125F, 0x1p126F, 0x1p127F, -12582913.0F})
    expect_directed<float>("fma", "%a, %b, %c", fused, pairs, c);
}

TEST(JitRounding, TakesRootsAndReciprocalsInDirectedModes) {
  const auto root = [](auto a, auto, auto) { return std::sqrt(a); };
  const auto reciprocal = [](auto a, auto, auto) { return 1 / a; };
  expect_directed<double>("sqrt", "%a", root);
  expect_directed<float>("sqrt", "%a", root);
  expect_directed<double>("rcp", "%a", reciprocal);
  expect_directed<float>("rcp", "%a", reciprocal);
}

}  // namespace
}  // namespace sluice::hostcuda
