// Memory comes and goes: a buffer is an allocation, not an address.
#include "runtime/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using testing::PingPong;

using MemoryTest = testing::RuntimeTest;

TEST_F(MemoryTest, MemoryFreedAndAllocatedAgainIsANewBuffer) {
  start();
  PingPong program(64);
  program.allocate_in(*runtime);
  program.launch(*runtime, kernels["step"], 0);
  program.free_in(*runtime);
  program.allocate_in(*runtime);
  program.launch(*runtime, kernels["step"], 1);
  synchronise();
  EXPECT_EQ(runtime->counters().resolved, 0U);
  EXPECT_EQ(runtime->counters().interned, 2U);
  EXPECT_EQ(runtime->counters().footprints, 1U);
}

TEST_F(MemoryTest, FreeingClosesTheWindow) {
  start();
  PingPong program(64);
  PingPong other(64);
  program.allocate_in(*runtime);
  other.allocate_in(*runtime);
  device.pause();
  program.launch(*runtime, kernels["step"], 0);
  program.launch(*runtime, kernels["step"], 1);
  EXPECT_EQ(device.events().size(), 1U);
  other.free_in(*runtime);
  EXPECT_EQ(device.events().size(), 2U);
  device.resume();
  device.wait_idle();
}

TEST_F(MemoryTest, ACopyOverABufferEndsDependencesOnWhatItOverwrote) {
  start();
  PingPong program(64);
  program.allocate_in(*runtime);
  program.launch(*runtime, kernels["step"], 0);
  synchronise();
  for (size_t i = 0; i < 2; ++i) {
    runtime->memory_written(reinterpret_cast<uint64_t>(program.buffer(i).data()), 64 * 4);
  }
  program.launch(*runtime, kernels["step"], 1);
  synchronise();
  EXPECT_EQ(runtime->counters().resolved, 0U);
}

// Where the host can't touch device memory, managed and pinned memory are no buffers; nor are
// mappings of virtual memory anywhere. The end of what was there before may have gone unseen: a
// device that was reset frees all.
TEST_F(MemoryTest, WhatIsNoBufferTakesThePlaceOfOneThatWas) {
  start();
  for (const Memory memory : {Memory::host_may_watch, Memory::no_buffer}) {
    PingPong program(64);
    program.allocate_in(*runtime);
    program.launch(*runtime, kernels["step"], 0);
    runtime->memory_allocated(reinterpret_cast<uint64_t>(program.buffer(1).data()), 64 * 4, memory);
    program.launch(*runtime, kernels["step"], 1);
    synchronise();
    program.free_in(*runtime);
  }
  EXPECT_EQ(device.events(),
            (std::vector<std::string>{"window 0", "launch step", "window 0", "launch step"}));
}

TEST_F(MemoryTest, CodeUnloadedAndLoadedAgainIsFoundAgain) {
  start();
  PingPong program(64);
  program.allocate_in(*runtime);
  program.launch(*runtime, kernels["step"], 0);
  runtime->code_unloaded(code());
  const std::string ptx = kernels.ptx();
  int second_code = 0;
  int kernel_handle = 0;
  runtime->code_loaded(&second_code, ptx.c_str());
  runtime->function_found(&kernel_handle, &second_code, "step");
  runtime->function_alias(&kernels["step"], &kernel_handle);
  program.launch(*runtime, kernels["step"], 1);
  synchronise();
  EXPECT_EQ(device.events(), (std::vector<std::string>{"window 0", "window 0"}));
  EXPECT_EQ(runtime->counters().resolved, 1U);
}

// The PTX of these kernels asks for sm_75.
TEST_F(MemoryTest, CodeThatIsTooNewForTheDeviceIsNotAnalysed) {
  device.takes_architecture = 70;
  start();
  PingPong program(64);
  program.allocate_in(*runtime);
  program.launch(*runtime, kernels["step"], 0);
  synchronise();
  EXPECT_EQ(device.events(), (std::vector<std::string>{"launch step"}));
}

}  // namespace
}  // namespace sluice::runtime
