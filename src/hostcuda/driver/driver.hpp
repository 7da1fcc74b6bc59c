// The driver of the CPU device: everything behind the exported functions.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "hostcuda/driver/allocation_table.hpp"
#include "hostcuda/driver/code.hpp"
#include "hostcuda/driver/context.hpp"
#include "hostcuda/driver/cuda_api.hpp"
#include "hostcuda/driver/device_properties.hpp"
#include "hostcuda/driver/handle_table.hpp"
#include "hostcuda/driver/queue.hpp"
#include "hostcuda/driver/stream.hpp"

namespace sluice::hostcuda {

constexpr int cuda_version = 13000;

// StreamRef is a stream handle that was looked up: a stream of the program, or one of the default
// streams, which has no object of its own and stands for all of the queue.
struct StreamRef {
  std::shared_ptr<Stream> stream;  // nullptr: a default stream
};

// Driver is the state of the one device. There is one, made by cuInit and never destroyed: the
// exit handlers of a runtime on top run after static destructors. Thread-safe.
class Driver {
 public:
  // initialise() is cuInit. In a forked child the device's threads are gone, so there it fails.
  static CUresult initialise();
  // get() returns nullptr before initialise() and in a forked child.
  static Driver* get();

  const DeviceProperties properties;
  Queue queue;
  AllocationTable memory;
  HandleTable<Stream, CUstream> streams;
  HandleTable<Event, CUevent> events;
  HandleTable<LoadedCode, CUmodule> modules;  // libraries too: cuLibraryGetModule
  HandleTable<LoadedCode, CUlibrary> libraries;
  HandleTable<Kernel, CUfunction> kernels;

  // Contexts. make_context() fails only for lack of memory, which throws.
  Context* make_context(unsigned flags);
  // find_context() returns nullptr for what was never a context.
  Context* find_context(CUcontext handle);
  // destroy_context() waits for all work and releases what belongs to the context.
  CUresult destroy_context(Context& context);

  Context* retain_primary_context();
  CUresult release_primary_context();
  CUresult reset_primary_context();
  CUresult set_primary_flags(unsigned flags);
  void primary_state(unsigned* flags, bool* active);

  // find_stream() returns false where the handle is no stream.
  bool find_stream(CUstream handle, StreamRef* stream);
  // last_ticket() is the ticket to wait for to have all work of the stream done.
  uint64_t last_ticket(const StreamRef& stream) const;
  // submit() submits work to the stream and returns its ticket.
  template <class Anything>
  uint64_t submit(const StreamRef& stream, Anything&& work) {
    const uint64_t ticket = queue.submit(std::forward<Anything>(work));
    if (stream.stream) stream.stream->raise_ticket(ticket);
    return ticket;
  }
  unsigned long long next_id() { return ++last_id_; }

  // release_code() unregisters the code's handles and variables once all work is done.
  CUresult release_code(const std::shared_ptr<LoadedCode>& code);

 private:
  Driver();
  CUresult release_contents(Context& context);

  std::atomic<unsigned long long> last_id_{0};
  std::mutex context_mutex_;
  std::vector<std::unique_ptr<Context>> contexts_;  // guarded by context_mutex_, as all below
  Context* primary_ = nullptr;
  unsigned primary_users_ = 0;
  unsigned primary_flags_ = 0;
};

}  // namespace sluice::hostcuda
