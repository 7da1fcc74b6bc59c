// Lifted arithmetic in the directed rounding modes, against the host's own modes.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

struct Mode {
  const char* name;
  int host;
};
constexpr Mode modes[] = {{"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

// in_mode() computes in a rounding mode of the host; operands and results pass through volatile
// variables, so that the compiler computes nothing before or after.
template <class Value, class Function>
Value in_mode(int mode, Value a, Value b, Value c, Function function) {
  volatile Value x = a;
  volatile Value y = b;
  volatile Value z = c;
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile Value result =
      function(static_cast<Value>(x), static_cast<Value>(y), static_cast<Value>(z));
  std::fesetround(before);
  return result;
}

bool same(float got, float expected) {
  return bits(got) == bits(expected) || (std::isnan(got) && std::isnan(expected));
}

// values() are the edges and some that leave rests when added, multiplied and divided.
std::vector<float> values() {
  std::vector<float> all = float_edges();
  for (float value : {1.0F / 3, -0x1.fffffep-3F, 1.1754945e-38F, 3e-39F, 12582913.0F, 252.0F,
                      1.0000001F, -1e38F, 0x1p-149F, 0x1.000002p+0F, 2.7182817F}) {
    all.push_back(value);
  }
  return all;
}

template <class Function>
void expect_float(const std::string& opcode, const std::string& sources, Function reference) {
  for (const Mode& mode : modes) {
    const Operation operation(opcode + "." + mode.name + ".f32 %f9, " + sources + ";", "%f9");
    const float third = 0x1.8p-20F;
    for (float a : values()) {
      for (float b : values()) {
        const float expected = in_mode<float>(mode.host, a, b, third, reference);
        const float got = as_float(operation(bits(a), bits(b), bits(third)));
        ASSERT_TRUE(same(got, expected)) << opcode << "." << mode.name << " " << a << ", " << b
                                         << ": " << got << " instead of " << expected;
      }
    }
  }
}

TEST(LiftRounding, SumsAndDifferences) {
  expect_float("add", "%f0, %f1", [](float a, float b, float) { return a + b; });
  expect_float("sub", "%f0, %f1", [](float a, float b, float) { return a - b; });
}

TEST(LiftRounding, ProductsAndQuotients) {
  expect_float("mul", "%f0, %f1", [](float a, float b, float) { return a * b; });
  expect_float("div", "%f0, %f1", [](float a, float b, float) { return a / b; });
}

TEST(LiftRounding, FusedMultiplyAdd) {
  expect_float("fma", "%f0, %f1, %f2", [](float a, float b, float c) { return std::fma(a, b, c); });
  expect_float("fma", "%f0, %f1, %f0", [](float a, float b, float) { return std::fma(a, b, a); });
  expect_float("fma", "%f0, %f2, %f1", [](float a, float b, float c) { return std::fma(a, c, b); });
}

TEST(LiftRounding, RootsAndReciprocals) {
  expect_float("sqrt", "%f0", [](float a, float, float) { return std::sqrt(a); });
  expect_float("rcp", "%f0", [](float a, float, float) { return 1.0F / a; });
}

TEST(LiftRounding, SumsOfDoubles) {
  for (const Mode& mode : modes) {
    const Operation operation("add." + std::string(mode.name) + ".f64 %fd9, %fd0, %fd1;", "%fd9");
    for (double a : double_edges()) {
      for (double b : double_edges()) {
        const double expected =
            in_mode<double>(mode.host, a, b, 0.0, [](double x, double y, double) { return x + y; });
        const uint64_t got = operation(bits(a), bits(b));
        ASSERT_TRUE(got == bits(expected) || (std::isnan(as_double(got)) && std::isnan(expected)))
            << mode.name << " " << a << ", " << b;
      }
    }
  }
}

template <class Float, class Integer>
void expect_integer(const std::string& types, const std::string& operands,
                    const std::string& result) {
  for (const Mode& mode : modes) {
    const Operation operation("cvt." + std::string(mode.name) + types + operands, result);
    std::vector<uint64_t> integers = integer_edges();
    for (uint64_t extra : {0x1000001ULL, 0x20000000000001ULL, 0xFFFFFF7FFFFFFFFFULL}) {
      integers.push_back(extra);
    }
    for (uint64_t value : integers) {
      volatile auto source = static_cast<Integer>(value);
      std::fesetround(mode.host);
      volatile auto expected = static_cast<Float>(source);
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(operation(value), bits(static_cast<Float>(expected)))
          << types << mode.name << value;
    }
  }
}

TEST(LiftRounding, Integers) {
  expect_integer<float, int32_t>(".f32.s32", " %f9, %r0;", "%f9");
  expect_integer<float, uint32_t>(".f32.u32", " %f9, %r0;", "%f9");
  expect_integer<float, int64_t>(".f32.s64", " %f9, %rd0;", "%f9");
  expect_integer<double, int64_t>(".f64.s64", " %fd9, %rd0;", "%fd9");
}

}  // namespace
}  // namespace sluice::ptx::test
