// The device runtime's functions by which blocks of a cooperative launch wait for each other,
// called by name as numba-cuda's code does.
#include <cstdint>
#include <string>
#include <vector>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

constexpr uint32_t blocks = 4;
constexpr uint32_t rounds = 20;

// In each round a block's first thread adds one to what its left neighbour has written, waits for
// the grid, and writes the sum; errors of waiting go to the word behind the blocks'.
const std::string kernel = R"(.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry k(.param .u64 words, .param .u32 scope)
{
.reg .pred %p, %other;
.reg .b32 %r<9>;
.reg .b64 %grid, %words, %left, %own;
.param .b32 scope_in, flags_in, error_out;
.param .b64 handle_out, handle_in;
ld.param.u64 %words, [words];
ld.param.u32 %r0, [scope];
st.param.b32 [scope_in], %r0;
call.uni (handle_out), cudaCGGetIntrinsicHandle, (scope_in);
ld.param.b64 %grid, [handle_out];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %nctaid.x;
mul.wide.u32 %own, %r1, 4;
add.u64 %own, %own, %words;
add.u32 %r3, %r1, %r2;
sub.u32 %r3, %r3, 1;
rem.u32 %r3, %r3, %r2;
mul.wide.u32 %left, %r3, 4;
add.u64 %left, %left, %words;
mov.u32 %r4, %tid.x;
setp.ne.u32 %other, %r4, 0;
mov.u32 %r5, 0;
round:
ld.volatile.global.u32 %r6, [%left];
add.u32 %r6, %r6, 1;
st.param.b64 [handle_in], %grid;
st.param.b32 [flags_in], 0;
call.uni (error_out), cudaCGSynchronize, (handle_in, flags_in);
ld.param.b32 %r7, [error_out];
@%other bra written;
st.volatile.global.u32 [%own], %r6;
setp.eq.u32 %p, %r7, 0;
@%p bra written;
mul.wide.u32 %left, %r2, 4;
add.u64 %left, %left, %words;
st.global.u32 [%left], %r7;
ret;
written:
st.param.b64 [handle_in], %grid;
call.uni (error_out), cudaCGSynchronize, (handle_in, flags_in);
add.u32 %r5, %r5, 1;
setp.lt.u32 %p, %r5, 20;
@%p bra round;
ret;
}
)";

class GridFunctions : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    CUmodule module = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, kernel.c_str()), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&kernel_, module, "k"), CUDA_SUCCESS);
  }

  // The words of four blocks and of errors after a launch in which words[i] began as i.
  std::vector<uint32_t> words(uint32_t scope, bool cooperative) {
    CUdeviceptr words = device_array<uint32_t>({0, 1, 2, 3, 0});
    void* parameters[] = {&words, &scope};
    EXPECT_EQ(
        cooperative
            ? cuLaunchCooperativeKernel(kernel_, blocks, 1, 1, 64, 1, 1, 0, nullptr, parameters)
            : cuLaunchKernel(kernel_, blocks, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
        CUDA_SUCCESS);
    return host_array<uint32_t>(words, blocks + 1);
  }

  CUfunction kernel_ = nullptr;
};

TEST_F(GridFunctions, BlocksOfACooperativeLaunchWaitForEachOther) {
  // Twenty rounds of four blocks take each word round five times.
  EXPECT_EQ(words(1, true), (std::vector<uint32_t>{rounds, 1 + rounds, 2 + rounds, 3 + rounds, 0}));
}

TEST_F(GridFunctions, OtherScopesAndOtherLaunchesAreTold) {
  EXPECT_EQ(words(2, true)[blocks], 1u);
  EXPECT_EQ(words(1, false)[blocks], 1u);
}

TEST_F(GridFunctions, TheLinkerKnowsThem) {
  CUlinkState state = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &state), CUDA_SUCCESS);
  std::string text = kernel;
  ASSERT_EQ(cuLinkAddData(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "unit", 0, nullptr,
                          nullptr),
            CUDA_SUCCESS);
  // As programs do that have the runtime's library beside them, which is machine code.
  EXPECT_EQ(cuLinkAddData(state, CU_JIT_INPUT_LIBRARY, text.data(), text.size(), "libcudadevrt.a",
                          0, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLinkAddData(state, CU_JIT_INPUT_LIBRARY, text.data(), text.size(), "libother.a", 0,
                          nullptr, nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  void* image = nullptr;
  ASSERT_EQ(cuLinkComplete(state, &image, nullptr), CUDA_SUCCESS);
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&kernel_, module, "k"), CUDA_SUCCESS);
  EXPECT_EQ(words(1, true)[0], rounds);
  EXPECT_EQ(cuLinkDestroy(state), CUDA_SUCCESS);
}

}  // namespace
}  // namespace sluice::hostcuda
