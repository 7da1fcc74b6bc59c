// The driver's linker: PTX units into one image, and what it says of those that don't fit.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/scratch_folder.hpp"
#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

constexpr const char* header = ".version 7.0\n.target sm_75\n.address_size 64\n";

// values[i] = twice(values[i]) + bias, and one to the unit's own count.
const std::string kernel_unit =
    std::string(header) +
    ".extern .func (.param .b32 r) twice(.param .b32 x);\n.extern .const .align 4 .u32 bias;\n"
    ".global .align 4 .u32 count = 10;\n"
    ".visible .entry k(.param .u64 values)\n{\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
    ".param .b32 p;\n.param .b32 q;\n"
    "ld.param.u64 %d0, [values];\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %d0, %r0, 4, %d0;\n"
    "ld.global.u32 %r1, [%d0];\nst.param.b32 [p], %r1;\ncall.uni (q), twice, (p);\n"
    "ld.param.b32 %r2, [q];\nld.const.u32 %r3, [bias];\nadd.u32 %r2, %r2, %r3;\n"
    "st.global.u32 [%d0], %r2;\natom.global.add.u32 %r4, [count], 1;\nret;\n}\n";

const std::string function_unit =
    std::string(header) +
    ".visible .const .align 4 .u32 bias = 5;\n.global .align 4 .u32 count = 20;\n"
    ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<9>;\n"
    "ld.param.b32 %r0, [x];\nadd.u32 %r0, %r0, %r0;\natom.global.add.u32 %r1, [count], 100;\n"
    "st.param.b32 [r], %r0;\nret;\n}\n";

class LinkTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    void* values[] = {errors_, reinterpret_cast<void*>(uintptr_t{sizeof errors_})};
    std::memcpy(values_, values, sizeof values);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    ASSERT_EQ(cuLinkCreate(2, options, values_, &state_), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuLinkDestroy(state_), CUDA_SUCCESS);
    EXPECT_EQ(cuLinkDestroy(state_), CUDA_ERROR_INVALID_HANDLE);
    DriverTest::TearDown();
  }

  CUresult add(std::string ptx, const char* name) {
    return cuLinkAddData(state_, CU_JIT_INPUT_PTX, ptx.data(), ptx.size() + 1, name, 0, nullptr,
                         nullptr);
  }
  CUresult complete() { return cuLinkComplete(state_, &image_, &bytes_); }

  // Runs kernel k of the linked image for four threads.
  std::vector<uint32_t> run(std::vector<uint32_t> values) {
    CUmodule module = nullptr;
    CUfunction kernel = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, image_), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&kernel, module, "k"), CUDA_SUCCESS);
    CUdeviceptr pointer = device_array(values);
    void* parameters[] = {&pointer};
    EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr),
              CUDA_SUCCESS);
    std::vector<uint32_t> result = host_array<uint32_t>(pointer, values.size());
    for (const char* name : {"count", "count$2"}) {
      CUdeviceptr count = 0;
      if (cuModuleGetGlobal(&count, nullptr, module, name) != CUDA_SUCCESS) continue;
      result.push_back(host_array<uint32_t>(count, 1)[0]);
    }
    EXPECT_EQ(cuMemFree(pointer), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    return result;
  }

  CUlinkState state_ = nullptr;
  void* image_ = nullptr;
  size_t bytes_ = 0;
  char errors_[400] = {};
  void* values_[2] = {};
};

TEST_F(LinkTest, AnImageOfOneUnitIsPtx) {
  EXPECT_EQ(complete(), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(add(read_text(SLUICE_TEST_PTX), "kernels"), CUDA_SUCCESS);
  ASSERT_EQ(complete(), CUDA_SUCCESS);
  EXPECT_EQ(std::strlen(static_cast<const char*>(image_)) + 1, bytes_);
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, image_), CUDA_SUCCESS);
  CUfunction add = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&add, module, "add"), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_STREQ(errors_, "");
}

TEST_F(LinkTest, KernelsCallFunctionsAndReadVariablesOfOtherUnits) {
  ASSERT_EQ(add(kernel_unit, "kernel"), CUDA_SUCCESS);
  ASSERT_EQ(add(function_unit, "function"), CUDA_SUCCESS);
  ASSERT_EQ(complete(), CUDA_SUCCESS);
  EXPECT_EQ(run({1, 2, 3, 4}), (std::vector<uint32_t>{7, 9, 11, 13, 14, 420}));
  void* again = nullptr;
  EXPECT_EQ(cuLinkComplete(state_, &again, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(again, image_);
}

TEST_F(LinkTest, AVisibleFunctionTakesTheWeakOnesPlace) {
  const std::string weak = std::string(header) +
                           ".weak .func (.param .b32 r) twice(.param .b32 x)\n{\n"
                           "st.param.b32 [r], 0;\nret;\n}\n";
  ASSERT_EQ(add(weak, "weak"), CUDA_SUCCESS);
  ASSERT_EQ(add(function_unit, "function"), CUDA_SUCCESS);
  ASSERT_EQ(add(kernel_unit, "kernel"), CUDA_SUCCESS);
  ASSERT_EQ(complete(), CUDA_SUCCESS);
  EXPECT_EQ(run({10, 0, 0, 0})[0], 25u);
}

TEST_F(LinkTest, UnitsComeFromFilesToo) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("function.ptx");
  std::ofstream(path) << function_unit;
  ASSERT_EQ(add(kernel_unit, "kernel"), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkAddFile(state_, CU_JIT_INPUT_PTX, "/no/such/file", 0, nullptr, nullptr),
            CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuLinkAddFile(state_, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(complete(), CUDA_SUCCESS);
  EXPECT_EQ(run({1, 1, 1, 1})[3], 7u);
}

TEST_F(LinkTest, AFatBinaryBringsItsPtx) {
  std::string image = read_text(SLUICE_TEST_FAT_BINARY);
  ASSERT_EQ(cuLinkAddData(state_, CU_JIT_INPUT_FATBINARY, image.data(), image.size(), nullptr, 0,
                          nullptr, nullptr),
            CUDA_SUCCESS);
  std::string machine = read_text(SLUICE_TEST_MACHINE_CODE);
  EXPECT_EQ(cuLinkAddData(state_, CU_JIT_INPUT_FATBINARY, machine.data(), machine.size(), nullptr,
                          0, nullptr, nullptr),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(std::string(errors_).find("sm_75"), std::string::npos) << errors_;
  EXPECT_EQ(cuLinkAddData(state_, CU_JIT_INPUT_FATBINARY, machine.data(), 20, nullptr, 0, nullptr,
                          nullptr),
            CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(complete(), CUDA_SUCCESS);
}

TEST_F(LinkTest, AMissingSymbolIsNamedAndMayStillCome) {
  ASSERT_EQ(add(kernel_unit, "kernel"), CUDA_SUCCESS);
  EXPECT_EQ(complete(), CUDA_ERROR_INVALID_PTX);
  const std::string line =
      "kernel: 'twice' is used, and no unit defines it; give the linker the PTX that defines it";
  EXPECT_EQ(errors_, line);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(values_[1]), line.size());
  ASSERT_EQ(add(function_unit, "function"), CUDA_SUCCESS);
  EXPECT_EQ(complete(), CUDA_SUCCESS);
  EXPECT_EQ(run({0, 1, 2, 3})[2], 9u);
}

TEST_F(LinkTest, LinesAddUpInTheLog) {
  EXPECT_EQ(add("nonsense", "first"), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(add("nonsense", "second"), CUDA_ERROR_INVALID_PTX);
  const std::string log = errors_;
  EXPECT_EQ(log.find("first:1:"), 0u) << log;
  EXPECT_NE(log.find("\nsecond:1:"), std::string::npos) << log;
  EXPECT_EQ(complete(), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LinkTest, RefusesWhatItCannotTake) {
  std::string ptx = kernel_unit;
  EXPECT_EQ(cuLinkAddData(state_, CU_JIT_INPUT_CUBIN, ptx.data(), ptx.size(), "unit", 0, nullptr,
                          nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  CUjit_option option = CU_JIT_INFO_LOG_BUFFER;
  void* value = nullptr;
  EXPECT_EQ(
      cuLinkAddData(state_, CU_JIT_INPUT_PTX, ptx.data(), ptx.size(), "unit", 1, &option, &value),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuLinkAddData(nullptr, CU_JIT_INPUT_PTX, ptx.data(), ptx.size(), "unit", 0, nullptr, nullptr),
      CUDA_ERROR_INVALID_HANDLE);
  CUlinkState state = nullptr;
  EXPECT_EQ(cuLinkCreate(1, &option, nullptr, &state), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace sluice::hostcuda
