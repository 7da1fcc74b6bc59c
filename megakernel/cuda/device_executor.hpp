// Windows on a GPU: one launch of the megakernel each, on the program's own stream.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "megakernel/cuda/code_store.hpp"
#include "megakernel/cuda/cuda_driver.hpp"
#include "megakernel/cuda/occupancy.hpp"
#include "megakernel/cuda/window_lane.hpp"
#include "megakernel/window_backend.hpp"

namespace sluice::megakernel {

// DeviceExecutor. Whoever waits for a window is told by a thread of its own, since a function that
// the driver calls may not call the driver.
class DeviceExecutor final : public WindowBackend {
 public:
  struct Config {
    uint32_t workers = 0;        // 0: as many as the device holds at once
    bool wait_for_code = false;  // at all but the first launch of a kernel
    uint32_t stress = 0;         // not 0: random delays
    // How often a worker looks for one signal before the window ends with an error. A look takes
    // about a microsecond, and what is waited for may be a task of minutes.
    uint32_t most_polls = 1U << 29;
    std::function<bool(void*)> is_library;  // is this code a CUlibrary, not a CUmodule?
    // What was measured of the device of that name, if anything was.
    std::function<std::optional<Costs>(const std::string& device)> measured_costs;
  };

  // `driver` must outlive it.
  DeviceExecutor(const CudaDriver& driver, Config config);
  ~DeviceExecutor() override;

  Answer find_code(const Kernel& kernel, uint32_t& body) override;
  int submit(const StreamKey& stream, std::shared_ptr<const Window> window,
             std::function<void(int)> done) override;
  int when_done(const StreamKey& stream, std::function<void(int)> done) override;
  void context_ends(void* context) override;
  Capacity capacity(const Window& window, void* context) override;
  Costs costs() override;

 private:
  // Context is what there is in one CUcontext.
  struct Context {
    Context(const CudaDriver& driver, CUcontext of, bool wait)
        : handle(of), store(driver, of, wait) {}
    const CUcontext handle;
    CodeStore store;
    std::once_flag memory_is_known;
    DeviceMemoryFigures memory;
    std::vector<std::unique_ptr<WindowLane>> free_lanes;
    size_t running = 0;  // what the follower has not seen the end of
    // What may still use them is not known: they are not used again.
    std::vector<std::unique_ptr<WindowLane>> lost_lanes;
  };
  struct Running {
    Context* context = nullptr;
    std::unique_ptr<WindowLane> lane;
    CUstream stream = nullptr;
    bool has_event = false;
    bool has_times = false;  // will have, once it has ended
    std::shared_ptr<const CodeStore::Loaded> code;
    std::shared_ptr<const Window> window;  // null: none, only what the stream had is waited for
    std::function<void(int)> done;
  };

  Result<std::shared_ptr<const DeviceCode>> make_code(const Kernel& kernel,
                                                      const CodeStore::Found& found) const;
  bool is_in_library(const Kernel& kernel) const {
    return config_.is_library != nullptr && config_.is_library(kernel.code);
  }
  // How many the program's own kernel takes; 0 where the driver does not say.
  uint32_t registers_of(const Kernel& kernel) const;
  CUresult address_of(const Kernel& kernel, const std::string& variable, uint64_t& address) const;
  Context& context_of(void* handle);
  void end(Context& context);
  std::unique_ptr<WindowLane> take_lane(Context& context);
  CUresult launch(Running& running);
  uint32_t workers_for(const CodeStore::Loaded& code, uint64_t pool_bytes) const;
  bool is_crowded(const Window& window, const CodeStore::Loaded& code) const;
  Running running_in(const StreamKey& stream, std::function<void(int)> done);
  void keep_following(Running running);
  void follow();
  CUresult wait_for(const Running& running);

  const CudaDriver& driver_;
  const Config config_;
  std::map<CUdevice, Costs> costs_;  // of those that were asked for
  std::atomic<uint32_t> windows_{0};
  std::atomic<bool> is_off_{false};  // since a window waited in vain

  mutable std::mutex mutex_;           // guards what follows
  std::map<void*, Context> contexts_;  // but for their stores
  std::condition_variable changed_;
  std::deque<Running> running_;
  bool stopping_ = false;
  std::thread follower_;  // started by the first window
};

}  // namespace sluice::megakernel
