// What the runtime needs of the driver below it. The shim implements it with the real driver;
// tests implement it with a fake. Handles are the driver's own, results are CUresult values.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/dim3.hpp"
#include "base/result.hpp"
#include "hostcuda/block_abi.h"
#include "megakernel/stream_key.hpp"
#include "megakernel/window_backend.hpp"
#include "runtime/races/ordering.hpp"

namespace sluice::runtime {

// LaunchCall is one cuLaunchKernel as the program made it. Exactly one of `parameters` and
// `extra` is set, as CUDA asks, unless the kernel takes none.
struct LaunchCall {
  void* function = nullptr;  // CUfunction, or a CUkernel cast to one
  Dim3 grid;
  Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  StreamKey stream;
  void** parameters = nullptr;
  void** extra = nullptr;
  const CallSite* site = nullptr;  // where races are checked
};

// Memory is whose an allocation is: the device's, which the host reaches by copies alone, or such
// as the host may read and write while the device works (managed, pinned). What may be had at other
// addresses too (a mapping of virtual memory) is no buffer.
enum class Memory { of_device, host_may_watch, no_buffer };

// VariablePlace is the memory of a variable of a module.
struct VariablePlace {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// GraphSteps are those of a graph. No other steps ever have the same version.
struct GraphSteps {
  std::span<const SluiceGraphStep> steps;
  uint64_t version = 0;
};

// Device. launch() and enqueue() are called under the runtime's lock, which `work` takes when it
// ends, so they must not wait for work of the device (WithoutWaiting).
class Device {
 public:
  virtual ~Device() = default;

  // launch() gives the launch to the driver as it is.
  virtual int launch(const LaunchCall& call) = 0;

  // block_code() is the code that runs the kernel's blocks one by one. An error where the device
  // has no such thing (a GPU), with the reason.
  virtual Result<SluiceBlockCode> block_code(void* function, const Dim3& block,
                                             uint32_t dynamic_shared_bytes) = 0;

  // traced_block_code() is the same code, compiled so that it tells set_access_sink()'s listener of
  // its accesses. An error where the device cannot trace.
  virtual Result<SluiceBlockCode> traced_block_code(void* /*function*/, const Dim3& /*block*/,
                                                    uint32_t /*dynamic_shared_bytes*/) {
    return unsupported("this device cannot trace accesses");
  }
  // set_access_sink() says who hears of the accesses of traced code on the calling thread.
  virtual void set_access_sink(const SluiceAccessSink* /*sink*/) {}

  // windows() is what runs windows in place of the host's workers, or null. The answer never
  // changes.
  virtual megakernel::WindowBackend* windows() { return nullptr; }
  // variable() is where a .global variable of loaded code lies; `code` is a CUlibrary or a
  // CUmodule. An error where there is none of that name.
  virtual Result<VariablePlace> variable(void* /*code*/, const char* /*name*/) {
    return unsupported("this device does not tell where variables lie");
  }

  // architecture() is that of the GPU on which code that is loaded now will run: 90 for sm_90. 0
  // where the device takes any PTX, or does not say.
  virtual uint32_t architecture() { return 0; }

  // device_of() is the ordinal of a CUcontext's device, as the driver counts devices.
  virtual uint32_t device_of(void* /*context*/) { return 0; }

  // exchange_context() makes a CUcontext the calling thread's current one, and returns what was;
  // null is none.
  virtual void* exchange_context(void* context) { return context; }

  // is_busy() is whether the stream has work that has not ended, where that is cheap to say. It is
  // asked at any time, also of a stream that is captured by now.
  virtual bool is_busy(const StreamKey& /*stream*/) { return false; }

  // enqueue() runs `work` on a thread of the device in the order of `stream`. `work` may itself
  // call enqueue() and launch().
  virtual int enqueue(const StreamKey& stream, std::function<void()> work) = 0;

  // ends_by_itself() is whether all that the stream has ends whatever the host does: neither
  // functions of the program nor kernels that may wait for it stand before that. False for default
  // streams, and where nobody knows.
  virtual bool ends_by_itself(const StreamKey& /*stream*/) { return false; }

  // make_line() is a line for enqueue_together(), which lives as long as the device; null where it
  // has none. enqueue_together() runs `work` in the order of several streams and of the line: when
  // all that each of them has is done. A stream goes on when its one of the `ends` is gone.
  using Ends = std::vector<std::shared_ptr<void>>;
  virtual void* make_line() { return nullptr; }
  virtual int enqueue_together(void* /*line*/, std::span<const StreamKey> /*streams*/,
                               const std::function<void(Ends ends)>& /*work*/) {
    return 801;  // CUDA_ERROR_NOT_SUPPORTED
  }

  // is_reached() is whether what an event was last recorded after is done; false for no event.
  virtual bool is_reached(void* /*event*/) { return false; }

  // has_host_memory() is whether the host's workers may touch the device's memory where it lies.
  // launch() then takes launches of transfer_of() too. The answer never changes.
  virtual bool has_host_memory() { return false; }

  // promise_event() records an event, in the place of the driver's own call, that is reached when
  // the last of what it returns is gone: when all that the stream had before it is done. Null, and
  // nothing is recorded, where the driver has to do it.
  virtual std::shared_ptr<void> promise_event(void* /*event*/, const StreamKey& /*stream*/) {
    return nullptr;
  }

  // graph_steps() is what a launch of an instantiated graph (CUgraphExec) in that stream would do,
  // one step after the other; nothing where it is not to be known, or the driver has to order it.
  // Good until the graph is changed.
  virtual GraphSteps graph_steps(void* /*graph*/, const StreamKey& /*stream*/) { return {}; }

  // never_wait_for_room() says whether calls of this thread to the driver may wait where a stream
  // has taken all that it takes; enqueue() never does.
  virtual void never_wait_for_room(bool /*never*/) {}

  // hold_functions() keeps functions of the program from beginning; after `hold` ends they begin
  // when the program waits for the device, or a little later.
  virtual void hold_functions(bool /*hold*/) {}
};

// InContext is for what is done in a stream by another call than one of the program's for it: by a
// thread of the device, or for another stream. While it lives the stream's context is current.
class InContext {
 public:
  InContext(Device& device, const StreamKey& stream)
      : device_(device),
        context_(stream.context),
        before_(context_ == nullptr ? nullptr : device.exchange_context(context_)) {}
  ~InContext() {
    if (before_ != context_) device_.exchange_context(before_);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  Device& device_;
  void* const context_;
  void* const before_;
};

// WithoutWaiting is for calls of the driver under the runtime's lock: while it lives those of the
// calling thread don't wait for room in a stream.
class WithoutWaiting {
 public:
  explicit WithoutWaiting(Device& device) : device_(device) { device_.never_wait_for_room(true); }
  ~WithoutWaiting() { device_.never_wait_for_room(false); }
  WithoutWaiting(const WithoutWaiting&) = delete;
  WithoutWaiting& operator=(const WithoutWaiting&) = delete;

 private:
  Device& device_;
};

}  // namespace sluice::runtime
