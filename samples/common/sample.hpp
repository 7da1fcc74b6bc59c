// What the samples share: options, start patterns, device memory, timing, comparison and the
// report.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace sample {

// The name of the program, for its one line of output. parse_options() sets it.
inline std::string& program() {
  static std::string name = "sample";
  return name;
}

[[noreturn]] inline void fail(const char* what, cudaError_t error) {
  std::printf("FAIL %s: %s: %s\n", program().c_str(), what, cudaGetErrorString(error));
  std::exit(1);
}

#define CHECK(call)                                         \
  do {                                                      \
    const cudaError_t status = (call);                      \
    if (status != cudaSuccess) sample::fail(#call, status); \
  } while (0)

// An Option is `--name A` or `--name A,B,...`: as many numbers as `values`, each within min..max.
struct Option {
  const char* name;
  std::vector<int*> values;
  int min = 1;
  int max = 1 << 20;
};

[[noreturn]] inline void usage(const std::vector<Option>& options) {
  std::fprintf(stderr, "usage: %s", program().c_str());
  for (const Option& option : options) {
    std::fprintf(stderr, " [--%s ", option.name);
    for (size_t i = 0; i < option.values.size(); ++i)
      std::fprintf(stderr, "%sN", i == 0 ? "" : ",");
    std::fprintf(stderr, "]");
  }
  std::fprintf(stderr, "  (");
  for (const Option& option : options) {
    std::fprintf(stderr, "%s%d <= %s <= %d", &option == &options.front() ? "" : ", ", option.min,
                 option.name, option.max);
  }
  std::fprintf(stderr, ")\n");
  std::exit(2);
}

inline bool parse_values(const char* text, const Option& option) {
  for (size_t i = 0; i < option.values.size(); ++i) {
    if (*text < '0' || *text > '9') return false;
    char* stop = nullptr;
    const long number = std::strtol(text, &stop, 10);
    if (number < option.min || number > option.max) return false;
    if (*stop != (i + 1 < option.values.size() ? ',' : '\0')) return false;
    *option.values[i] = static_cast<int>(number);
    text = stop + 1;
  }
  return true;
}

// Whether report() computes what is expected on the host, 0 or 1: for large sizes that takes longer
// than the program. parse_options() sets it.
inline int& checks() {
  static int set = 1;
  return set;
}

// parse_options() reads the command line, or prints the usage and exits with 2.
inline void parse_options(const char* name, int argc, char** argv, std::vector<Option> options) {
  program() = name;
  options.push_back({"check", {&checks()}, 0, 1});
  for (int i = 1; i < argc; i += 2) {
    bool good = false;
    for (const Option& option : options) {
      if (std::string("--") + option.name == argv[i] && i + 1 < argc) {
        good = parse_values(argv[i + 1], option);
      }
    }
    if (!good) usage(options);
  }
}

// require() refuses options that are each in range but do not go together, with exit status 2.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", program().c_str(), what);
  std::exit(2);
}

inline unsigned divide_up(unsigned a, unsigned b) {
  return (a + b - 1) / b;
}

// pattern() is `count` values in [0, 1) that look random and never change; `seed` tells them apart.
inline std::vector<float> pattern(size_t count, uint32_t seed = 0) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    uint32_t hash = (static_cast<uint32_t>(i) + seed * 40503u) * 2654435761u;
    hash = (hash ^ (hash >> 15)) * 2246822519u;
    values[i] = static_cast<float>((hash ^ (hash >> 13)) >> 8) / 16777216.0f;
  }
  return values;
}

// in_parts() calls part(first, end) for pieces of 0 .. count - 1 on all cores. `work` is the number
// of values each index computes: few values are not worth a thread.
inline void in_parts(int count, size_t work, const std::function<void(int, int)>& part) {
  const size_t wanted = static_cast<size_t>(count) * work / 65536;
  const size_t cores = std::thread::hardware_concurrency();
  int parts = static_cast<int>(wanted < cores ? wanted : cores);
  if (parts < 1) parts = 1;
  const auto bound = [&](int p) { return static_cast<int>(int64_t{count} * p / parts); };
  std::vector<std::thread> threads;
  for (int p = 1; p < parts; ++p) {
    threads.emplace_back([&, p] { part(bound(p), bound(p + 1)); });
  }
  part(0, bound(1));
  for (std::thread& thread : threads)
    thread.join();
}

// Device memory for `count` values; free it with cudaFree().
inline float* allocate(size_t count) {
  float* values = nullptr;
  CHECK(cudaMalloc(&values, count * sizeof(float)));
  return values;
}

inline void upload(const std::vector<float>& values, float* copy) {
  CHECK(cudaMemcpy(copy, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
}
inline float* upload(const std::vector<float>& values) {
  float* copy = allocate(values.size());
  upload(values, copy);
  return copy;
}

inline std::vector<float> download(const float* values, size_t count) {
  std::vector<float> copy(count);
  CHECK(cudaMemcpy(copy.data(), values, count * sizeof(float), cudaMemcpyDeviceToHost));
  return copy;
}

// Stopwatch measures what is launched between its construction and seconds(), which waits for it.
class Stopwatch {
 public:
  Stopwatch() {
    CHECK(cudaEventCreate(&start_));
    CHECK(cudaEventCreate(&stop_));
    CHECK(cudaEventRecord(start_));
  }
  double seconds() {
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop_));
    CHECK(cudaDeviceSynchronize());
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
    CHECK(cudaEventDestroy(start_));
    CHECK(cudaEventDestroy(stop_));
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

// Repeats is how often a program's loop is run and timed, each time from the same data, and whether
// its launches are captured once and given as one graph.
struct Repeats {
  int rounds = 1;
  int graph = 0;
};

// with_repeats() adds the options that set them.
inline std::vector<Option> with_repeats(std::vector<Option> options, Repeats& repeats) {
  options.push_back({"rounds", {&repeats.rounds}, 1, 1000});
  options.push_back({"graph", {&repeats.graph}, 0, 1});
  return options;
}

// timed() runs `launches(stream)` as often as `repeats` says, `reset()` before each time but the
// first, and returns the seconds of the fastest: the first may load code.
template <class Reset, class Launches>
double timed(const Repeats& repeats, Reset&& reset, Launches&& launches) {
  cudaStream_t stream = nullptr;
  cudaGraphExec_t graph = nullptr;
  if (repeats.graph != 0) {
    cudaGraph_t captured;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launches(stream);
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphInstantiate(&graph, captured, 0));
    CHECK(cudaGraphDestroy(captured));
  }
  double best = 0;
  for (int round = 0; round < repeats.rounds; ++round) {
    if (round > 0) reset();
    Stopwatch watch;
    if (graph != nullptr) {
      CHECK(cudaGraphLaunch(graph, stream));
    } else {
      launches(stream);
    }
    const double seconds = watch.seconds();
    if (round == 0 || seconds < best) best = seconds;
  }
  if (graph != nullptr) {
    CHECK(cudaGraphExecDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
  }
  return best;
}

// checksum() is 64-bit FNV-1a over the bytes of the values.
inline uint64_t checksum(const std::vector<float>& values) {
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(values.data());
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < values.size() * sizeof(float); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  }
  return hash;
}

// report() compares the result with what `reference()` computes on the host, prints the one line of
// the program and returns its exit status. A `tolerance` of 0 means bit for bit; else it is
// relative to the largest value expected. `shape` is the options, as text. With `--check 0` nothing
// is compared.
template <class Reference, class = std::enable_if_t<std::is_invocable_v<Reference>>>
int report(const std::string& shape, const std::vector<float>& result, Reference&& reference,
           double seconds, double tolerance = 0) {
  const std::vector<float> expected = checks() != 0 ? reference() : std::vector<float>();
  double largest = 0;
  for (const float value : expected)
    largest = std::fmax(largest, std::fabs(value));
  for (size_t i = 0; i < expected.size(); ++i) {
    const bool good = tolerance == 0 ? std::memcmp(&expected[i], &result[i], sizeof(float)) == 0
                                     : std::fabs(result[i] - expected[i]) <= tolerance * largest;
    if (good) continue;
    std::printf("FAIL %s %s: value %zu is %.9g, not %.9g\n", program().c_str(), shape.c_str(), i,
                static_cast<double>(result[i]), static_cast<double>(expected[i]));
    return 1;
  }
  std::printf("%s %s %s checksum=%016llx seconds=%.6f\n", checks() != 0 ? "PASS" : "DONE",
              program().c_str(), shape.c_str(), static_cast<unsigned long long>(checksum(result)),
              seconds);
  return 0;
}

// The same where the expected values are at hand.
inline int report(const std::string& shape, const std::vector<float>& result,
                  const std::vector<float>& expected, double seconds, double tolerance = 0) {
  return report(shape, result, [&] { return expected; }, seconds, tolerance);
}

// shape_text() joins what is reported of the options: shape_text("size", 64, "steps", 3).
inline std::string shape_text() {
  return {};
}
template <class... Rest>
std::string shape_text(const char* name, int value, Rest... rest) {
  std::string text = std::string(name) + "=" + std::to_string(value);
  if constexpr (sizeof...(rest) > 0) text += ' ' + shape_text(rest...);
  return text;
}

}  // namespace sample
