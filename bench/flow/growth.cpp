// How what a launch costs grows with what a program does: with the launches between two
// synchronisations, the blocks of a launch, the streams and the threads. Each point runs by the CPU
// device's own functions and by Sluice's in turn, in one process. Prints one JSON object.
//
//   growth [ROUNDS [AXIS]]    rounds of an axis, its points in turn, 7 where not given; what is
//                             printed are medians. AXIS: launches, blocks, streams or threads alone
//
// Three figures a launch: the time until all is done, the processor time of the threads that launch
// (which a longer execution does not change), and by how much Sluice's run raised the process's
// memory above what the plain run left.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "random_programs/driver_api.hpp"

namespace sluice {
namespace {

using random_programs::DriverApi;

struct Shape {
  uint32_t launches = 1000;  // between two synchronisations, by each thread
  uint32_t blocks = 64;
  uint32_t streams = 1;  // of each thread, in turn
  uint32_t threads = 1;
};

struct Cost {
  double seconds = 0;       // a launch, until all is done
  double host_seconds = 0;  // a launch, of the launching thread
  double megabytes = 0;     // more memory than before
};

constexpr uint32_t block_threads = 32;

double now(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t whole = 0;
  uint64_t resident = 0;
  file >> whole >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Device is one of the two drivers with the kernel loaded.
class Device {
 public:
  Device(const std::string& library, const std::string& ptx) : api_(DriverApi::open(library)) {
    api_.check(api_.cuInit(0), "cuInit");
    api_.check(api_.cuDevicePrimaryCtxRetain(&context_, 0), "cuDevicePrimaryCtxRetain");
    enter();
    CUmodule module = nullptr;
    api_.check(api_.cuModuleLoadData(&module, ptx.c_str()), "cuModuleLoadData");
    api_.check(api_.cuModuleGetFunction(&map_, module, "map"), "cuModuleGetFunction");
  }
  void enter() const { api_.check(api_.cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }
  const DriverApi& api() const { return api_; }
  CUfunction map() const { return map_; }

 private:
  DriverApi api_;
  CUcontext context_ = nullptr;
  CUfunction map_ = nullptr;
};

// Chain is a stream with two buffers between which launches go back and forth.
class Chain {
 public:
  Chain(const Device& device, uint32_t blocks)
      : device_(device), blocks_(blocks), words_(blocks * block_threads) {
    const DriverApi& api = device.api();
    api.check(api.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    for (CUdeviceptr& buffer : buffers_) {
      api.check(api.cuMemAlloc_v2(&buffer, words_ * sizeof(uint32_t)), "cuMemAlloc");
      api.check(api.cuMemsetD32_v2(buffer, 1, words_), "cuMemsetD32");
    }
    api.check(api.cuCtxSynchronize(), "cuCtxSynchronize");
  }
  ~Chain() {
    for (CUdeviceptr buffer : buffers_)
      device_.api().cuMemFree_v2(buffer);
    device_.api().cuStreamDestroy_v2(stream_);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  void launch() {
    uint32_t salt = ++launches_;
    void* parameters[] = {&buffers_[salt % 2], &buffers_[(salt + 1) % 2], &words_, &salt};
    device_.api().check(device_.api().cuLaunchKernel(device_.map(), blocks_, 1, 1, block_threads, 1,
                                                     1, 0, stream_, parameters, nullptr),
                        "cuLaunchKernel");
  }

 private:
  const Device& device_;
  uint32_t blocks_;
  uint32_t words_;
  uint32_t launches_ = 0;
  CUstream stream_ = nullptr;
  CUdeviceptr buffers_[2] = {};
};

// Buffers are new in each run; what their first launches cost, of which short runs would have more
// than long ones, is no growth.
void launch_first(const Device& device, std::vector<std::unique_ptr<Chain>>& chains) {
  constexpr int new_launches = 4;
  for (int i = 0; i < new_launches; ++i) {
    for (const std::unique_ptr<Chain>& chain : chains)
      chain->launch();
  }
  device.api().check(device.api().cuCtxSynchronize(), "cuCtxSynchronize");
}

// launch_groups() is one thread's part: groups of launches, the device idle after each.
void launch_groups(const Device& device, const Shape& shape, uint32_t groups,
                   std::vector<std::unique_ptr<Chain>>& chains, Cost& cost) {
  device.enter();
  for (uint32_t group = 0; group < groups; ++group) {
    const double start = now(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t i = 0; i < shape.launches; ++i)
      chains[i % chains.size()]->launch();
    cost.host_seconds += now(CLOCK_THREAD_CPUTIME_ID) - start;
    if (group + 1 == groups) cost.megabytes = resident_megabytes();
    device.api().check(device.api().cuCtxSynchronize(), "cuCtxSynchronize");
  }
}

Cost run(const Device& device, const Shape& shape, uint32_t launches) {
  const uint32_t groups = std::max(1U, launches / shape.threads / shape.launches);
  std::vector<std::vector<std::unique_ptr<Chain>>> chains(shape.threads);
  for (auto& of_thread : chains) {
    for (uint32_t i = 0; i < shape.streams; ++i)
      of_thread.push_back(std::make_unique<Chain>(device, shape.blocks));
  }
  for (auto& of_thread : chains)
    launch_first(device, of_thread);
  const double before = resident_megabytes();
  std::vector<Cost> costs(shape.threads);
  const double start = now(CLOCK_MONOTONIC);
  std::vector<std::thread> threads;
  for (uint32_t i = 1; i < shape.threads; ++i) {
    threads.emplace_back([&, i] { launch_groups(device, shape, groups, chains[i], costs[i]); });
  }
  launch_groups(device, shape, groups, chains[0], costs[0]);
  for (std::thread& thread : threads)
    thread.join();
  const double all = static_cast<double>(shape.threads) * groups * shape.launches;
  Cost whole{.seconds = (now(CLOCK_MONOTONIC) - start) / all};
  for (const Cost& cost : costs) {
    whole.host_seconds += cost.host_seconds / all;
    whole.megabytes = std::max(whole.megabytes, cost.megabytes - before);
  }
  return whole;
}

struct Point {
  uint32_t value = 0;
  Shape shape;
  uint32_t launches = 0;  // in all
  std::vector<double> seconds[2] = {}, host[2] = {};
  double megabytes = 0;
};

// measure() lets the points take turns, so that what else the machine does meets all alike: what
// one figure is beside another of its axis is what counts.
nlohmann::json measure(const Device& plain, const Device& under, const std::string& axis,
                       std::vector<Point> points, int rounds) {
  for (int round = 0; round <= rounds; ++round) {
    std::cerr << "\rgrowth: " << axis << ", round " << round << " of " << rounds << "      "
              << std::flush;
    for (Point& point : points) {
      const Cost costs[] = {run(plain, point.shape, point.launches),
                            run(under, point.shape, point.launches)};
      point.megabytes = std::max(point.megabytes, costs[1].megabytes);
      if (round == 0) continue;  // code is compiled, kernels are analysed
      for (int i = 0; i < 2; ++i) {
        point.seconds[i].push_back(costs[i].seconds);
        point.host[i].push_back(costs[i].host_seconds);
      }
    }
  }
  nlohmann::json figures;
  for (const Point& point : points) {
    figures.push_back({{"value", point.value},
                       {"plain_us", 1e6 * median(point.seconds[0])},
                       {"sluice_us", 1e6 * median(point.seconds[1])},
                       {"plain_host_us", 1e6 * median(point.host[0])},
                       {"sluice_host_us", 1e6 * median(point.host[1])},
                       {"sluice_memory_megabytes", point.megabytes}});
  }
  return figures;
}

}  // namespace
}  // namespace sluice

int main(int argument_count, char** arguments) {
  using namespace sluice;
  const int rounds = argument_count > 1 ? std::max(1, std::atoi(arguments[1])) : 7;
  setenv("SLUICE_DEVICE", "cpu", 1);
  std::ifstream file(SLUICE_BENCH_PTX, std::ios::binary);
  const std::string ptx(std::istreambuf_iterator<char>(file), {});
  const Device plain(SLUICE_BENCH_DRIVER, ptx);
  const Device under(SLUICE_BENCH_SHIM, ptx);
  std::map<std::string, std::vector<Point>> axes;
  for (const uint32_t launches : {10U, 100U, 1000U, 10'000U, 100'000U})
    axes["launches"].push_back({launches, {.launches = launches}, std::max(2000U, launches)});
  for (const uint32_t blocks : {1U, 10U, 100U, 1000U, 10'000U, 100'000U, 1'000'000U}) {
    axes["blocks"].push_back(
        {blocks, {.launches = 100, .blocks = blocks}, blocks < 100'000 ? 2000U : 100U});
  }
  for (const uint32_t streams : {1U, 2U, 4U, 8U, 16U, 32U, 64U})
    axes["streams"].push_back({streams, {.launches = 1024, .streams = streams}, 4096});
  for (const uint32_t threads : {1U, 2U, 4U, 8U, 16U})
    axes["threads"].push_back({threads, {.launches = 500, .threads = threads}, 8000});
  nlohmann::json figures;
  for (const auto& [axis, points] : axes) {
    if (argument_count <= 2 || axis == arguments[2])
      figures[axis] = measure(plain, under, axis, points, rounds);
  }
  std::cerr << "\n";
  std::cout << nlohmann::json{{"rounds", rounds}, {"axes", figures}}.dump(1) << "\n";
  return 0;
}
