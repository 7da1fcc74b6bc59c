// A device for tests: one thread that runs everything in the order of submission.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/device.hpp"
#include "runtime/fake_kernels.hpp"
#include "runtime/launch/arguments.hpp"
#include "runtime/launch/transfer.hpp"

namespace sluice::runtime::testing {

class FakeDevice final : public Device {
 public:
  FakeDevice() : thread_([this] { serve(); }) {}
  ~FakeDevice() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      paused_ = false;
    }
    changed_.notify_all();
    thread_.join();
  }

  int launch(const LaunchCall& call) override {
    EXPECT_EQ(current_context(), call.stream.context);
    std::function<void()> meanwhile;
    {
      const std::lock_guard lock(mutex_);
      meanwhile = std::exchange(within_launch, nullptr);
    }
    if (meanwhile != nullptr) meanwhile();
    if (const auto transfer = transfer_of(call)) return launch(*transfer);
    auto parameters = std::make_shared<std::vector<std::byte>>();
    auto* kernel = static_cast<FakeKernel*>(call.function);
    if (launch_error != 0) {
      note("refused " + kernel->signature.kernel);
      return launch_error;
    }
    if (call.grid.count() == 0 ||
        read_parameter_block(call, kernel->signature, *parameters) != nullptr) {
      note("refused " + kernel->signature.kernel);
      return 1;  // CUDA_ERROR_INVALID_VALUE
    }
    submit("launch " + kernel->signature.kernel, [=, grid = call.grid] {
      const SluiceBlockLaunch launch{parameters->data(), {grid.x, grid.y, grid.z}, 0};
      kernel->run(&launch, 0, static_cast<uint32_t>(grid.count()), nullptr);
    });
    return 0;
  }

  Result<SluiceBlockCode> block_code(void* function, const Dim3&, uint32_t) override {
    if (!has_block_code) return unimplemented("no megakernel for this device");
    return SluiceBlockCode{static_cast<FakeKernel*>(function)->run, 64};
  }

  int enqueue(const StreamKey& stream, std::function<void()> work) override {
    if (enqueue_error != 0) return enqueue_error;
    EXPECT_EQ(current_context(), stream.context);
    submit("window " + name_of(stream), std::move(work));
    return 0;
  }

  bool has_host_memory() override { return host_memory; }
  GraphSteps graph_steps(void*, const StreamKey&) override { return graph; }
  std::shared_ptr<void> promise_event(void* event, const StreamKey& /*stream*/) override {
    if (!takes_events) return nullptr;
    return {event, [this](void* reached) {
              note("reached " + std::to_string(reinterpret_cast<uintptr_t>(reached)));
            }};
  }

  bool ends_by_itself(const StreamKey& stream) override {
    return joins && !waiting.contains(stream.handle);
  }
  bool is_reached(void* event) override { return reached.contains(event); }
  void* make_line() override { return this; }
  int enqueue_together(void* /*line*/, std::span<const StreamKey> streams,
                       const std::function<void(Ends ends)>& work) override {
    if (enqueue_error != 0) return enqueue_error;
    std::string event = "window";
    Ends ends;
    for (const StreamKey& stream : streams) {
      event += " " + name_of(stream);
      ends.emplace_back(stream.handle, [this](void* ended) {
        note("end of " + std::to_string(reinterpret_cast<uintptr_t>(ended)));
      });
    }
    submit(std::move(event), [work, ends = std::move(ends)]() mutable { work(std::move(ends)); });
    return 0;
  }

  // A context's device has the number that its handle is.
  uint32_t device_of(void* context) override {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context));
  }
  void* exchange_context(void* context) override {
    return std::exchange(current_context(), context);
  }
  static void*& current_context() {
    static thread_local void* current = nullptr;
    return current;
  }

  void never_wait_for_room(bool never) override { never_waits = never; }

  // pause() keeps the device from beginning anything until resume(). wait_idle() returns when all
  // that was submitted has ended.
  void pause() {
    const std::lock_guard lock(mutex_);
    paused_ = true;
  }
  void resume() {
    {
      const std::lock_guard lock(mutex_);
      paused_ = false;
    }
    changed_.notify_all();
  }
  void wait_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return work_.empty() && !busy_; });
  }

  bool is_busy(const StreamKey& /*stream*/) override {
    const std::lock_guard lock(mutex_);
    return !work_.empty() || busy_;
  }

  // events() are the calls so far: "launch NAME", "window STREAM ...", "refused NAME"; a stream of
  // a context is "HANDLE of CONTEXT". Events of the program: "reached EVENT"; and of windows of
  // several streams: "end of STREAM".
  std::vector<std::string> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

  void forget_events() {
    const std::lock_guard lock(mutex_);
    events_.clear();
  }

  megakernel::WindowBackend* windows() override { return backend; }

  uint32_t architecture() override { return takes_architecture; }

  uint32_t takes_architecture = 0;
  bool has_block_code = true;
  megakernel::WindowBackend* backend = nullptr;
  bool takes_events = false;
  bool joins = false;             // takes windows of several streams
  std::set<void*> waiting;        // streams in which something waits for the host
  std::set<const void*> reached;  // events
  bool host_memory = false;
  GraphSteps graph;  // of every graph
  int enqueue_error = 0;
  int launch_error = 0;  // of plain launches, which then don't run
  std::atomic<bool> never_waits = false;
  std::function<void()> within_launch;  // is called once, by the next plain launch

 private:
  int launch(const Transfer& transfer) {
    submit(std::string("launch ") + transfer_name(transfer.kind), [transfer] {
      const TransferLaunch again(transfer);
      const LaunchCall& call = again.call();
      const SluiceBlockLaunch blocks{call.extra[1], {call.grid.x, call.grid.y, call.grid.z}, 0};
      transfer_code(transfer.kind)
          .function(&blocks, 0, static_cast<uint32_t>(call.grid.count()), nullptr);
    });
    return 0;
  }

  static std::string name_of(const StreamKey& stream) {
    const std::string handle = std::to_string(reinterpret_cast<uintptr_t>(stream.handle));
    if (stream.context == nullptr) return handle;
    return handle + " of " + std::to_string(reinterpret_cast<uintptr_t>(stream.context));
  }
  void note(std::string event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }

  void submit(std::string event, std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
      work_.push_back(std::move(work));
    }
    changed_.notify_all();
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopping_ || (!paused_ && !work_.empty()); });
      if (work_.empty()) return;
      std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      busy_ = true;
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::vector<std::string> events_;
  bool paused_ = false;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::runtime::testing
