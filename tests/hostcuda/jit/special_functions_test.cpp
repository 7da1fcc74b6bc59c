// Special functions that are code in line, within the errors that PTX allows.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

// function_kernel() has an instruction such as ex2.approx.f32.
std::string function_kernel(const std::string& instruction) {
  return R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .b32 %t, %b, %n, %x;
.reg .b64 %p, %q, %o;
mov.u32 %t, %tid.x;
mov.u32 %b, %ctaid.x;
mov.u32 %n, %ntid.x;
mad.lo.u32 %t, %b, %n, %t;
ld.param.u64 %p, [in];
ld.param.u64 %q, [out];
mul.wide.u32 %o, %t, 4;
add.u64 %p, %p, %o;
add.u64 %q, %q, %o;
ld.global.b32 %x, [%p];
)" + instruction +
         R"( %x, %x;
st.global.b32 [%q], %x;
exit;
})";
}

std::vector<float> results_of(const std::string& instruction, std::vector<float> in) {
  Kernels kernels(compile_text(function_kernel(instruction)));
  const size_t count = in.size();
  in.resize((count + 255) / 256 * 256);
  std::vector<float> out(in.size());
  kernels.run("k", {static_cast<uint32_t>(in.size() / 256)}, {256}, 0, in.data(), out.data());
  out.resize(count);
  return out;
}

std::vector<float> powers_of_two(const std::vector<float>& in, const std::string& form = "") {
  return results_of("ex2.approx" + form + ".f32", in);
}

// floats_of_all_kinds() is every 4,099th float of all there are.
std::vector<float> floats_of_all_kinds() {
  std::vector<float> in;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4099)
    in.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  in.push_back(std::numeric_limits<float>::infinity());
  return in;
}

TEST(SpecialFunctions, Ex2LiesWithinItsError) {
  const std::vector<float> in = floats_of_all_kinds();
  const std::vector<float> out = powers_of_two(in);
  for (size_t i = 0; i < in.size(); ++i) {
    const double wanted = std::exp2(static_cast<double>(in[i]));
    if (std::isnan(in[i])) {
      ASSERT_TRUE(std::isnan(out[i])) << in[i];
    } else if (wanted > std::numeric_limits<float>::max()) {
      ASSERT_EQ(out[i], std::numeric_limits<float>::infinity()) << in[i];
    } else {
      const double error = wanted < 0x1p-126 ? 0x1p-149 : wanted * 0x1p-22;
      ASSERT_NEAR(out[i], wanted, error) << in[i];
    }
  }
}

TEST(SpecialFunctions, Ex2FlushedIsEx2WithZerosForWhatIsBelowNormalNumbers) {
  std::vector<float> in = floats_of_all_kinds();
  for (float x = -130; x < 130; x += 0.015625F)
    in.push_back(x);
  for (const uint32_t bits : {0x7FFFFFFFU, 0x7FC00000U, 0xFFC00001U, 0x7F800001U})
    in.push_back(std::bit_cast<float>(bits));
  in.push_back(-126.0F);
  const std::vector<float> plain = powers_of_two(in);
  const std::vector<float> flushed = powers_of_two(in, ".ftz");
  for (size_t i = 0; i < in.size(); ++i) {
    if (std::isnan(in[i])) {
      ASSERT_TRUE(std::isnan(flushed[i])) << in[i];
    } else {
      ASSERT_EQ(flushed[i], plain[i] < 0x1p-126F ? 0 : plain[i]) << in[i];
    }
  }
}

TEST(SpecialFunctions, Ex2OfWholeNumbersIsExact) {
  std::vector<float> in;
  for (int power = -160; power < 352; ++power)
    in.push_back(static_cast<float>(power));
  const std::vector<float> out = powers_of_two(in);
  for (size_t i = 0; i < in.size(); ++i)
    ASSERT_EQ(out[i], static_cast<float>(std::ldexp(1.0, static_cast<int>(in[i])))) << in[i];
}

TEST(SpecialFunctions, Lg2LiesWithinItsError) {
  std::vector<float> in = floats_of_all_kinds();
  for (uint32_t bits = 0x3F000000; bits < 0x40000000; bits += 97)
    in.push_back(std::bit_cast<float>(bits));
  in.push_back(1.0F);
  const std::vector<float> out = results_of("lg2.approx.f32", in);
  for (size_t i = 0; i < in.size(); ++i) {
    const double wanted = std::log2(static_cast<double>(in[i]));
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(out[i])) << in[i];
    } else if (std::isinf(wanted)) {
      ASSERT_EQ(out[i], wanted) << in[i];
    } else {
      ASSERT_NEAR(out[i], wanted, std::max(std::abs(wanted), 1.0) * 0x1p-22) << in[i];
    }
  }
}

TEST(SpecialFunctions, Lg2FlushedTakesWhatIsBelowNormalNumbersForZero) {
  const std::vector<float> in(256, 0x1p-130F);
  EXPECT_EQ(results_of("lg2.approx.f32", in)[0], -130.0F);
  EXPECT_EQ(results_of("lg2.approx.ftz.f32", in)[0], -std::numeric_limits<float>::infinity());
}

TEST(SpecialFunctions, SinAndCosLieWithinTheirError) {
  std::vector<float> in = floats_of_all_kinds();
  for (float x = -1000; x < 1000; x += 0.0073F)
    in.push_back(x);
  in.push_back(-0.0F);
  const std::vector<float> sines = results_of("sin.approx.f32", in);
  const std::vector<float> cosines = results_of("cos.approx.ftz.f32", in);
  for (size_t i = 0; i < in.size(); ++i) {
    const double x = in[i];
    if (!std::isfinite(x)) {
      ASSERT_TRUE(std::isnan(sines[i]) && std::isnan(cosines[i])) << x;
    } else if (std::abs(x) > 1000) {
      ASSERT_LE(std::abs(sines[i]), 1) << x;
      ASSERT_LE(std::abs(cosines[i]), 1) << x;
    } else {
      const double error = std::abs(x) < 1 ? std::abs(x) * 0x1p-22 : 0x1p-22;
      ASSERT_NEAR(sines[i], std::sin(x), error) << x;
      ASSERT_EQ(std::signbit(sines[i]), std::signbit(static_cast<float>(std::sin(x)))) << x;
      ASSERT_NEAR(cosines[i], std::cos(x), 0x1p-22) << x;
    }
  }
}

TEST(SpecialFunctions, TanhLiesWithinItsError) {
  std::vector<float> in = floats_of_all_kinds();
  for (float x = -10; x < 10; x += 0.00037F)
    in.push_back(x);
  in.push_back(-0.0F);
  const std::vector<float> out = results_of("tanh.approx.f32", in);
  for (size_t i = 0; i < in.size(); ++i) {
    if (std::isnan(in[i])) {
      ASSERT_TRUE(std::isnan(out[i])) << in[i];
      continue;
    }
    const double wanted = std::tanh(static_cast<double>(in[i]));
    ASSERT_NEAR(out[i], wanted, std::max(std::abs(wanted) * 0x1p-17, 0x1p-149)) << in[i];
    ASSERT_EQ(std::signbit(out[i]), std::signbit(in[i])) << in[i];
  }
}

}  // namespace
}  // namespace sluice::hostcuda
