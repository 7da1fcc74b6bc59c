// What a program reads of the compiler's and the linker's messages, where it asks for them.
#include <cmath>
#include <cstring>
#include <string>

#include "driver_fixture.hpp"

namespace sluice::hostcuda {
namespace {

// Options is all that a program may ask for, in buffers of a size that is told.
struct Options {
  explicit Options(unsigned bytes, bool is_verbose = false)
      : errors(bytes + 1, '~'), information(bytes + 1, '~') {
    values[0] = errors.data();
    values[1] = values[3] = reinterpret_cast<void*>(uintptr_t{bytes});
    values[2] = information.data();
    values[4] = reinterpret_cast<void*>(uintptr_t{is_verbose});
  }
  unsigned error_bytes() const {
    return static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[1]));
  }
  unsigned information_bytes() const {
    return static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[3]));
  }
  float milliseconds() const {
    float time = 0;
    std::memcpy(&time, &values[5], sizeof time);
    return time;
  }

  CUjit_option names[6] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                           CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                           CU_JIT_LOG_VERBOSE,      CU_JIT_WALL_TIME};
  void* values[6] = {};
  std::string errors;  // one byte more than is told, which must stay as it is
  std::string information;
};

constexpr const char* good =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry quiet(.param .u64 a, .param .u32 b)\n{\n  ret;\n}\n";
constexpr const char* bad = ".version 9.0\n.target sm_75\n.entry (";

using JitLogTest = DriverTest;

TEST_F(JitLogTest, SilenceIsTwoEmptyStrings) {
  Options options(200);
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadDataEx(&module, good, 6, options.names, options.values), CUDA_SUCCESS);
  EXPECT_STREQ(options.errors.c_str(), "");
  EXPECT_EQ(options.error_bytes(), 0u);
  EXPECT_STREQ(options.information.c_str(), "");
  EXPECT_EQ(options.information_bytes(), 0u);
  EXPECT_GT(options.milliseconds(), 0.0f);
  EXPECT_TRUE(std::isfinite(options.milliseconds()));
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(JitLogTest, AnErrorIsALineInTheErrorLogAlone) {
  Options options(200, true);
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, bad, 6, options.names, options.values),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(options.errors.find(":3:"), std::string::npos) << options.errors;
  EXPECT_EQ(options.error_bytes(), std::strlen(options.errors.c_str()));
  EXPECT_EQ(options.information_bytes(), 0u);
}

TEST_F(JitLogTest, AShortBufferHoldsTheBeginning) {
  Options whole(200);
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, bad, 6, whole.names, whole.values), CUDA_ERROR_INVALID_PTX);
  Options cut(8);
  EXPECT_EQ(cuModuleLoadDataEx(&module, bad, 6, cut.names, cut.values), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cut.error_bytes(), 7u);
  EXPECT_EQ(cut.errors.c_str(), whole.errors.substr(0, 7));
  EXPECT_EQ(cut.errors[8], '~');
  Options none(0);
  EXPECT_EQ(cuModuleLoadDataEx(&module, bad, 6, none.names, none.values), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(none.error_bytes(), 0u);
  EXPECT_EQ(none.errors[0], '~');
}

TEST_F(JitLogTest, AVerboseLogTellsTheKernels) {
  Options options(300, true);
  CUlibrary library = nullptr;
  ASSERT_EQ(
      cuLibraryLoadData(&library, good, options.names, options.values, 6, nullptr, nullptr, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(std::string(options.information.c_str()),
            "kernel quiet: 12 bytes of parameters, 0 bytes of static shared memory, at most 1024 "
            "threads");
  EXPECT_EQ(options.information_bytes(), std::strlen(options.information.c_str()));
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
}

TEST_F(JitLogTest, OptionsWithoutArraysAreInvalid) {
  Options options(200);
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, good, 6, nullptr, options.values),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoadDataEx(&module, good, 6, options.names, nullptr), CUDA_ERROR_INVALID_VALUE);
  // A buffer whose size is not told gets nothing.
  EXPECT_EQ(cuModuleLoadDataEx(&module, bad, 1, options.names, options.values),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(options.errors[0], '~');
}

}  // namespace
}  // namespace sluice::hostcuda
