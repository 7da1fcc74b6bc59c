// A backend for tests, and a runtime over it.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "megakernel/cuda/tables/device_tables.hpp"
#include "runtime/fake_device.hpp"
#include "runtime/fake_kernels.hpp"
#include "runtime/runtime_fixture.hpp"
#include "schedule/task_runs.hpp"

namespace sluice::runtime::testing {

// FakeBackend runs windows on the fake device's thread, in the order of their tickets.
class FakeBackend final : public megakernel::WindowBackend {
 public:
  explicit FakeBackend(FakeDevice& device) : device_(device) {}

  Answer find_code(const Kernel& kernel, uint32_t& body) override {
    if (body == no_body) ++bodies;
    body = 7;
    ++questions;
    if (!ready) return {.reason = "not ready", .pending = true};
    auto code = std::make_shared<megakernel::DeviceCode>();
    const std::lock_guard lock(mutex_);
    kernels_[code.get()] = static_cast<FakeKernel*>(kernel.function);
    return {.code = code};
  }

  int submit(const StreamKey& stream, std::shared_ptr<const megakernel::Window> window,
             std::function<void(int)> done) override {
    if (within_submit != nullptr) within_submit(stream);
    if (submit_error != 0) return submit_error;
    {
      const std::lock_guard lock(mutex_);
      sizes.push_back(window->code.size());
    }
    return device_.enqueue(stream, [this, window, done = std::move(done)] {
      schedule::for_each_task(window->plan, [&](const schedule::Task& task) {
        const megakernel::LaunchCode& code = window->code[task.launch];
        kernel_of(code.device)->run(code.launch, task.first_block, task.block_count, nullptr);
      });
      done(device_error);
    });
  }

  int when_done(const StreamKey& stream, std::function<void(int)> done) override {
    return device_.enqueue(stream, [done = std::move(done)] { done(0); });
  }

  void context_ends(void* /*context*/) override { ++contexts_ended; }

  Capacity capacity(const megakernel::Window& window, void* /*context*/) override {
    EXPECT_TRUE(window.plan.tasks.empty());
    if (within_capacity != nullptr) within_capacity();
    launches_asked_for += window.code.size();
    return {4, 1U << 20U};
  }

  Costs costs() override { return device_costs; }

  bool ready = false;
  Costs device_costs;
  int submit_error = 0;
  int device_error = 0;
  int questions = 0;
  int bodies = 0;
  int contexts_ended = 0;
  std::atomic<size_t> launches_asked_for = 0;
  std::vector<size_t> sizes;  // of the windows
  // Called by each submit() and capacity(), before they do anything.
  std::function<void(const StreamKey&)> within_submit;
  std::function<void()> within_capacity;

 private:
  FakeKernel* kernel_of(const megakernel::DeviceCode* code) {
    const std::lock_guard lock(mutex_);
    return kernels_.at(code);
  }

  FakeDevice& device_;
  std::mutex mutex_;  // guards sizes and what follows
  std::map<const megakernel::DeviceCode*, FakeKernel*> kernels_;
};

class RuntimeOverBackendTest : public RuntimeTest {
 protected:
  RuntimeOverBackendTest() { device.backend = &backend; }

  FakeBackend backend{device};
};

}  // namespace sluice::runtime::testing
