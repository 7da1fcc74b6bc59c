#include "device.cuh"
#include "ptx.cuh"

namespace sluice::gpu_probe {
namespace {

// Counts cycles over a stretch of the common clock, both read by one thread.
__global__ void count_cycles(long long cycles, unsigned long long* nanoseconds,
                             unsigned long long* counted) {
  const unsigned long long begin = global_nanoseconds();
  const long long start = clock64();
  stay_busy(cycles);
  *counted = static_cast<unsigned long long>(clock64() - start);
  *nanoseconds = global_nanoseconds() - begin;
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "reading a device attribute");
  return value;
}

// The clock in the driver's tables is a limit; the one at work is what turns cycles into time.
double measured_cycles_per_ns() {
  constexpr long long stretch = 20'000'000;  // about 10 ms
  Buffer<unsigned long long> result(2);
  for (int i = 0; i < 3; ++i) {  // the first ones wake a GPU that was idle
    count_cycles<<<1, 1>>>(stretch, result.get(), result.get() + 1);
    check(cudaGetLastError(), "launching the clock's kernel");
  }
  const std::vector<unsigned long long> counts = result.download();
  if (counts[0] == 0) {
    throw ProbeFailure("the GPU's global timer stands still");
  }
  return static_cast<double>(counts[1]) / static_cast<double>(counts[0]);
}

}  // namespace

void check(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) {
    throw ProbeFailure(std::string(doing) + " failed: " + cudaGetErrorString(error) + " (" +
                       cudaGetErrorName(error) + ")");
  }
}

long long Device::cycles(double microseconds) const {
  return static_cast<long long>(microseconds * 1000 * cycles_per_ns);
}

int count_devices(std::string& reason) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  if (driver == 0) {
    reason = "no CUDA driver is installed";
    return 0;
  }
  if (error != cudaSuccess) {
    reason = cudaGetErrorString(error);
    return 0;
  }
  if (count == 0) {
    reason = "the driver lists none";
  }
  return count;
}

Device open_device(int index) {
  check(cudaSetDevice(index), "selecting the GPU");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, index), "reading the GPU's properties");
  Device device;
  device.index = index;
  device.name = properties.name;
  device.major = properties.major;
  device.minor = properties.minor;
  device.sm_count = properties.multiProcessorCount;
  device.l2_bytes = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize, index));
  device.cooperative = attribute(cudaDevAttrCooperativeLaunch, index) != 0;
  // Two transfers a clock; kHz times bits over 8 is kB/s.
  device.memory_gb_per_s = 2.0 * attribute(cudaDevAttrMemoryClockRate, index) *
                           attribute(cudaDevAttrGlobalMemoryBusWidth, index) / 8 / 1e6;
  char bus[32] = {};
  check(cudaDeviceGetPCIBusId(bus, sizeof bus, index), "asking for the PCI bus id");
  device.bus = bus;
  device.cycles_per_ns = measured_cycles_per_ns();
  return device;
}

Stopwatch::Stopwatch(const Stream& stream) : stream_(stream.get()) {
  check(cudaEventCreate(&begin_), "making an event");
  check(cudaEventCreate(&end_), "making an event");
}

Stopwatch::~Stopwatch() {
  static_cast<void>(cudaEventDestroy(begin_));
  static_cast<void>(cudaEventDestroy(end_));
}

void Stopwatch::start() {
  check(cudaEventRecord(begin_, stream_), "recording an event");
}

double Stopwatch::stop() {
  check(cudaEventRecord(end_, stream_), "recording an event");
  check(cudaEventSynchronize(end_), "running a kernel");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading the time between events");
  return 1000.0 * milliseconds;
}

}  // namespace sluice::gpu_probe
