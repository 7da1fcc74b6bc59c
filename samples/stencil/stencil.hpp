// What both stencil programs share: options, the start pattern, the CPU reference and the report.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

struct Options {
  int size = 1024;  // cells in each direction
  int iterations = 100;
  int block_x = 32;
  int block_y = 8;
};

// The largest size keeps a cell's index within an int.
inline constexpr int max_size = 32768;
inline constexpr int max_iterations = 1000000;
inline constexpr int max_threads = 1024;  // in a block

inline bool parse_number(const char* text, char end, int max, int& value, const char** rest) {
  char* stop = nullptr;
  long number = *text >= '0' && *text <= '9' ? std::strtol(text, &stop, 10) : 0;
  if (number < 1 || number > max || *stop != end) return false;
  value = static_cast<int>(number);
  if (rest != nullptr) *rest = stop + 1;
  return true;
}

inline bool parse_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    std::string name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    const char* second = nullptr;
    bool good = false;
    if (name == "--size") {
      good = parse_number(value, '\0', max_size, options.size, nullptr) && options.size >= 3;
    } else if (name == "--iterations") {
      good = parse_number(value, '\0', max_iterations, options.iterations, nullptr);
    } else if (name == "--block") {
      good = parse_number(value, ',', max_threads, options.block_x, &second) &&
             parse_number(second, '\0', max_threads, options.block_y, nullptr) &&
             options.block_x * options.block_y <= max_threads;
    }
    if (!good) {
      std::fprintf(stderr,
                   "usage: %s [--size N] [--iterations T] [--block X,Y]   (3 <= N <= %d, "
                   "1 <= T <= %d, X*Y <= %d)\n",
                   argv[0], max_size, max_iterations, max_threads);
      return false;
    }
  }
  return true;
}

// start_pattern() fills an n x n grid with values in [0, 1) that look random and never change.
inline std::vector<float> start_pattern(int n) {
  std::vector<float> grid(static_cast<size_t>(n) * n);
  for (size_t i = 0; i < grid.size(); ++i) {
    uint32_t hash = static_cast<uint32_t>(i) * 2654435761u;
    hash = (hash ^ (hash >> 15)) * 2246822519u;
    grid[i] = static_cast<float>((hash ^ (hash >> 13)) >> 8) / 16777216.0f;
  }
  return grid;
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

// reference() computes on the CPU what the kernel computes, the rows spread over all cores.
inline std::vector<float> reference(const Options& options) {
  const int n = options.size;
  std::vector<float> in = start_pattern(n);
  std::vector<float> out = in;
  // A thread is worth starting for about 64 thousand cells.
  size_t wanted = in.size() / 65536;
  size_t cores = std::thread::hardware_concurrency();
  int parts = static_cast<int>(wanted < cores ? wanted : cores);
  if (parts < 1) parts = 1;
  for (int t = 0; t < options.iterations; ++t) {
    auto part = [&](int p) {
      int rows = n - 2;
      reference_rows(in.data(), out.data(), n, 1 + static_cast<int>(int64_t{rows} * p / parts),
                     1 + static_cast<int>(int64_t{rows} * (p + 1) / parts));
    };
    std::vector<std::thread> threads;
    for (int p = 1; p < parts; ++p)
      threads.emplace_back(part, p);
    part(0);
    for (std::thread& thread : threads)
      thread.join();
    in.swap(out);
  }
  return in;
}

// checksum() is 64-bit FNV-1a over the bytes of the grid.
inline uint64_t checksum(const std::vector<float>& grid) {
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(grid.data());
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < grid.size() * sizeof(float); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  }
  return hash;
}

// report() compares `result` with the CPU reference bit for bit, prints the one line of the program
// and returns its exit status. `seconds` is the time of all iterations on the device.
inline int report(const char* program, const Options& options, const std::vector<float>& result,
                  double seconds) {
  const std::vector<float> expected = reference(options);
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::memcmp(&expected[i], &result[i], sizeof(float)) != 0) {
      std::printf("FAIL %s size=%d iterations=%d block=%dx%d: cell (%d, %d) is %.9g, not %.9g\n",
                  program, options.size, options.iterations, options.block_x, options.block_y,
                  static_cast<int>(i % options.size), static_cast<int>(i / options.size),
                  static_cast<double>(result[i]), static_cast<double>(expected[i]));
      return 1;
    }
  }
  std::printf("PASS %s size=%d iterations=%d block=%dx%d checksum=%016llx seconds=%.6f\n", program,
              options.size, options.iterations, options.block_x, options.block_y,
              static_cast<unsigned long long>(checksum(result)), seconds);
  return 0;
}
