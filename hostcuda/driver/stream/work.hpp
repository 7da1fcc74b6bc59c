// What the device does, and the place of each piece of it in the order of its stream.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/stream/block_pool.hpp"

namespace sluice::hostcuda {

class StreamQueue;
struct HostUse;
struct WatchedRun;

// Work is one thing for the device to do: a launch, a copy, a fill, a host function, an event. It
// is immutable once submitted, so that a graph may run the same work many times.
class Work {
 public:
  virtual ~Work() = default;
  // run() is called on a thread of the engine. What it returns other than success becomes the
  // device's error.
  virtual CUresult run(BlockPool& pool) const = 0;
  // Where the host is watched: describe_use() says what run() does to memory that the host reaches,
  // and run_watched() is run() that tells of it.
  virtual void describe_use(HostUse& /*use*/) const {}
  virtual CUresult run_watched(BlockPool& pool, const WatchedRun& /*watched*/) const {
    return run(pool);
  }
  // may_wait_for_host() says that run() may wait for what the host does meanwhile.
  virtual bool may_wait_for_host() const { return calls_the_program(); }
  // calls_the_program() says that run() executes code of the program, which may block for as long
  // as it likes: such work takes no processor from other streams.
  virtual bool calls_the_program() const { return false; }
  // takes_room() says whether it counts among the operations that a stream takes.
  virtual bool takes_room() const { return true; }
};

using SharedWork = std::shared_ptr<const Work>;

// FunctionWork is work of the driver's own that a function says best.
class FunctionWork final : public Work {
 public:
  explicit FunctionWork(std::function<void()> function) : function_(std::move(function)) {}
  CUresult run(BlockPool&) const override {
    function_();
    return CUDA_SUCCESS;
  }

 private:
  std::function<void()> function_;
};

// Ticket names a piece of submitted work: the number-th of its queue, counted from 1. A ticket
// without a queue stands for nothing at all, which is always done.
struct Ticket {
  std::shared_ptr<StreamQueue> queue;
  uint64_t number = 0;

  bool is_done() const;
};

}  // namespace sluice::hostcuda
