#include <sys/wait.h>
#include <unistd.h>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

using ForkTest = DriverTest;

// The device's threads do not exist in a forked child: the driver says so and does not hang.
TEST_F(ForkTest, TheChildIsToldAndTheParentGoesOn) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(memory, 1, 64), CUDA_SUCCESS);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool told = cuMemsetD8(memory, 2, 64) == CUDA_ERROR_NOT_INITIALIZED &&
                      cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED &&
                      cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
    _exit(told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(host_array<char>(memory, 1)[0], 1);
}

}  // namespace
}  // namespace sluice::hostcuda
