// What Sluice adds to a launch that the program waits for before it makes the next one, over a
// GPU's driver that runs nothing: processor time of the launching thread, with the shim and without
// it in turn. Prints one line.
//
//   waited_launches [PAIRS]   41 pairs where not given; what is printed are medians
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

namespace {

constexpr int launches = 20'000;
constexpr const char* ptx = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry step(.param .u64 p, .param .u64 q, .param .u32 n)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [q];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r2, %r2, 64, %r3;
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra done;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r4, [%rd1];
  st.global.u32 [%rd2], %r4;
done:
  ret;
}
)";

// Driver is one of the two, with the kernel loaded.
class Driver {
 public:
  explicit Driver(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) {
      std::fprintf(stderr, "waited_launches: %s\n", dlerror());
      std::exit(1);
    }
    launch_ = find(&cuLaunchKernel, "cuLaunchKernel");
    wait_ = find(&cuStreamSynchronize, "cuStreamSynchronize");
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    find(&cuInit, "cuInit")(0);
    find(&cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")(&context, 0);
    find(&cuCtxSetCurrent, "cuCtxSetCurrent")(context);
    find(&cuModuleLoadData, "cuModuleLoadData")(&module, ptx);
    find(&cuModuleGetFunction, "cuModuleGetFunction")(&step_, module, "step");
    for (CUdeviceptr& buffer : buffers_)
      find(&cuMemAlloc, "cuMemAlloc_v2")(&buffer, size_t{4} * cells);
  }

  // Nanoseconds of this thread for each launch.
  double measure() const {
    unsigned n = cells;
    timespec began = {};
    timespec ended = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    for (int i = 0; i < launches; ++i) {
      CUdeviceptr from = buffers_[i % 2];
      CUdeviceptr to = buffers_[1 - i % 2];
      void* parameters[] = {&from, &to, &n};
      launch_(step_, cells / 64, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr);
      wait_(nullptr);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    return (1e9 * static_cast<double>(ended.tv_sec - began.tv_sec) +
            static_cast<double>(ended.tv_nsec - began.tv_nsec)) /
           launches;
  }

 private:
  static constexpr unsigned cells = 64 * 64;

  template <class Call>
  Call* find(Call* /*type*/, const char* name) const {
    return reinterpret_cast<Call*>(dlsym(library_, name));
  }

  void* library_;
  decltype(&cuLaunchKernel) launch_ = nullptr;
  decltype(&cuStreamSynchronize) wait_ = nullptr;
  CUfunction step_ = nullptr;
  CUdeviceptr buffers_[2] = {};
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  // Where the shim finds the stand-in is read when a process starts.
  if (std::getenv("SLUICE_DEVICE") == nullptr) {
    setenv("SLUICE_DEVICE", "gpu", 1);
    setenv("LD_LIBRARY_PATH", SLUICE_BENCH_STAND_IN, 1);
    setenv("SLUICE_MEGAKERNEL", "background", 0);
    execv("/proc/self/exe", argv);
    return 1;
  }
  const int pairs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 41;
  const Driver plain(SLUICE_BENCH_STAND_IN "/libcuda.so.1");
  const Driver sluice(SLUICE_BENCH_SHIM);
  sluice.measure();
  std::vector<double> with;
  std::vector<double> without;
  std::vector<double> added;
  for (int i = 0; i < pairs; ++i) {
    without.push_back(plain.measure());
    with.push_back(sluice.measure());
    added.push_back(with.back() - without.back());
  }
  std::printf(
      "a launch and a wait for it: %.1f ns, %.1f ns with Sluice; it adds %.1f ns (%d pairs)\n",
      median(without), median(with), median(added), pairs);
}
