// Windows through the executor for GPUs: what it asks of a driver, and what it does where that or
// the protocol fails.
#include "megakernel/cuda/device_executor.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "megakernel/cuda/module_loader.hpp"
#include "megakernel/cuda/worker_memory.h"
#include "megakernel/device/recording_driver.hpp"
#include "megakernel/window_builder.hpp"
#include "ptx/parser.hpp"

namespace sluice::megakernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint32_t blocks = 64;

// Each block adds one to the word at `out`.
constexpr const char* counting_kernel =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<2>;\n.reg .pred %p<2>;\n"
    ".reg .b32 %r<2>;\nmov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n"
    "ld.param.u64 %rd1, [out];\nred.global.add.u32 [%rd1], 1;\nret;\n}\n"
    // So does each of this one's, which has shared memory.
    ".visible .entry sharing(.param .u64 out)\n{\n.reg .b64 %rd<2>;\n.reg .pred %p<2>;\n"
    ".reg .b32 %r<2>;\n.shared .align 4 .b8 row[4096];\nmov.u32 %r1, %tid.x;\n"
    "st.shared.u32 [row], %r1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n"
    "ld.param.u64 %rd1, [out];\nred.global.add.u32 [%rd1], 1;\nret;\n}\n"
    // Each block of this one takes 20 microseconds at least.
    ".visible .entry waiting(.param .u64 out)\n{\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\n"
    "mov.u64 %rd1, %globaltimer;\nagain:\nmov.u64 %rd2, %globaltimer;\n"
    "sub.u64 %rd3, %rd2, %rd1;\nsetp.lt.u64 %p1, %rd3, 20000;\n@%p1 bra again;\nret;\n}\n";

CUfunction handle_of(uintptr_t number) {
  return reinterpret_cast<CUfunction>(number);
}

class DeviceExecutorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    auto parsed = ptx::parse(counting_kernel);
    ASSERT_TRUE(parsed);
    module_ = std::move(*parsed);
    ASSERT_EQ(cuMemAlloc_v2(&word_, 4), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32_v2(word_, 0, 1), CUDA_SUCCESS);
  }
  void TearDown() override { cuMemFree_v2(word_); }

  WindowBackend::Answer find(DeviceExecutor& executor) {
    WindowBackend::Kernel kernel{
        .context = context_, .module = &module_, .name = kernel_, .block = block_};
    WindowBackend::Answer answer = executor.find_code(kernel, body_);
    return answer.pending ? executor.find_code(kernel, body_) : answer;
  }

  // Windows of two launches, of which the second waits for all of the first.
  std::shared_ptr<Window> window(DeviceExecutor& executor, bool is_in_order = true) {
    const WindowBackend::Answer answer = find(executor);
    EXPECT_NE(answer.code, nullptr) << answer.reason;
    auto& builder = builders_.emplace_back();
    builder.add_launch({blocks, 1, 1}, 3, {});
    builder.add_launch({blocks, 1, 1}, 3, {});
    builder.depend(0, testing::all_table({blocks, 1, 1}, {blocks, 1, 1}));
    builder.add_tasks_in_launch_order();
    if (!is_in_order) std::reverse(builder.plan.tasks.begin(), builder.plan.tasks.end());
    codes_.push_back(answer.code);
    for (LaunchCode& launch : builder.window.code) {
      launch.launch = &launch_;
      launch.parameter_bytes = 8;
      launch.device = answer.code.get();
    }
    return {std::shared_ptr<Window>(), &builder.window};
  }

  // run() submits a window and returns what it ended with, or what submit() said.
  int run(DeviceExecutor& executor, std::shared_ptr<Window> window) {
    std::promise<int> ended;
    const int result = executor.submit({context_, nullptr}, std::move(window),
                                       [&](int error) { ended.set_value(error); });
    return result == CUDA_SUCCESS ? ended.get_future().get() : result;
  }

  uint32_t counted() const {
    uint32_t value = 0;
    EXPECT_EQ(cuMemcpyDtoH_v2(&value, word_, 4), CUDA_SUCCESS);
    return value;
  }

  testing::RecordingDriver recording_;
  CUcontext context_ = nullptr;
  ptx::Module module_;
  const char* kernel_ = "k";
  Dim3 block_{32, 1, 1};
  CUdeviceptr word_ = 0;
  SluiceBlockLaunch launch_{&word_, {blocks, 1, 1}, 0};
  uint32_t body_ = WindowBackend::no_body;
  std::deque<testing::WindowBuilder> builders_;
  std::vector<std::shared_ptr<const DeviceCode>> codes_;
};

// A capture of the program goes on while threads of ours load code and wait for windows.
TEST_F(DeviceExecutorTest, RelaxesTheCaptureModeAroundWhatACaptureForbids) {
  {
    DeviceExecutor executor(recording_.driver, {.workers = 2, .wait_for_code = true});
    EXPECT_EQ(run(executor, window(executor)), CUDA_SUCCESS);
    executor.context_ends(nullptr);
  }
  EXPECT_GE(recording_.calls_that_captures_forbid, 6U);
  EXPECT_EQ(recording_.calls_against_captures, 0U);
  // The program's thread has the mode that it had.
  EXPECT_EQ(testing::RecordingDriver::mode_of_thread(), CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST_F(DeviceExecutorTest, TellsWhatTheDriverSaysOfCodeThatItRefuses) {
  recording_.jit_log =
      "ptxas info    : 1 bytes gmem\n"
      "ptxas application ptx input, line 9; error   : Unexpected instruction\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n";
  DeviceExecutor executor(recording_.driver, {.workers = 2, .wait_for_code = true});
  const WindowBackend::Answer answer = find(executor);
  EXPECT_EQ(answer.code, nullptr);
  EXPECT_THAT(answer.reason, HasSubstr("error 218"));
  EXPECT_THAT(answer.reason, HasSubstr("line 9; error   : Unexpected instruction"));
  EXPECT_THAT(answer.reason, HasSubstr("in body sluice_0_k: "));
}

TEST(FirstError, NamesTheBodyAroundTheLine) {
  TaskBody a;
  a.function = "sluice_0_a";
  TaskBody b;
  b.function = "sluice_1_b";
  const TaskBody* bodies[] = {&a, &b};
  const std::string text =
      ".version 7.0\n.func sluice_0_a(\n)\n{ ret; }\n.func sluice_1_b(\n)\n{\n  bad;\n}\n"
      ".visible .entry sluice_megakernel()\n{ bad; }\n";
  const auto at = [&](int line) {
    return first_error(fmt::format("ptxas in.ptx, line {}; error : x\nptxas fatal : y\n", line),
                       text, bodies);
  };
  EXPECT_EQ(at(4), "in body sluice_0_a: in.ptx, line 4; error : x");
  EXPECT_EQ(at(8), "in body sluice_1_b: in.ptx, line 8; error : x");
  EXPECT_EQ(at(11), "in.ptx, line 11; error : x");
  EXPECT_EQ(first_error("", text, bodies), "");
  EXPECT_EQ(first_error("something\nptxas fatal : y", text, bodies), "fatal : y");
}

// The driver may wait for the device when it unloads; whoever asks for code does not wait too.
TEST_F(DeviceExecutorTest, UnloadsWithoutTheStoresLock) {
  CodeStore store(recording_.driver, context_, false);
  const auto add = [&](uint32_t threads) {
    const Result<uint32_t> place = store.add(module_, "k", {threads, 1, 1});
    EXPECT_TRUE(place);
    while (store.find(*place).state == CodeStore::State::pending)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return store.find(*place);
  };
  std::atomic<unsigned> unloaded{0};
  std::atomic<bool> asks{true};
  recording_.while_unloading = [&] {
    if (!asks) return;
    ++unloaded;
    std::thread([&] { EXPECT_EQ(store.find(0).state, CodeStore::State::ready); }).join();
  };
  EXPECT_EQ(add(32).state, CodeStore::State::ready);
  EXPECT_EQ(add(64).state, CodeStore::State::ready);
  // The builder unloads the first module once it has told of the second.
  EXPECT_EQ(add(96).state, CodeStore::State::ready);
  EXPECT_GE(unloaded, 1U);
  asks = false;
}

// Where threads of the program wait for code, the device may be waiting for them.
TEST_F(DeviceExecutorTest, UnloadsNothingWhileThreadsWaitForCode) {
  std::atomic<unsigned> unloaded{0};
  recording_.while_unloading = [&] { ++unloaded; };
  {
    CodeStore store(recording_.driver, context_, true);
    for (const uint32_t threads : {32, 64, 96}) {
      const Result<uint32_t> place = store.add(module_, "k", {threads, 1, 1});
      ASSERT_TRUE(place);
      store.find(*place);
      EXPECT_EQ(store.find(*place).state, CodeStore::State::ready);
    }
    EXPECT_EQ(unloaded, 0U);
  }
  EXPECT_EQ(unloaded, 3U);
}

TEST_F(DeviceExecutorTest, UsesTheLaneOfAFailedSubmitAgain) {
  DeviceExecutor executor(recording_.driver, {.workers = 2, .wait_for_code = true});
  constexpr unsigned rounds = 8;
  for (unsigned round = 0; round < rounds; ++round) {
    recording_.fails_launches = true;
    EXPECT_EQ(run(executor, window(executor)), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    recording_.fails_launches = false;
    EXPECT_EQ(run(executor, window(executor)), CUDA_SUCCESS);
  }
  EXPECT_EQ(counted(), rounds * 2 * blocks);
  EXPECT_LE(recording_.events, 2U);
}

// A kernel of a library is the same in all contexts, where its code for the megakernel is not.
TEST_F(DeviceExecutorTest, EachContextHasCodeAndMemoryOfItsOwn) {
  // As many workers as blocks, so that no code for many of them is made.
  DeviceExecutor executor(recording_.driver, {.workers = blocks, .wait_for_code = true});
  const CUcontext first = context_;
  EXPECT_EQ(run(executor, window(executor)), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate_v2(&context_, 0, 0), CUDA_SUCCESS);
  body_ = WindowBackend::no_body;
  const unsigned modules = recording_.modules;
  EXPECT_EQ(run(executor, window(executor)), CUDA_SUCCESS);
  EXPECT_EQ(recording_.modules, modules + 1);
  EXPECT_EQ(recording_.events, 2U);
  EXPECT_THAT(recording_.launched_in, ElementsAre(first, context_));
  // The end of one leaves the other as it is.
  executor.context_ends(context_);
  ASSERT_EQ(cuCtxDestroy_v2(context_), CUDA_SUCCESS);
  context_ = first;
  ASSERT_EQ(cuCtxSetCurrent(first), CUDA_SUCCESS);
  body_ = 0;
  EXPECT_EQ(run(executor, window(executor)), CUDA_SUCCESS);
  EXPECT_EQ(recording_.modules, modules + 1);
  EXPECT_EQ(counted(), 3 * 2 * blocks);
}

// What a stream waits for may be a function of the program that only ends after more launches.
TEST_F(DeviceExecutorTest, QueuesAWindowBehindOneThatHasNotBegun) {
  DeviceExecutor executor(recording_.driver, {.workers = 2, .wait_for_code = true});
  std::shared_ptr<Window> windows[] = {window(executor), window(executor)};
  std::promise<void> go_on;
  cuLaunchHostFunc(
      nullptr, [](void* data) { static_cast<std::promise<void>*>(data)->get_future().wait(); },
      &go_on);
  std::promise<int> ended[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(executor.submit({context_, nullptr}, std::move(windows[i]),
                              [&, i](int error) { ended[i].set_value(error); }),
              CUDA_SUCCESS);
  }
  go_on.set_value();
  for (std::promise<int>& end : ended)
    EXPECT_EQ(end.get_future().get(), CUDA_SUCCESS);
  EXPECT_EQ(counted(), 2 * 2 * blocks);
}

TEST_F(DeviceExecutorTest, CopiesTablesFromPinnedMemory) {
  DeviceExecutor executor(recording_.driver, {.workers = 2, .wait_for_code = true});
  EXPECT_EQ(run(executor, window(executor)), CUDA_SUCCESS);
  EXPECT_EQ(recording_.copies_of_pageable_memory, 0U);
}

// A window is planned for what the device holds of the code that runs it, and for the device's own
// cache: on an H100, where six workers fit a processor, for 792 and 50 MiB.
TEST_F(DeviceExecutorTest, PlansForTheOccupancyOfItsCodeAndTheDevicesCache) {
  recording_.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor =
      [](int* blocks, CUfunction, int threads, size_t pool_bytes) {
        EXPECT_EQ(threads, 64);
        EXPECT_GE(pool_bytes, size_t{SLUICE_PARAMETERS} + 8);
        *blocks = 6;
        return CUDA_SUCCESS;
      };
  DeviceExecutor executor(recording_.driver, {.wait_for_code = true});
  const auto planned = window(executor);
  recording_.driver.cuDeviceGetAttribute = [](int* value, CUdevice_attribute attribute, CUdevice) {
    *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 132
             : attribute == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE      ? 50 << 20
                                                                   : 0;
    return CUDA_SUCCESS;
  };
  const WindowBackend::Capacity capacity = executor.capacity(*planned, context_);
  EXPECT_EQ(capacity.workers, 6U * 132U);
  EXPECT_EQ(capacity.cache_bytes, uint64_t{50} << 20U);
}

// In workers of 256 threads, beside a wider kernel's, four blocks of 64 threads run at once; but no
// more than shared memory leaves room for where as many workers as before shall fit a processor.
TEST_F(DeviceExecutorTest, RunsBlocksSideBySideInTheSharedMemoryThatWorkersLeave) {
  static int fitting;
  static unsigned launched;
  recording_.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor = [](int* blocks, CUfunction, int,
                                                                     size_t) {
    *blocks = fitting;
    return CUDA_SUCCESS;
  };
  recording_.driver.cuDeviceGetAttribute = [](int* value, CUdevice_attribute attribute,
                                              CUdevice device) {
    if (attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) {
      *value = 228 * 1024;
    } else if (attribute == CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) {
      *value = 1024;
    } else {
      return cuDeviceGetAttribute(value, attribute, device);
    }
    return CUDA_SUCCESS;
  };
  recording_.driver.cuLaunchKernel = [](CUfunction function, unsigned x, unsigned y, unsigned z,
                                        unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                        CUstream stream, void** parameters, void** extra) {
    launched = shared;
    return cuLaunchKernel(function, x, y, z, bx, by, bz, shared, stream, parameters, extra);
  };
  unsigned runs = 0;
  // Of 6 workers each may have 37 KiB, of 16 it is 13.
  for (const auto& [workers, at_once] : {std::pair{6, 4U}, {16, 2U}, {48, 1U}}) {
    fitting = workers;
    DeviceExecutor executor(recording_.driver, {.workers = blocks, .wait_for_code = true});
    body_ = WindowBackend::no_body;
    block_ = {256, 1, 1};
    kernel_ = "k";
    ASSERT_NE(find(executor).code, nullptr);
    body_ = WindowBackend::no_body;
    block_ = {64, 1, 1};
    kernel_ = "sharing";
    const auto shared = window(executor);
    EXPECT_EQ(run(executor, shared), CUDA_SUCCESS);
    EXPECT_EQ(launched, codes_.back()->pool_bytes(0, at_once)) << workers;
    EXPECT_EQ(counted(), ++runs * 2 * blocks);
  }
}

// A window needs the answer several times; a driver takes a microsecond and more for each.
TEST_F(DeviceExecutorTest, AsksOnceHowManyWorkersOfAModuleFit) {
  static unsigned asked;
  asked = 0;
  recording_.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor = [](int* fitting, CUfunction, int,
                                                                     size_t) {
    ++asked;
    *fitting = 4;
    return CUDA_SUCCESS;
  };
  DeviceExecutor executor(recording_.driver, {.wait_for_code = true});
  const auto planned = window(executor);
  executor.capacity(*planned, context_);
  EXPECT_EQ(run(executor, planned), CUDA_SUCCESS);
  EXPECT_EQ(run(executor, planned), CUDA_SUCCESS);
  EXPECT_EQ(asked, 1U);
}

// By them its body joins a class; of a library the driver has a kernel first.
TEST_F(DeviceExecutorTest, AsksHowManyRegistersTheProgramsKernelTakes) {
  static std::vector<CUfunction> asked;
  asked.clear();
  recording_.driver.cuKernelGetFunction = [](CUfunction* function, CUkernel kernel) {
    *function = handle_of(reinterpret_cast<uintptr_t>(kernel) + 1);
    return CUDA_SUCCESS;
  };
  recording_.driver.cuFuncGetAttribute = [](int* value, CUfunction_attribute attribute,
                                            CUfunction function) {
    // Of the megakernel itself the store asks too.
    const bool is_programs = function == handle_of(16) || function == handle_of(17);
    if (is_programs && attribute == CU_FUNC_ATTRIBUTE_NUM_REGS) asked.push_back(function);
    *value = 40;
    return CUDA_SUCCESS;
  };
  DeviceExecutor executor(recording_.driver, {.wait_for_code = true, .is_library = [](void* code) {
                                                return code != nullptr;
                                              }});
  WindowBackend::Kernel kernel{.context = context_,
                               .function = handle_of(16),
                               .module = &module_,
                               .name = "k",
                               .block = {32, 1, 1}};
  executor.find_code(kernel, body_);
  kernel.code = this;
  body_ = WindowBackend::no_body;
  executor.find_code(kernel, body_);
  EXPECT_EQ(asked, (std::vector<CUfunction>{handle_of(16), handle_of(17)}));
}

// One of 64 tasks is measured by the device's clock, the first of a window always.
TEST_F(DeviceExecutorTest, MeasuresWhatBlocksCost) {
  DeviceExecutor executor(recording_.driver, {.workers = 2, .wait_for_code = true});
  schedule::BlockCost cost;
  kernel_ = "waiting";
  const auto measured = window(executor);
  for (LaunchCode& launch : measured->code)
    launch.cost = &cost;
  EXPECT_EQ(run(executor, measured), CUDA_SUCCESS);
  EXPECT_GE(cost.nanoseconds(), 20'000U);
}

TEST_F(DeviceExecutorTest, CostsAreThoseThatWereMeasuredOfTheDevice) {
  std::vector<std::string> asked;
  DeviceExecutor executor(recording_.driver, {.measured_costs = [&](const std::string& device) {
                            asked.push_back(device);
                            return WindowBackend::Costs{.plain_launch = 5, .window = 7};
                          }});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(executor.costs().plain_launch, 5);
    EXPECT_EQ(executor.costs().window, 7);
  }
  EXPECT_THAT(asked, ElementsAre(StartsWith("Sluice CPU device")));
  DeviceExecutor other(recording_.driver,
                       {.measured_costs = [](const std::string&) { return std::nullopt; }});
  EXPECT_EQ(other.costs().window, WindowBackend::Costs().window);
}

TEST_F(DeviceExecutorTest, TellsWhenAStreamHasDoneWhatItHas) {
  DeviceExecutor executor(recording_.driver, {.workers = 2, .wait_for_code = true});
  const std::shared_ptr<Window> later = window(executor);
  std::promise<void> go_on;
  cuLaunchHostFunc(
      nullptr, [](void* data) { static_cast<std::promise<void>*>(data)->get_future().wait(); },
      &go_on);
  std::promise<int> ended;
  ASSERT_EQ(executor.when_done({context_, nullptr}, [&](int error) { ended.set_value(error); }),
            CUDA_SUCCESS);
  std::future<int> end = ended.get_future();
  EXPECT_EQ(end.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  go_on.set_value();
  EXPECT_EQ(end.get(), CUDA_SUCCESS);
  // Its event serves again, also for a window, and where the driver refuses to record it.
  recording_.driver.cuEventRecord = [](CUevent, CUstream) { return CUDA_ERROR_UNKNOWN; };
  EXPECT_EQ(executor.when_done({context_, nullptr}, [](int) { FAIL(); }), CUDA_ERROR_UNKNOWN);
  recording_.driver.cuEventRecord = &cuEventRecord;
  EXPECT_EQ(run(executor, later), CUDA_SUCCESS);
  EXPECT_EQ(recording_.events, 1U);
}

// One worker that comes to a task before what it waits for would wait for ever.
TEST_F(DeviceExecutorTest, EndsAWindowThatWaitsInVain) {
  DeviceExecutor executor(recording_.driver,
                          {.workers = 1, .wait_for_code = true, .most_polls = 100});
  const auto impossible = window(executor, false);
  ::testing::internal::CaptureStderr();
  EXPECT_NE(run(executor, impossible), CUDA_SUCCESS);
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, HasSubstr("ticket 0 waited in vain for counter 0 to hold 22: it held 0"));
  EXPECT_THAT(told, HasSubstr("off in this process"));
  EXPECT_THAT(find(executor).reason, StartsWith("a window waited in vain"));
  EXPECT_NE(run(executor, impossible), CUDA_SUCCESS);
}

}  // namespace
}  // namespace sluice::megakernel
