// The driver's linker: PTX units into one image.
#include <string>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

class LinkTest : public DriverTest {};

TEST_F(LinkTest, TheLinkerGivesAnImageOfPtx) {
  std::string ptx = read_text(SLUICE_TEST_PTX);
  CUlinkState state = nullptr;
  void* image = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &state), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkComplete(state, &image, &bytes), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuLinkAddData(state, CU_JIT_INPUT_PTX, ptx.data(), ptx.size() + 1, "kernels", 0,
                          nullptr, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cuLinkComplete(state, &image, &bytes), CUDA_SUCCESS);
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(state), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
  CUfunction add = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&add, module, "add"), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

}  // namespace
}  // namespace sluice::hostcuda
