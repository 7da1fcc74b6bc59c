// Double arithmetic in directed rounding modes, against the host's own modes.
#include <bit>
#include <cfenv>
#include <cmath>
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

std::vector<double> values() {
  using Limits = std::numeric_limits<double>;
  return {0.0,
          -0.0,
          1.0,
          -1.0,
          1.0 / 3,
          -2.0 / 7,
          0x1p-1074,
          -0x1p-1074,
          0x1p-1022,
          -0x1.8p-1022,
          0x1.234p-540,
          1e300,
          -1e300,
          1e-300,
          Limits::max(),
          -Limits::max(),
          0x1.fffffffffffffp+0,
          3.0,
          Limits::infinity(),
          -Limits::infinity(),
          Limits::quiet_NaN(),
          0x1p52 + 1};
}

template <class Function>
double in_mode(int mode, double a, double b, double c, Function function) {
  const volatile double x = a;
  const volatile double y = b;
  const volatile double z = c;
  const int before = std::fegetround();
  std::fesetround(mode);
  const volatile double result = function(double{x}, double{y}, double{z});
  std::fesetround(before);
  return result;
}

// expect_directed() runs one operation on all pairs of values, one thread each.
template <class Function>
void expect_directed(const char* opcode, const char* sources, Function reference) {
  const std::vector<double> all = values();
  const double third = 0x1.8p-30;
  for (const Mode& mode : modes) {
    const std::unique_ptr<CompiledModule> module = compile_text(fmt::format(
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 left, .param .u64 right, .param .u64 out, .param .f64 c) "
        "{{\n"
        ".reg .b32 %r<2>; .reg .b64 %rd<9>; .reg .f64 %fd<5>;\n"
        "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 8;\n"
        "ld.param.u64 %rd2, [left]; add.u64 %rd3, %rd2, %rd1; ld.global.f64 %fd1, [%rd3];\n"
        "ld.param.u64 %rd4, [right]; add.u64 %rd5, %rd4, %rd1; ld.global.f64 %fd2, [%rd5];\n"
        "ld.param.f64 %fd3, [c];\n"
        "{}.{}.f64 %fd4, {};\n"
        "ld.param.u64 %rd6, [out]; add.u64 %rd7, %rd6, %rd1; st.global.f64 [%rd7], %fd4;\n"
        "ret;\n}}\n",
        opcode, mode.name, sources));
    ASSERT_NE(module, nullptr);
    const auto threads = static_cast<uint32_t>(all.size() * all.size());
    std::vector<double> left, right, out(threads);
    for (double a : all) {
      for (double b : all) {
        left.push_back(a);
        right.push_back(b);
      }
    }
    const Result<SluiceBlockCode> code = module->block_code("k", {threads}, 0);
    ASSERT_TRUE(code) << code.error().line();
    struct {
      const double* left;
      const double* right;
      double* out;
      double third;
    } const parameters{left.data(), right.data(), out.data(), third};
    const SluiceBlockLaunch launch{&parameters, {1, 1, 1}, 0};
    std::vector<std::byte> scratch(code->scratch_bytes + 64);
    void* aligned = scratch.data();
    size_t room = scratch.size();
    std::align(64, code->scratch_bytes, aligned, room);
    code->function(&launch, 0, 1, aligned);
    for (size_t i = 0; i < threads; ++i) {
      const double expected = in_mode(mode.host, left[i], right[i], third, reference);
      const bool same = std::bit_cast<uint64_t>(out[i]) == std::bit_cast<uint64_t>(expected) ||
                        (std::isnan(out[i]) && std::isnan(expected));
      ASSERT_TRUE(same) << opcode << "." << mode.name << " of " << left[i] << " and " << right[i]
                        << ": " << out[i] << " instead of " << expected;
    }
    ASSERT_EQ(std::fegetround(), FE_TONEAREST);
  }
}

TEST(JitRounding, MultipliesAndDividesDoublesInDirectedModes) {
  expect_directed("mul", "%fd1, %fd2", [](double a, double b, double) { return a * b; });
  expect_directed("div", "%fd1, %fd2", [](double a, double b, double) { return a / b; });
}

TEST(JitRounding, AddsDoublesInDirectedModes) {
  expect_directed("add", "%fd1, %fd2", [](double a, double b, double) { return a + b; });
  expect_directed("sub", "%fd1, %fd2", [](double a, double b, double) { return a - b; });
}

TEST(JitRounding, FusesDoublesInDirectedModes) {
  expect_directed("fma", "%fd1, %fd2, %fd3",
                  [](double a, double b, double c) { return std::fma(a, b, c); });
}

TEST(JitRounding, TakesRootsAndReciprocalsInDirectedModes) {
  expect_directed("sqrt", "%fd1", [](double a, double, double) { return std::sqrt(a); });
  expect_directed("rcp", "%fd1", [](double a, double, double) { return 1.0 / a; });
}

}  // namespace
}  // namespace sluice::hostcuda
