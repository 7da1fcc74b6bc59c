// What all probes use on the host side of CUDA: checked calls, memory, timing and the GPU's facts.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace sluice::gpu_probe {

// Each case runs twice to warm up and then so often; the issue asks for 20 and an odd number makes
// the median one of the samples.
constexpr int warm_ups = 2;
constexpr int repeats = 21;

// A probe that can't go on: a CUDA call failed, a wait ran out, or a result is wrong.
class ProbeFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// check() throws ProbeFailure if a CUDA call failed; `doing` completes "... failed".
void check(cudaError_t error, const char* doing);

// The GPU and what was read from it. Nothing of it is ever set.
struct Device {
  int index = 0;
  int major = 0;
  int minor = 0;
  int sm_count = 0;
  std::string name;
  std::string bus;
  std::size_t l2_bytes = 0;
  double memory_gb_per_s = 0;  // from clock and bus width; 0 where the driver does not say
  double cycles_per_ns = 0;    // the SM clock while it worked, by measurement
  bool cooperative = false;

  // cycles() converts microseconds at the measured clock.
  long long cycles(double microseconds) const;
};

// count_devices() is 0 without a driver or a GPU; `reason` then says which of the two in one line.
int count_devices(std::string& reason);

// open_device() selects a GPU, reads its facts and measures its clock.
Device open_device(int index);

// resident_blocks() is how many blocks of a kernel fit on one SM at once, at least 1.
template <class Kernel>
int resident_blocks(Kernel* kernel, int threads) {
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0),
        "asking for occupancy");
  if (blocks < 1) {
    throw ProbeFailure("a kernel does not fit on an SM");
  }
  return blocks;
}

// Device memory, cleared, freed at the end of the scope.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(T)), "allocating device memory");
    clear();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  // An error here would only repeat one that a checked call reports.
  ~Buffer() { static_cast<void>(cudaFree(data_)); }

  T* get() const { return data_; }
  std::size_t size() const { return count_; }
  void clear() { check(cudaMemset(data_, 0, count_ * sizeof(T)), "clearing device memory"); }
  void upload(const std::vector<T>& values) {
    check(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
          "copying to the device");
  }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost),
          "copying from the device");
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// A stream of its own, for capture and timing.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "running a kernel"); }

 private:
  cudaStream_t stream_ = nullptr;
};

// Time between two points of a stream, in microseconds, by events.
class Stopwatch {
 public:
  explicit Stopwatch(const Stream& stream);
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch();
  void start();
  // stop() waits for the work between the two points and returns its time.
  double stop();

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

// measure() calls a function that returns one sample: warm_ups times for nothing, then repeats
// times.
template <class Sample>
std::vector<double> measure(Sample&& sample) {
  for (int i = 0; i < warm_ups; ++i) {
    static_cast<void>(sample());
  }
  std::vector<double> samples;
  for (int i = 0; i < repeats; ++i) {
    samples.push_back(sample());
  }
  return samples;
}

}  // namespace sluice::gpu_probe
