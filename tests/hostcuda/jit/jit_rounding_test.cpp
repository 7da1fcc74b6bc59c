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

// expect_directed() runs one operation on all pairs of values, one thread each.
template <class Real, class Function>
void expect_directed(const char* opcode, const char* sources, Function reference) {
  std::vector<Real> left;
  std::vector<Real> right;
  for (Real a : values<Real>()) {
    for (Real b : values<Real>()) {
      left.push_back(a);
      right.push_back(b);
    }
  }
  const Real third = Real{1.5} / (1 << 30);
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
