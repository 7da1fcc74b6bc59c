// What one window needs of memory while it runs. Windows that run at once have a lane each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "megakernel/cuda/code_store.hpp"
#include "megakernel/cuda/cuda_driver.hpp"
#include "megakernel/cuda/tables/device_tables.hpp"
#include "megakernel/window.hpp"

namespace sluice::megakernel {

// WindowLane holds device memory for a window's tables and signals, and pinned memory from which
// the tables are copied: a copy from pageable memory would make the launching thread wait for the
// stream. All calls need the context of the first one. Not thread-safe.
class WindowLane {
 public:
  explicit WindowLane(const CudaDriver& driver) : driver_(driver) {}

  // Loaded is what the launch of a window needs.
  struct Loaded {
    SluiceWindow window = {};  // the kernel's parameter
    uint64_t pool_bytes = 0;
    size_t launches = 0;
  };
  struct Options {
    uint32_t stress = 0;
    uint32_t most_polls = 0;
    Workers workers;
    std::span<const uint32_t> renumbered;
  };
  // load() queues in `stream` what brings the window's tables to the device. The window that used
  // the lane before has ended. After an error, or a window that did, call forget_signals().
  CUresult load(const Window& window, const Options& options, CUstream stream, Loaded& loaded);

  // fetch_times() queues, behind the window's launch, what brings back how long its measured tasks
  // took.
  CUresult fetch_times(const Loaded& loaded, CUstream stream);
  // note_times() tells it to the costs of the window's launches. The window has ended.
  void note_times(const Window& window) const;

  // forget_signals() says that nobody knows what flags and counters hold: the next load() clears
  // them.
  void forget_signals();

  // make_event_and_report() makes, once, what tells of the end of what runs in the lane.
  CUresult make_event_and_report();
  // ended() is an event of the lane, made by it or by the first load().
  CUevent ended() const { return ended_; }

  // waited_in_vain() says in words for what a task waited longer than `most_polls`, if one did. The
  // window has ended.
  std::optional<std::string> waited_in_vain() const;

  // free() gives everything back to the driver. Without it nothing is, as where the context has
  // gone with all that was in it.
  void free();

 private:
  // Memory grows when asked to; what it held is lost then.
  struct DeviceMemory {
    CUdeviceptr address = 0;
    size_t bytes = 0;
  };
  struct PinnedMemory {
    void* host = nullptr;
    size_t bytes = 0;
  };

  CUresult reserve(DeviceMemory& memory, size_t bytes, bool& fresh);
  CUresult reserve_signals(DeviceMemory& memory, uint32_t count, CUstream stream, bool& cleared);
  CUresult reserve_pinned(PinnedMemory& memory, size_t bytes);
  CUresult copy(DeviceTables& tables, CUstream stream);

  const CudaDriver& driver_;
  SignalMemory signals_;
  bool knows_signals_ = true;
  DeviceMemory tables_;
  DeviceMemory flags_;
  DeviceMemory counters_;
  PinnedMemory staging_;
  PinnedMemory report_;                // a SluiceReport
  PinnedMemory times_;                 // a SluiceTime of each slot
  std::vector<CUdeviceptr> outgrown_;  // until free()
  std::vector<void*> outgrown_pinned_;
  CUevent ended_ = nullptr;
};

}  // namespace sluice::megakernel
