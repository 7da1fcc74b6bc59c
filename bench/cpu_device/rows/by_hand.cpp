// Compiled in several ways: SLUICE_BENCH_FORM is the namespace.
#include "by_hand.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include <omp.h>

#include "sizes.hpp"

namespace sluice::bench::SLUICE_BENCH_FORM {
namespace {

void sum_of_squares(const float* in, float* out, int count) {
  float sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (int i = 0; i < count; ++i)
    sum += in[i] * in[i];
  *out = sum;
}

void softmax(const float* in, float* out, int rows) {
#pragma omp parallel for schedule(static)
  for (int row = 0; row < rows; ++row) {
    const float* from = in + static_cast<size_t>(row) * row_width;
    float* to = out + static_cast<size_t>(row) * row_width;
    float most = from[0];
#pragma omp simd reduction(max : most)
    for (int i = 0; i < row_width; ++i)
      most = std::max(most, from[i]);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < row_width; ++i) {
      to[i] = std::exp(from[i] - most);
      sum += to[i];
    }
    for (int i = 0; i < row_width; ++i)
      to[i] /= sum;
  }
}

void layer_norm(const float* in, float* out, int rows) {
#pragma omp parallel for schedule(static)
  for (int row = 0; row < rows; ++row) {
    const float* from = in + static_cast<size_t>(row) * row_width;
    float* to = out + static_cast<size_t>(row) * row_width;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < row_width; ++i)
      sum += from[i];
    const float mean = sum / row_width;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int i = 0; i < row_width; ++i)
      squares += (from[i] - mean) * (from[i] - mean);
    const float scale = 1 / std::sqrt(squares / row_width + 1e-5f);
    for (int i = 0; i < row_width; ++i)
      to[i] = (from[i] - mean) * scale;
  }
}

void rms_norm(const float* in, float* out, int rows) {
#pragma omp parallel for schedule(static)
  for (int row = 0; row < rows; ++row) {
    const float* from = in + static_cast<size_t>(row) * row_width;
    float* to = out + static_cast<size_t>(row) * row_width;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int i = 0; i < row_width; ++i)
      squares += from[i] * from[i];
    const float scale = 1 / std::sqrt(squares / row_width + 1e-5f);
    for (int i = 0; i < row_width; ++i)
      to[i] = from[i] * scale;
  }
}

void attention(const float* in, float* out, int count) {
  const float* keys = in + static_cast<size_t>(count) * head_width;
  const float* values = keys + static_cast<size_t>(count) * head_width;
#pragma omp parallel for schedule(static)
  for (int query = 0; query < count; ++query) {
    const float* own = in + static_cast<size_t>(query) * head_width;
    std::array<float, head_width> sum{};
    float most = -1e30f;
    float weight = 0;
    for (int k = 0; k < count; ++k) {
      float score = 0;
#pragma omp simd reduction(+ : score)
      for (int i = 0; i < head_width; ++i)
        score += own[i] * keys[k * head_width + i];
      const float now = std::max(most, score);
      const float before = std::exp(most - now);
      const float here = std::exp(score - now);
      most = now;
      weight = weight * before + here;
      for (int i = 0; i < head_width; ++i)
        sum[i] = sum[i] * before + here * values[k * head_width + i];
    }
    for (int i = 0; i < head_width; ++i)
      out[query * head_width + i] = sum[i] / weight;
  }
}

void histogram(const float* in, float* out, int count) {
  std::array<int, 256> bins{};
#pragma omp parallel
  {
    std::array<int, 256> own{};
#pragma omp for schedule(static)
    for (int i = 0; i < count; ++i)
      ++own[static_cast<int>(in[i] * 255) & 255];
#pragma omp critical
    for (size_t bin = 0; bin < own.size(); ++bin)
      bins[bin] += own[bin];
  }
  std::memcpy(out, bins.data(), sizeof bins);
}

void gelu(const float* in, float* out, int count) {
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < count; ++i) {
    const float x = in[i];
    out[i] = 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
  }
}

float normal(float x) {
  return 0.5f * std::erfc(-x * 0.70710678f);
}

void black_scholes(const float* in, float* out, int count) {
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < count; ++i) {
    const float price = 5 + 25 * in[i];
    const float strike = 1 + 99 * in[count + i];
    const float years = 0.25f + 9 * in[2 * count + i];
    const float root = std::sqrt(years);
    const float d1 = (std::log(price / strike) + (rate + 0.5f * volatility * volatility) * years) /
                     (volatility * root);
    const float d2 = d1 - volatility * root;
    out[i] = price * normal(d1) - strike * std::exp(-rate * years) * normal(d2);
  }
}

// The streams are of doubles.
const double* doubles(const float* data) {
  return reinterpret_cast<const double*>(data);
}
double* doubles(float* data) {
  return reinterpret_cast<double*>(data);
}

void stream_copy(const float* in, float* out, int count) {
  const double* from = doubles(in);
  double* to = doubles(out);
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < count; ++i)
    to[i] = from[i];
}

void stream_add(const float* in, float* out, int count) {
  const double* from = doubles(in);
  double* to = doubles(out);
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < count; ++i)
    to[i] = from[i] + from[count + i];
}

void stream_triad(const float* in, float* out, int count) {
  const double* from = doubles(in);
  double* to = doubles(out);
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < count; ++i)
    to[i] = from[i] + 0.4 * from[count + i];
}

void stream_dot(const float* in, float* out, int count) {
  const double* from = doubles(in);
  double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (int i = 0; i < count; ++i)
    sum += from[i] * from[count + i];
  *doubles(out) = sum;
}

void stencil(const float* in, float* out, int side) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < side; ++y) {
    const float* row = in + static_cast<size_t>(y) * side;
    float* target = out + static_cast<size_t>(y) * side;
    const auto edge = [&](int x) {
      float sum = row[x];
      if (x > 0) sum += row[x - 1];
      if (x < side - 1) sum += row[x + 1];
      if (y > 0) sum += row[x - side];
      if (y < side - 1) sum += row[x + side];
      target[x] = sum * 0.2f;
    };
    if (y == 0 || y == side - 1) {
      for (int x = 0; x < side; ++x)
        edge(x);
      continue;
    }
    edge(0);
    for (int x = 1; x < side - 1; ++x)
      target[x] = (row[x] + row[x - 1] + row[x + 1] + row[x - side] + row[x + side]) * 0.2f;
    edge(side - 1);
  }
}

void look_up(const float* in, float* out, int count) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; ++i) {
    const int found =
        static_cast<int>(std::lower_bound(in, in + table_size, in[table_size + i]) - in);
    std::memcpy(out + i, &found, sizeof found);
  }
}

void scan_segments(const float* in, float* out, int count) {
#pragma omp parallel for schedule(static)
  for (int begin = 0; begin < count; begin += segment_length)
    std::inclusive_scan(in + begin, in + begin + segment_length, out + begin);
}

void sort_segments(const float* in, float* out, int count) {
#pragma omp parallel for schedule(static)
  for (int begin = 0; begin < count; begin += segment_length) {
    std::copy_n(in + begin, segment_length, out + begin);
    std::sort(out + begin, out + begin + segment_length);
  }
}

void reduce_all(const float* in, float* out, int count) {
  constexpr int part = 1 << 16;
  float sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int begin = 0; begin < count; begin += part)
    sum += std::reduce(in + begin, in + std::min(begin + part, count));
  *out = sum;
}

constexpr std::pair<std::string_view, ByHand> all[] = {
    {"sum_atomic", sum_of_squares},
    {"softmax_warp", softmax},
    {"layer_norm_block", layer_norm},
    {"rms_norm_warp", rms_norm},
    {"attention", attention},
    {"histogram_shared", histogram},
    {"histogram_global", histogram},
    {"gelu", gelu},
    {"black_scholes", black_scholes},
    {"stream_copy", stream_copy},
    {"stream_add", stream_add},
    {"stream_triad", stream_triad},
    {"stream_dot", stream_dot},
    {"linear_stencil", stencil},
    {"look_up", look_up},
    {"scan_segments", scan_segments},
    {"sort_segments", sort_segments},
    {"reduce_all", reduce_all},
};

}  // namespace

ByHand by_hand(const char* kernel) {
  for (const auto& [name, function] : all) {
    if (name == kernel) return function;
  }
  return nullptr;
}

}  // namespace sluice::bench::SLUICE_BENCH_FORM
