// CUDA's own mathematical functions, compiled by nvcc, lifted and run on the host, against the
// host's library: long chains of every kind of arithmetic, in which one wrong instruction shows.
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ptx/corpus.hpp"
#include "ptx/lift/lift_on_host.hpp"

namespace sluice::ptx::test {
namespace {

constexpr const char* names[] = {"exp",    "exp2",   "expm1", "log",   "log2",  "log1p",
                                 "sin",    "cos",    "tan",   "atan",  "atan2", "sinh",
                                 "tanh",   "pow",    "fmod",  "hypot", "cbrt",  "erf",
                                 "tgamma", "lgamma", "sqrt",  "round", "rint",  "quotient"};
constexpr size_t count = std::size(names);

std::vector<double> expected(double x, double y) {
  const double magnitude = std::fabs(x);
  return {std::exp(x),
          std::exp2(x),
          std::expm1(x),
          std::log(magnitude),
          std::log2(magnitude),
          std::log1p(magnitude),
          std::sin(x),
          std::cos(x),
          std::tan(x),
          std::atan(x),
          std::atan2(x, y),
          std::sinh(x),
          std::tanh(x),
          std::pow(magnitude, y),
          std::fmod(x, y),
          std::hypot(x, y),
          std::cbrt(x),
          std::erf(x),
          std::tgamma(magnitude),
          std::lgamma(x),
          std::sqrt(magnitude),
          std::round(x),
          std::nearbyint(x),
          x / y};
}

// expect_near() allows CUDA's documented errors (at most a few units in the last place), and as
// much for the rounding of the argument's image.
void expect_near(double got, double wanted, double unit, const std::string& what) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got)) << what << ": " << got;
  } else if (std::isinf(wanted)) {
    EXPECT_EQ(got, wanted) << what;
  } else {
    EXPECT_NEAR(got, wanted, 12 * unit * std::fabs(wanted) + unit * unit) << what;
  }
}

template <class Float>
void check(const char* kernel, const std::vector<Float>& xs, const std::vector<Float>& ys) {
  const HostKernel functions(read_text(corpus_path("math_functions")), kernel);
  const double unit = std::numeric_limits<Float>::epsilon();
  for (Float x : xs) {
    for (Float y : ys) {
      std::vector<Float> values(count + 2);
      values[0] = x;
      values[1] = y;
      std::vector<uint64_t> memory((values.size() * sizeof(Float) + 7) / 8);
      std::memcpy(memory.data(), values.data(), values.size() * sizeof(Float));
      functions.run(memory);
      std::memcpy(values.data(), memory.data(), values.size() * sizeof(Float));
      const std::vector<double> wanted = expected(x, y);
      for (size_t i = 0; i < count; ++i) {
        // What overflows as a float is infinite there.
        expect_near(
            values[i + 2], static_cast<double>(static_cast<Float>(wanted[i])), unit,
            std::string(names[i]) + "(" + std::to_string(x) + ", " + std::to_string(y) + ")");
      }
    }
  }
}

TEST(LiftMath, FloatFunctions) {
  check<float>(
      "float_functions",
      {0.0F, 1.0F, -1.0F, 0.5F, -0.3F, 2.5F, -7.75F, 20.0F, 88.0F, -100.0F, 123456.0F, 1e10F, 1e-5F,
       std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()},
      {1.0F, 2.5F, -0.75F, 3.0F});
}

TEST(LiftMath, DoubleFunctions) {
  check<double>("double_functions",
                {0.0, 1.0, -1.0, 0.5, -0.3, 2.5, -7.75, 20.0, 700.0, -100.0, 123456.0, 1e15, 1e-5,
                 std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()},
                {1.0, 2.5, -0.75, 3.0});
}

}  // namespace
}  // namespace sluice::ptx::test
