// What both stencil programs share: options, the CPU reference and the report.
#pragma once

#include "../common/sample.hpp"

struct Options {
  int size = 1024;  // cells in each direction
  int iterations = 100;
  int block_x = 32;
  int block_y = 8;
};

// The largest size keeps a cell's index within an int.
inline std::vector<sample::Option> option_list(Options& options) {
  return {{"size", {&options.size}, 3, 32768},
          {"iterations", {&options.iterations}, 1, 1000000},
          {"block", {&options.block_x, &options.block_y}, 1, 1024}};
}

inline void require_block(const Options& options) {
  sample::require(options.block_x * options.block_y <= 1024, "a block has at most 1024 threads");
}

inline std::vector<float> start_pattern(int n) {
  return sample::pattern(static_cast<size_t>(n) * n);
}

inline void reference_rows(const float* __restrict in, float* __restrict out, int n, int first,
                           int end) {
  for (int y = first; y < end; ++y) {
    const float* row = in + static_cast<size_t>(y) * n;
    float* result = out + static_cast<size_t>(y) * n;
    for (int x = 1; x < n - 1; ++x) {
      result[x] = 0.2f * (row[x] + row[x - 1] + row[x + 1] + row[x - n] + row[x + n]);
    }
  }
}

// reference() computes on the CPU what the kernel computes.
inline std::vector<float> reference(const Options& options) {
  const int n = options.size;
  std::vector<float> in = start_pattern(n);
  std::vector<float> out = in;
  for (int t = 0; t < options.iterations; ++t) {
    sample::in_parts(n - 2, n, [&](int first, int end) {
      reference_rows(in.data(), out.data(), n, 1 + first, 1 + end);
    });
    in.swap(out);
  }
  return in;
}

// report() compares `result` with the reference bit for bit, prints the one line of the program
// and returns its exit status. `seconds` is the time of all iterations on the device.
inline int report(const Options& options, const std::vector<float>& result, double seconds) {
  const std::string shape =
      sample::shape_text("size", options.size, "iterations", options.iterations) +
      " block=" + std::to_string(options.block_x) + "x" + std::to_string(options.block_y);
  return sample::report(shape, result, [&] { return reference(options); }, seconds);
}
