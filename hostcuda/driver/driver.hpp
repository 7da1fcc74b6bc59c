// The driver of the CPU device: everything behind the exported functions.
#pragma once

#include <atomic>
#include <memory>

#include "hostcuda/driver/code/code.hpp"
#include "hostcuda/driver/device/contexts.hpp"
#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/device/device_properties.hpp"
#include "hostcuda/driver/device/handle_table.hpp"
#include "hostcuda/driver/memory/allocation_table.hpp"
#include "hostcuda/driver/memory/array.hpp"
#include "hostcuda/driver/stream/engine.hpp"
#include "hostcuda/driver/stream/stream.hpp"

namespace sluice::hostcuda {

constexpr int cuda_version = 13000;

// Driver is the state of the one device. There is one, made by cuInit and never destroyed: the
// exit handlers of a runtime on top run after static destructors. Thread-safe.
class Driver {
 public:
  // initialise() is cuInit. In a forked child the device's threads are gone, so there it fails.
  static CUresult initialise();
  // get() returns nullptr before initialise() and in a forked child.
  static Driver* get();

  const DeviceProperties properties;
  BlockPool pool;
  Engine engine;
  AllocationTable memory;
  HandleTable<Stream, CUstream> streams;
  HandleTable<Event, CUevent> events;
  HandleTable<LoadedCode, CUmodule> modules;  // libraries too: cuLibraryGetModule
  HandleTable<LoadedCode, CUlibrary> libraries;
  HandleTable<Kernel, CUfunction> kernels;
  HandleTable<Array, CUarray> arrays;
  HandleTable<Texture, CUtexObject> textures;  // and surfaces

  Contexts contexts;

  // destroy_context() waits for all work and releases what belongs to the context.
  CUresult destroy_context(Context& context);
  // As cuDevicePrimaryCtxRelease and cuDevicePrimaryCtxReset.
  CUresult release_primary_context();
  CUresult reset_primary_context();

  // find_stream() returns nullptr where the handle is no stream.
  StreamRef find_stream(CUstream handle) const;
  // find_stream(0) is the default stream of the calling function's form.
  StreamRef default_stream() const { return find_stream(nullptr); }
  // wait_for_all() waits for all work of the device so far.
  CUresult wait_for_all() { return engine.wait(engine.outstanding()); }
  // when_all_done() calls body() when all work so far is done: now, after waiting, or, within
  // work, where nobody can wait, on a thread of the engine.
  CUresult when_all_done(std::function<void()> body);
  // next_id() is a new id for a stream or a capture.
  unsigned long long next_id() { return ++last_id_; }

  // release_code() unregisters the code's handles and variables once all work is done.
  CUresult release_code(const std::shared_ptr<LoadedCode>& code);

 private:
  // The ids 1 and 2 are those of the default streams.
  static constexpr unsigned long long default_stream_ids = 2;

  Driver();
  CUresult release_contents(Context& context);

  const StreamRef legacy_stream_;
  std::atomic<unsigned long long> last_id_{default_stream_ids};
};

}  // namespace sluice::hostcuda
