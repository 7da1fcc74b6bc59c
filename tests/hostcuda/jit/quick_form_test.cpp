// A kernel runs in a quick form first, and goes over to the good one.
#include "hostcuda/jit/library/quick_form.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/file/temporary_folder.hpp"
#include "base/processors.hpp"
#include "hostcuda/jit/block_compiler.hpp"
#include "ptx/parser.hpp"

namespace sluice::hostcuda {
namespace {

namespace fs = std::filesystem;

// What the functions below were called for.
struct Calls {
  std::atomic<uint32_t> quick = 0, good = 0;
  std::function<void(uint32_t)> at_block;
};
Calls* calls = nullptr;

void run_quick(const SluiceBlockLaunch*, uint32_t first, uint32_t count, void*) {
  EXPECT_EQ(count, 1u);
  calls->quick += count;
  if (calls->at_block) calls->at_block(first);
}

void run_good(const SluiceBlockLaunch*, uint32_t, uint32_t count, void*) {
  calls->good += count;
}

class QuickFormTest : public testing::Test {
 protected:
  QuickFormTest() { calls = &calls_; }
  void run(uint32_t first, uint32_t count, SluiceBlockFunction quick = run_quick) {
    form_.run(quick, nullptr, first, count, nullptr);
  }
  Calls calls_;
  jit::QuickForm form_;
};

TEST_F(QuickFormTest, GoesOverBetweenTwoBlocks) {
  calls_.at_block = [&](uint32_t block) {
    if (block == 12) form_.go_over(run_good);
  };
  run(10, 8);
  EXPECT_EQ(calls_.quick, 3u);
  EXPECT_EQ(calls_.good, 5u);
  run(0, 8);
  EXPECT_EQ(calls_.quick, 3u);
  EXPECT_EQ(calls_.good, 13u);
}

TEST_F(QuickFormTest, LeavesAProcessorToWhoMakesTheGoodForm) {
  const uint32_t most = std::max<uint32_t>(2, available_processors()) - 1;
  std::atomic<uint32_t> inside = 0;
  calls_.at_block = [&](uint32_t) {
    EXPECT_LE(++inside, most);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --inside;
  };
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < most + 3; ++i)
    threads.emplace_back([&] { run(0, 5); });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(calls_.quick, 5 * (most + 3));
}

TEST_F(QuickFormTest, BlocksWithoutAQuickFormWaitForTheGoodOne) {
  std::thread waits([&] { run(0, 4, nullptr); });
  form_.go_over(run_good);
  waits.join();
  EXPECT_EQ(calls_.good, 4u);
}

TEST_F(QuickFormTest, WhereThereIsNoGoodFormTheyTrap) {
  uint8_t fault = 0;
  std::thread waits([&] { run(0, 4, nullptr); });
  form_.stay(&fault);
  waits.join();
  EXPECT_EQ(fault, static_cast<uint8_t>(DeviceFault::trap));
  run(0, 4);
  EXPECT_EQ(calls_.quick, 4u);
}

// A process that a test starts has its parent's.
const std::string& folder() {
  static const std::string path = [] {
    if (const char* of_parent = std::getenv("SLUICE_TEST_FOLDER")) return std::string(of_parent);
    static const TemporaryFolder made("sluice-quick-form");
    setenv("SLUICE_TEST_FOLDER", made.path().c_str(), 1);
    return made.path();
  }();
  return path;
}

// The process's cache is found at its first use.
const bool is_set = setenv("SLUICE_CODE_CACHE", folder().c_str(), 1) == 0;

constexpr uint32_t threads = 64;
constexpr uint32_t blocks = 64;

// Each thread's number goes through so many steps that code takes long to make.
constexpr int steps = 1500;
float result_of(uint32_t thread) {
  auto x = static_cast<float>(thread);
  for (int i = 0; i < steps; ++i)
    x = i % 3 == 2 ? x * 0.5F + static_cast<float>(i) : std::fma(x, 0.75F, static_cast<float>(i));
  return x;
}
std::string long_kernel() {
  std::string text =
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
      ".reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n"
      "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 64, %r2;\n"
      "cvt.rn.f32.u32 %f1, %r3; ld.param.u64 %rd1, [out]; mad.wide.u32 %rd2, %r3, 4, %rd1;\n";
  for (int i = 0; i < steps; ++i) {
    const std::string number = std::to_string(i) + "; cvt.rn.f32.u32 %f2, %r1;\n";
    text += "mov.u32 %r1, " + number;
    text += i % 3 == 2 ? "mul.rn.f32 %f1, %f1, 0f3F000000; add.rn.f32 %f1, %f1, %f2;\n"
                       : "fma.rn.f32 %f1, %f1, 0f3F400000, %f2;\n";
  }
  return text + "st.global.f32 [%rd2], %f1; ret;\n}\n";
}

class FirstCodeTest : public testing::Test {
 protected:
  FirstCodeTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const fs::directory_entry& entry : fs::directory_iterator(folder()))
      fs::remove(entry.path());
  }

  static std::unique_ptr<CompiledModule> load() {
    Result<ptx::Module> parsed = ptx::parse(long_kernel());
    auto module = CompiledModule::create(std::move(*parsed), FirstCode::soon);
    return std::move(*module);
  }

  static void expect_results(const SluiceBlockCode& code) {
    std::array<float, size_t{threads} * blocks> out{};
    float* const place = out.data();
    const SluiceBlockLaunch launch{&place, {blocks, 1, 1}, 0};
    std::vector<std::byte> scratch(code.scratch_bytes + 64);
    std::thread other([&, own = std::vector<std::byte>(code.scratch_bytes + 64)]() mutable {
      code.function(&launch, blocks / 2, blocks / 2, aligned(own));
    });
    code.function(&launch, 0, blocks / 2, aligned(scratch));
    other.join();
    for (uint32_t thread = 0; thread < out.size(); ++thread)
      ASSERT_EQ(out[thread], result_of(thread)) << thread;
  }

  static size_t files() {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder()), {}));
  }

 private:
  static void* aligned(std::vector<std::byte>& bytes) {
    const auto address = reinterpret_cast<uintptr_t>(bytes.data());
    return bytes.data() + (64 - address % 64) % 64;
  }
};

TEST_F(FirstCodeTest, GivesTheSameBitsBeforeAndAfterItGoesOver) {
  const std::unique_ptr<CompiledModule> module = load();
  const Result<SluiceBlockCode> code = module->block_code("k", {threads}, 0);
  ASSERT_TRUE(code) << code.error().line();
  expect_results(*code);
  while (files() == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int i = 0; i < 10; ++i)
    expect_results(*code);
}

// The thread that makes the code outlives the module.
TEST_F(FirstCodeTest, AModuleMayBeUnloadedMeanwhile) {
  ASSERT_TRUE(load()->block_code("k", {threads}, 0));
  while (files() == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(FirstCodeTest, AProcessThatEndsKeepsItForItsNextStart) {
  EXPECT_EXIT(
      {
        load()->block_code("k", {threads}, 0);
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace sluice::hostcuda
