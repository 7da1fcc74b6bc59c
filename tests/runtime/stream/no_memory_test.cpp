// What happens where memory for a window's tables cannot be had: the launches still run. And what
// asks for none. A program of its own, since it replaces the allocation functions.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "runtime/runtime_fixture.hpp"

namespace {

// The calling thread's allocations until one fails; negative: none does.
thread_local int allocations_left = -1;
thread_local int failures = 0;

}  // namespace

// All forms, so that what one has allocated another may free; inlined, they would look to the
// compiler like two kinds of allocation.
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (allocations_left >= 0 && allocations_left-- == 0) {
    ++failures;
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](size_t bytes) {
  return operator new(bytes);
}
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace sluice::runtime::testing {
namespace {

// PoorDevice runs each window while one allocation of its thread fails.
class PoorDevice final : public Device {
 public:
  int launch(const LaunchCall& call) override { return rich_.launch(call); }
  Result<SluiceBlockCode> block_code(void* function, const Dim3& block,
                                     uint32_t shared_bytes) override {
    return rich_.block_code(function, block, shared_bytes);
  }
  int enqueue(const StreamKey& stream, std::function<void()> work) override {
    return rich_.enqueue(stream, [this, work = std::move(work)] {
      allocations_left = failing;
      failures = 0;
      work();
      allocations_left = -1;
      failed += failures;
    });
  }
  FakeDevice& rich() { return rich_; }

  int failing = 0;  // which allocation of a window fails, counted from 0
  std::atomic<int> failed{0};

 private:
  FakeDevice rich_;
};

TEST(NoMemory, LaunchesOfAWindowWithoutTablesStillRun) {
  // Making the tables of a window allocates more often than that.
  for (int failing = 0; failing < 6; ++failing) {
    PoorDevice device;
    device.failing = failing;
    FakeKernels kernels;
    auto made = Runtime::create(Config{.workers = 2}, device, kernels.maker());
    ASSERT_TRUE(made) << made.error().line();
    Runtime& runtime = **made;
    const std::string ptx = kernels.ptx();
    runtime.code_loaded(&kernels, ptx.c_str());
    runtime.function_found(&kernels["step"], &kernels, "step");
    PingPong held(4096);
    PingPong plain(4096);
    held.allocate_in(runtime);
    for (uint32_t t = 0; t < 40; ++t) {
      ASSERT_EQ(held.launch(runtime, kernels["step"], t), 0);
      plain.step(t);
    }
    runtime.finish();
    device.rich().wait_idle();
    EXPECT_TRUE(held == plain) << "allocation " << failing << " of each window failed";
    EXPECT_GT(device.failed.load(), 0);
  }
}

// Also of the window that holds it, once its stream has had one as large.
TEST(NoMemory, IsNotAskedForByARepeatLaunchThatIsHeldBack) {
  constexpr uint32_t launches = 100;
  FakeDevice device;
  FakeKernels kernels;
  auto made = Runtime::create(Config{.workers = 2}, device, kernels.maker());
  ASSERT_TRUE(made) << made.error().line();
  Runtime& runtime = **made;
  const std::string ptx = kernels.ptx();
  runtime.code_loaded(&kernels, ptx.c_str());
  runtime.function_found(&kernels["step"], &kernels, "step");
  FakeKernel& step = kernels["step"];
  PingPong program(4096);
  program.allocate_in(runtime);
  for (int round = 0; round < 3; ++round) {
    constexpr int plenty = 1'000'000;
    device.pause();
    program.launch(runtime, step, 0);  // goes out at once, and what follows waits for it
    program.launch(runtime, step, 1);  // opens the window
    if (round == 2) allocations_left = plenty;
    for (uint32_t t = 2; t < launches; ++t)
      program.launch(runtime, step, t);
    const int left = std::exchange(allocations_left, -1);
    EXPECT_EQ(left, round == 2 ? plenty : -1);
    device.resume();
    device.wait_idle();
  }
}

}  // namespace
}  // namespace sluice::runtime::testing
