#include "runtime/races/traced_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "megakernel/host/scratch.hpp"
#include "runtime/check/byte_runs.hpp"

namespace sluice::runtime {
namespace {

// TracedRun is a launch on its way.
struct TracedRun {
  Device& device;
  SluiceBlockCode code;
  std::vector<std::byte> parameters;
  Dim3 grid;
  uint32_t dynamic_shared_bytes = 0;
  std::shared_ptr<TracedBytes> traced;
  ByteCollector reads = {}, writes = {}, atomics = {};

  static void heard(void* run, uint64_t address, uint64_t bytes, uint32_t kind, uint32_t /*line*/) {
    auto& self = *static_cast<TracedRun*>(run);
    const auto first = static_cast<int64_t>(address);
    const int64_t end = first + static_cast<int64_t>(bytes);
    if ((kind & SLUICE_ACCESS_ATOMIC) != 0) {
      self.atomics.add(first, end);
      return;
    }
    if ((kind & SLUICE_ACCESS_READ) != 0) self.reads.add(first, end);
    if ((kind & SLUICE_ACCESS_WRITE) != 0) self.writes.add(first, end);
  }

  void run() {
    const SluiceBlockLaunch launch = {
        parameters.data(), {grid.x, grid.y, grid.z}, dynamic_shared_bytes, 0};
    megakernel::Scratch scratch;
    void* const memory = scratch.reserve(code.scratch_bytes);
    const SluiceAccessSink sink{&TracedRun::heard, this};
    device.set_access_sink(&sink);
    code.function(&launch, 0, static_cast<uint32_t>(grid.count()), memory);
    device.set_access_sink(nullptr);
    traced->give(
        {ByteIntervals(reads.take()), ByteIntervals(writes.take()), ByteIntervals(atomics.take())});
  }
};

}  // namespace

std::optional<int> run_traced(Device& device, const Known& launch,
                              const std::shared_ptr<TracedBytes>& traced) {
  const LaunchCall& call = *launch.kernel.call;
  const Result<SluiceBlockCode> code =
      device.traced_block_code(call.function, call.block, call.dynamic_shared_bytes);
  if (!code || code->waits_for_blocks != 0) return std::nullopt;
  const auto run = std::make_shared<TracedRun>(
      TracedRun{.device = device,
                .code = *code,
                .parameters = {launch.kernel.parameters.begin(), launch.kernel.parameters.end()},
                .grid = call.grid,
                .dynamic_shared_bytes = call.dynamic_shared_bytes,
                .traced = traced});
  const WithoutWaiting scope(device);
  if (device.enqueue(call.stream, [run] { run->run(); }) != 0) return std::nullopt;
  return 0;
}

}  // namespace sluice::runtime
