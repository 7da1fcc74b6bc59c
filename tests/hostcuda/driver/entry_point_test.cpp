#include <cstring>
#include <set>

#include <dlfcn.h>

#include "driver_fixture.hpp"
#include "hostcuda/block_abi.h"

namespace sluice::hostcuda {
namespace {

void* exported(const char* symbol) {
  static void* library = dlopen(SLUICE_TEST_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return dlsym(library, symbol);
}

struct Answer {
  CUresult result;
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
};

Answer ask(const char* symbol, int version, cuuint64_t flags = CU_GET_PROC_ADDRESS_DEFAULT) {
  Answer answer;
  answer.result = cuGetProcAddress(symbol, &answer.function, version, flags, &answer.status);
  return answer;
}

TEST(EntryPoints, VersionIsThatOfCuda13) {
  int version = 0;
  EXPECT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, 13000);
}

TEST(EntryPoints, TheVersionAskedForPicksTheForm) {
  const struct {
    const char* name;
    int version;
    const char* symbol;
  } cases[] = {
      {"cuMemAlloc", 3020, "cuMemAlloc_v2"},
      {"cuMemAlloc", 13000, "cuMemAlloc_v2"},
      {"cuCtxCreate", 2000, "cuCtxCreate"},
      {"cuCtxCreate", 11030, "cuCtxCreate_v2"},
      {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
      {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
      {"cuMemPrefetchAsync", 12010, "cuMemPrefetchAsync"},
      {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2"},
      {"cuGetProcAddress", 11030, "cuGetProcAddress"},
      {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
      {"cuCtxSynchronize", 12080, "cuCtxSynchronize"},
      {"cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"},
      {"cuLaunchKernel", 4000, "cuLaunchKernel"},
  };
  for (const auto& c : cases) {
    const Answer answer = ask(c.name, c.version);
    EXPECT_EQ(answer.result, CUDA_SUCCESS) << c.name;
    EXPECT_EQ(answer.status, CU_GET_PROC_ADDRESS_SUCCESS) << c.name;
    EXPECT_NE(answer.function, nullptr) << c.name;
    EXPECT_EQ(answer.function, exported(c.symbol)) << c.name << " " << c.version;
  }
}

TEST(EntryPoints, WhatIsMissingIsSaidByTheStatus) {
  Answer answer = ask("cuMemAlloc", 3010);
  EXPECT_EQ(answer.result, CUDA_SUCCESS);
  EXPECT_EQ(answer.function, nullptr);
  EXPECT_EQ(answer.status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  for (const char* name : {"cuGreenCtxCreate", "cuNoSuchFunction", "cuMemAlloc_v2"}) {
    answer = ask(name, 13000);
    EXPECT_EQ(answer.result, CUDA_SUCCESS) << name;
    EXPECT_EQ(answer.function, nullptr) << name;
    EXPECT_EQ(answer.status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) << name;
  }
}

TEST(EntryPoints, WithoutAStatusTheResultSaysIt) {
  void* function = &function;
  EXPECT_EQ(cuGetProcAddress("cuGreenCtxCreate", &function, 13000, 0, nullptr),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
}

TEST(EntryPoints, RefusesQueriesThatMeanNothing) {
  void* function = nullptr;
  EXPECT_EQ(ask("", 13000).result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(ask("cuInit", 13010).result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(ask("cuInit", 13000, 3).result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress(nullptr, &function, 13000, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress("cuInit", nullptr, 13000, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(EntryPoints, TheKindOfDefaultStreamPicksTheForm) {
  constexpr cuuint64_t per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  EXPECT_EQ(ask("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM).function,
            exported("cuLaunchKernel"));
  EXPECT_EQ(ask("cuLaunchKernel", 13000, per_thread).function, exported("cuLaunchKernel_ptsz"));
  EXPECT_EQ(ask("cuMemcpyHtoD", 13000, per_thread).function, exported("cuMemcpyHtoD_v2_ptds"));
  EXPECT_EQ(ask("cuStreamWaitValue32", 13000, per_thread).function,
            exported("cuStreamWaitValue32_v2_ptsz"));
  EXPECT_EQ(ask("cuStreamBatchMemOp", 13000, per_thread).function,
            exported("cuStreamBatchMemOp_v2_ptsz"));
  EXPECT_EQ(ask("cuMemAlloc", 13000, per_thread).function, exported("cuMemAlloc_v2"));
  EXPECT_NE(exported("cuLaunchKernel_ptsz"), exported("cuLaunchKernel"));
}

TEST(EntryPoints, EveryFunctionOfTheTableIsExported) {
#define SLUICE_EXPORT(name, version, symbol)        \
  EXPECT_NE(exported(#symbol), nullptr) << #symbol; \
  EXPECT_NE(ask(#name, 13000).function, nullptr) << #name;
#include "hostcuda/driver/api/exports.def"
#undef SLUICE_EXPORT
}

TEST(EntryPoints, NothingElseIsExported) {
  EXPECT_EQ(exported("_ZN6sluice8hostcuda6Driver10initialiseEv"), nullptr);
  EXPECT_EQ(exported("LLVMContextCreate"), nullptr);
}

TEST(EntryPoints, ErrorsHaveNamesAndTexts) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  // Programs compare what CUDA's driver says.
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_NOT_FOUND, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "named symbol not found");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid argument");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "context already current");
  EXPECT_EQ(cuGetErrorString(CUDA_SUCCESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "no error");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  // An error of the runtime API alone.
  EXPECT_EQ(cuGetErrorString(static_cast<CUresult>(13), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST(EntryPoints, OnlySluicesOwnPrivateTableIsThere) {
  const unsigned char bytes[16] = SLUICE_HOST_DEVICE_TABLE_UUID;
  CUuuid ours;
  std::memcpy(ours.bytes, bytes, sizeof(bytes));
  CUuuid other = ours;
  other.bytes[15] ^= 1;
  const void* table = nullptr;
  ASSERT_EQ(cuGetExportTable(&table, &ours), CUDA_SUCCESS);
  EXPECT_EQ(static_cast<const SluiceHostDeviceTable*>(table)->size, sizeof(SluiceHostDeviceTable));
  EXPECT_EQ(cuGetExportTable(&table, &other), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(table, nullptr);
}

}  // namespace
}  // namespace sluice::hostcuda
