// The threads that run the work of all streams.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/processors.hpp"
#include "hostcuda/driver/host_watch/held_work.hpp"
#include "hostcuda/driver/stream/block_pool.hpp"
#include "hostcuda/driver/stream/function_hold.hpp"
#include "hostcuda/driver/stream/sleepers.hpp"
#include "hostcuda/driver/stream/stream_order.hpp"
#include "hostcuda/driver/stream/work.hpp"

namespace sluice::hostcuda {

// within_work() says whether the calling thread is running work of an engine.
bool within_work();

// Engine runs the work of each queue in its order, and that of several queues at once. Threads are
// started when work is ready and nobody is there to run it: up to the number of processors (two at
// least) for work of the device, and one more for each function of the program that is running, so
// that a function which waits for another stream gets what it waits for. Idle threads spin briefly,
// one at a time, then sleep; those that only functions made necessary rest until there are some
// again. Work may itself submit work. Thread-safe; lives as long as the
// process.
class Engine {
 public:
  explicit Engine(BlockPool& pool);
  Engine(const Engine&) = delete;

  // The queue of the legacy default stream.
  const std::shared_ptr<StreamQueue>& legacy() const { return order_.legacy(); }

  // submit() puts the work at the end of the queue; it begins after `after` as well. Where the
  // queue holds stream_operations already, it waits for room first, unless it is called within
  // work, which the queue may be waiting for, or where never_wait_for_room() says so.
  Ticket submit(const std::shared_ptr<StreamQueue>& queue, SharedWork work,
                std::vector<Ticket> after = {});
  Ticket submit(const std::shared_ptr<StreamQueue>& queue, std::function<void()> work);

  // submit_instant() is submit() for work that takes no time and can't fail, such as noting the
  // time: where nothing is left before it, the caller does it, under the engine's lock. On another
  // thread it would come late by what starting or waking one takes.
  Ticket submit_instant(const std::shared_ptr<StreamQueue>& queue, std::function<void()> work);

  // keep() makes a ticket of StreamOrder::promise() done.
  void keep(const Ticket& promise);

  // before() lists what work submitted to the queue now would wait for; outstanding() all work of
  // the device.
  std::vector<Ticket> before(const std::shared_ptr<StreamQueue>& queue);
  std::vector<Ticket> outstanding();

  // wait() returns when the work of the tickets and all before it is done, and what kernels printed
  // is on the program's stdout: error(), or CUDA_ERROR_NOT_PERMITTED where it is called from
  // within work and they are not done, since the work could be waiting for itself.
  CUresult wait(const Ticket& ticket);
  CUresult wait(const std::vector<Ticket>& tickets);

  // error() is the first error of any work, which stays until clear_error(): CUDA_SUCCESS where
  // there was none.
  CUresult error() const { return error_.load(); }
  void clear_error() { error_.store(CUDA_SUCCESS); }

  // never_wait_for_room() says whether the calling thread may exceed what a stream takes.
  static void never_wait_for_room(bool never);

  // functions() holds functions of the program back.
  FunctionHold& functions() { return functions_; }

  // held() holds work back where the host is watched.
  HeldWork& held() { return held_; }

 private:
  friend class HeldWork;    // submits, and provides threads, under the lock
  friend class JoinedWork;  // likewise
  using Lock = std::unique_lock<std::mutex>;

  void wait_for_room(const std::shared_ptr<StreamQueue>& queue, Lock& lock);
  void provide_thread(Lock& lock);
  void serve();
  void rest(Lock& lock);
  void sleep_until_ready(Lock& lock);
  void run_first(StreamQueue& queue, Lock& lock);

  BlockPool& pool_;
  const unsigned most_computing_;
  HeldWork held_{*this};

  std::mutex mutex_;  // guards what follows
  StreamOrder order_;
  std::condition_variable work_is_ready_;
  unsigned threads_ = 0;          // that don't rest
  unsigned looking_ = 0;          // threads that look for work: spinning or sleeping
  unsigned calling_program_ = 0;  // threads inside a function of the program
  struct Spinning {
    bool is_there = false;         // a thread that spins until there is work
    int submitter = no_processor;  // where the thread ran that submitted the last
  } spinning_;
  struct Resting {
    unsigned threads = 0;
    unsigned called = 0;  // those of them that are to go on
    std::condition_variable is_over;
  } resting_;
  struct Room {
    unsigned waiting = 0;  // threads
    std::condition_variable made;
  } room_;

  std::atomic<CUresult> error_{CUDA_SUCCESS};
  Sleepers sleepers_;
  FunctionHold functions_;
};

}  // namespace sluice::hostcuda
