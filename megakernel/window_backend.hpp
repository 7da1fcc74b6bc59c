// What runs windows on a device of its own instead of on the host's workers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/dim3.hpp"
#include "megakernel/stream_key.hpp"
#include "megakernel/window.hpp"

namespace sluice::ptx {
struct Module;
}

namespace sluice::megakernel {

// WindowBackend. One call at a time of find_code(), costs() and context_ends(); of submit(),
// when_done() and capacity(), which may take long, one at a time for each stream, beside others. No
// call for a context comes beside or after its context_ends(). `done` comes on a thread of the
// backend.
class WindowBackend {
 public:
  virtual ~WindowBackend() = default;

  // Kernel is what a launch asks code for; `code` is the CUmodule or CUlibrary of `function`.
  struct Kernel {
    void* context = nullptr;  // CUcontext, the calling thread's
    void* function = nullptr;
    void* code = nullptr;
    const ptx::Module* module = nullptr;
    std::string_view name;
    Dim3 block;
    uint32_t dynamic_shared_bytes = 0;
  };

  // Answer holds code, or a reason why there is none. Where `pending`, asking again later may bring
  // code: pass the same `body` again, which the first answer has set.
  struct Answer {
    std::shared_ptr<const DeviceCode> code;
    std::string reason;
    bool pending = false;
  };
  static constexpr uint32_t no_body = UINT32_MAX;

  // find_code() never waits for a compiler, unless the backend was told to wait at all but the
  // first call for a kernel.
  virtual Answer find_code(const Kernel& kernel, uint32_t& body) = 0;

  // submit(), in the stream's context, gives a window, whose slots all have code of it, to the
  // device in the order of `stream`, and keeps it until `done` has been called with a CUresult: 0,
  // or what the device says of an error. Where submit() itself returns an error nothing has run and
  // `done` is not called.
  virtual int submit(const StreamKey& stream, std::shared_ptr<const Window> window,
                     std::function<void(int)> done) = 0;

  // when_done() has `done` called as submit() does, once all that `stream` has so far is done.
  // Where it returns an error `done` is not called.
  virtual int when_done(const StreamKey& stream, std::function<void(int)> done) = 0;

  // context_ends() says that the CUcontext, or any for null, is about to end. No window is
  // outstanding; what was handed out for it is good no more.
  virtual void context_ends(void* context) = 0;

  // Capacity is for whom a window is cut: how many workers the device holds at once, the bytes of
  // the cache that they share, and how many its memory brings in a microsecond; 0 where these are
  // not known.
  struct Capacity {
    uint32_t workers = 1;
    uint64_t cache_bytes = 0;
    uint64_t memory_bytes = 0;
  };
  // capacity() asks the device, in the calling thread's context, for a window whose code is there
  // and which is not planned yet.
  virtual Capacity capacity(const Window& window, void* context) = 0;

  // Costs are what the device's stream takes, in nanoseconds: of launches that do next to nothing,
  // from one to the next, and for a window beside its launches.
  struct Costs {
    int64_t plain_launch = 2'100;
    int64_t window = 20'000;
  };
  // costs() asks in the context of the calling thread.
  virtual Costs costs() = 0;
};

}  // namespace sluice::megakernel
