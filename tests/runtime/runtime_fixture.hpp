// A runtime over a fake device, and a program that steps a field back and forth between two
// buffers.
#pragma once

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/rule/tracker.hpp"
#include "runtime/fake_device.hpp"
#include "runtime/fake_kernels.hpp"
#include "runtime/runtime.hpp"

namespace sluice::runtime::testing {

// PingPong is the data of one program: two buffers of n cells, known to the runtime or not.
class PingPong {
 public:
  explicit PingPong(uint32_t n) : n_(n) {
    for (auto& buffer : buffers_) {
      buffer.resize(n);
      for (uint32_t i = 0; i < n; ++i) {
        buffer[i] = static_cast<float>(i * 2654435761U >> 20U);
      }
    }
  }

  void allocate_in(Runtime& runtime) {
    for (auto& buffer : buffers_) {
      runtime.memory_allocated(address(buffer), buffer.size() * sizeof(float));
    }
  }
  void free_in(Runtime& runtime) {
    for (auto& buffer : buffers_) {
      runtime.memory_freed(address(buffer));
    }
  }

  // launch() makes launch `t` of the chain: from buffer t % 2 to the other.
  int launch(Runtime& runtime, FakeKernel& step, uint32_t t, const StreamKey& stream = {}) {
    const float* in = buffers_[t % 2].data();
    float* out = buffers_[(t + 1) % 2].data();
    void* parameters[] = {&in, &out, &n_};
    return runtime.launch({.function = &step,
                           .grid = grid(),
                           .block = {cells_per_block, 1, 1},
                           .stream = stream,
                           .parameters = parameters});
  }

  // step() does the same at once, without a runtime.
  void step(uint32_t t) {
    const StepArguments arguments{buffers_[t % 2].data(), buffers_[(t + 1) % 2].data(), n_};
    const SluiceBlockLaunch launch{&arguments, {grid().x, 1, 1}, 0};
    run_step(&launch, 0, grid().x, nullptr);
  }

  // arguments() are those of launch `t`.
  StepArguments arguments(uint32_t t) const {
    const auto& out = buffers_[(t + 1) % 2];
    return {buffers_[t % 2].data(), const_cast<float*>(out.data()), n_};
  }
  Dim3 grid() const { return {(n_ + cells_per_block - 1) / cells_per_block, 1, 1}; }
  const std::vector<float>& buffer(size_t i) const { return buffers_[i]; }
  friend bool operator==(const PingPong& a, const PingPong& b) {
    return a.buffers_[0] == b.buffers_[0] && a.buffers_[1] == b.buffers_[1];
  }

 private:
  static uint64_t address(const std::vector<float>& buffer) {
    return reinterpret_cast<uint64_t>(buffer.data());
  }
  uint32_t n_;
  std::vector<float> buffers_[2];
};

class RuntimeTest : public ::testing::Test {
 protected:
  // start() makes the runtime; every kernel is loaded and found.
  void start(Config config = Config{}) { start(config, kernels.maker()); }
  void start(Config config, ModelMaker maker) {
    if (config.workers == 0) config.workers = 2;
    auto made = Runtime::create(config, device, std::move(maker));
    ASSERT_TRUE(made) << made.error().line();
    runtime = std::move(*made);
    const std::string ptx = kernels.ptx();
    runtime->code_loaded(code(), ptx.c_str());
    for (const char* name : {"step", "opaque", "unused", "unmodelled"}) {
      runtime->function_found(&kernels[name], code(), name);
    }
  }

  // The data of a test that it keeps in members is there until all work has ended.
  void TearDown() override {
    if (runtime != nullptr) runtime->finish();
    device.wait_idle();  // plain launches too
  }

  void* code() { return this; }

  int launch_plain(const char* name, void** parameters = nullptr) {
    return runtime->launch({.function = &kernels[name], .parameters = parameters});
  }

  // synchronise() is what a shim does at cuCtxSynchronize.
  void synchronise() {
    runtime->flush();
    device.wait_idle();
  }

  FakeKernels kernels;
  FakeDevice device;
  std::unique_ptr<Runtime> runtime;
};

}  // namespace sluice::runtime::testing
