#include <cstdint>
#include <string>
#include <vector>

#include "driver_fixture.hpp"
#include "hostcuda/block_abi.h"

namespace sluice::hostcuda {
namespace {

using ModuleErrorTest = DriverTest;

// load() loads PTX text while watching what goes to stderr.
struct Load {
  CUresult result;
  std::string log;
};

Load load(const void* image, CUmodule* module) {
  testing::internal::CaptureStderr();
  const CUresult result = cuModuleLoadData(module, image);
  return {result, testing::internal::GetCapturedStderr()};
}

size_t lines(const std::string& text) {
  size_t count = 0;
  for (const char letter : text)
    count += letter == '\n';
  return count;
}

TEST_F(ModuleErrorTest, MachineCodeAloneIsSaidInOneLine) {
  const std::string image = read_text(SLUICE_TEST_MACHINE_CODE);
  ASSERT_FALSE(image.empty());
  CUmodule module = nullptr;
  const Load loaded = load(image.data(), &module);
  EXPECT_EQ(loaded.result, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(lines(loaded.log), 1u) << loaded.log;
  EXPECT_NE(loaded.log.find("sluice cpu device: "), std::string::npos) << loaded.log;
  EXPECT_NE(loaded.log.find("sm_75"), std::string::npos) << loaded.log;
}

TEST_F(ModuleErrorTest, ASyntaxErrorIsSaidInOneLineWithItsPlace) {
  const char ptx[] =
      ".version 9.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry k()\n{\n  mov.u32 %r1 ,;\n  ret;\n}\n";
  CUmodule module = nullptr;
  const Load loaded = load(ptx, &module);
  EXPECT_EQ(loaded.result, CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(lines(loaded.log), 1u) << loaded.log;
  EXPECT_NE(loaded.log.find(":6:"), std::string::npos) << loaded.log;
}

TEST_F(ModuleErrorTest, AMissingFileIsSaid) {
  testing::internal::CaptureStderr();
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoad(&module, "/no/such/file.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/no/such/file.ptx"), std::string::npos);
}

TEST_F(ModuleErrorTest, AnUnknownInstructionFailsOnlyTheKernelThatHasIt) {
  const char ptx[] =
      ".version 9.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry good()\n{\n  ret;\n}\n"
      ".visible .entry bad()\n{\n  frobnicate.b32 1;\n  ret;\n}\n";
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, ptx), CUDA_SUCCESS);
  CUfunction good = nullptr;
  CUfunction bad = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&good, module, "good"), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernel(good, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  testing::internal::CaptureStderr();
  CUresult result = cuModuleGetFunction(&bad, module, "bad");
  for (int i = 0; i < 2 && bad != nullptr; ++i) {
    result = cuLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(result, CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(lines(log), 1u) << log;
  EXPECT_NE(log.find("frobnicate"), std::string::npos) << log;
}

using ModuleTest = KernelTest;

TEST_F(ModuleTest, FindsKernelsByName) {
  CUfunction missing = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&missing, module_, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
  const CUfunction add = function("add");
  EXPECT_EQ(function("add"), add);
  const char* name = nullptr;
  EXPECT_EQ(cuFuncGetName(&name, add), CUDA_SUCCESS);
  EXPECT_STREQ(name, "add");
  CUmodule module = nullptr;
  EXPECT_EQ(cuFuncGetModule(&module, add), CUDA_SUCCESS);
  EXPECT_EQ(module, module_);
  unsigned count = 0;
  EXPECT_EQ(cuModuleGetFunctionCount(&count, module_), CUDA_SUCCESS);
  EXPECT_EQ(count, 9u);
}

TEST_F(ModuleTest, KernelsTellTheirParameters) {
  const CUfunction mixed = function("mixed");
  const size_t expected[][2] = {{0, 1}, {8, 8}, {16, 2}, {24, 8}};
  for (size_t i = 0; i < 4; ++i) {
    size_t offset = 0;
    size_t size = 0;
    EXPECT_EQ(cuFuncGetParamInfo(mixed, i, &offset, &size), CUDA_SUCCESS);
    EXPECT_EQ(offset, expected[i][0]);
    EXPECT_EQ(size, expected[i][1]);
  }
  size_t offset = 0;
  EXPECT_EQ(cuFuncGetParamInfo(mixed, 4, &offset, nullptr), CUDA_ERROR_INVALID_VALUE);
  int value = 0;
  EXPECT_EQ(
      cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function("bounded")),
      CUDA_SUCCESS);
  EXPECT_EQ(value, 64);
}

// CUB looks for the version of its kernels among those that it was compiled for.
TEST_F(ModuleTest, KernelsAreOfTheArchitectureOfTheirPtx) {
  for (const auto& [target, version] :
       {std::pair{"sm_61", 61}, std::pair{"sm_89", 89}, std::pair{"sm_90a", 90}}) {
    const std::string ptx = std::string(".version 8.0\n.target ") + target +
                            "\n.address_size 64\n.visible .entry k() { ret; }\n";
    CUmodule module = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, ptx.c_str()), CUDA_SUCCESS) << target;
    CUfunction kernel = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&kernel, module, "k"), CUDA_SUCCESS);
    for (const CUfunction_attribute which :
         {CU_FUNC_ATTRIBUTE_PTX_VERSION, CU_FUNC_ATTRIBUTE_BINARY_VERSION}) {
      int value = 0;
      EXPECT_EQ(cuFuncGetAttribute(&value, which, kernel), CUDA_SUCCESS);
      EXPECT_EQ(value, version);
    }
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  }
}

TEST_F(ModuleTest, VariablesAreMemoryOfTheDevice) {
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal(&counter, &bytes, module_, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(host_array<int>(counter, 1)[0], 7);
  EXPECT_EQ(launch(function("add_to_counter"), 1, 1, nullptr, 5), CUDA_SUCCESS);
  EXPECT_EQ(host_array<int>(counter, 1)[0], 12);
  EXPECT_EQ(cuModuleGetGlobal(&counter, &bytes, module_, "nothing_here"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(ModuleTest, UnloadingEndsItsHandles) {
  const CUfunction nothing = function("nothing");
  EXPECT_EQ(launch(nothing, 1, 1, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module_), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(nothing, 1, 1, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ModuleTest, LibrariesGiveKernelsThatLaunchAsFunctions) {
  const std::string ptx = read_text(SLUICE_TEST_PTX);
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr counter = 0;
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "add_to_counter"), CUDA_SUCCESS);
  ASSERT_EQ(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetGlobal(&counter, nullptr, library, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(launch(function, 1, 1, nullptr, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(kernel), 1, 1, nullptr, 1), CUDA_SUCCESS);
  EXPECT_EQ(host_array<int>(counter, 1)[0], 9);
  CUmodule module = nullptr;
  EXPECT_EQ(cuLibraryGetModule(&module, library), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(launch(function, 1, 1, nullptr, 1), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ModuleTest, BlockCodeRunsBlocksOneByOne) {
  const unsigned char uuid[16] = SLUICE_HOST_DEVICE_TABLE_UUID;
  CUuuid id;
  std::copy(uuid, uuid + 16, id.bytes);
  const void* found = nullptr;
  ASSERT_EQ(cuGetExportTable(&found, &id), CUDA_SUCCESS);
  const auto* table = static_cast<const SluiceHostDeviceTable*>(found);
  SluiceBlockCode code = {};
  const uint32_t block[3] = {4, 1, 1};
  ASSERT_EQ(table->get_block_code(function("scale"), block, 0, &code), CUDA_SUCCESS);
  ASSERT_NE(code.function, nullptr);
  std::vector<int> values(16, 1);
  struct {
    int* values;
    int factor;
  } parameters = {values.data(), 3};
  const SluiceBlockLaunch launch = {&parameters, {4, 1, 1}, 0};
  std::vector<char> scratch(code.scratch_bytes + 64);
  void* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
  code.function(&launch, 1, 2, aligned);
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(values[i], i / 4 == 1 || i / 4 == 2 ? 3 : 1) << i;
  EXPECT_EQ(table->get_block_code(&code, block, 0, &code), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace sluice::hostcuda
