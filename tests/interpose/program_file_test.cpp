// Programs are told apart by how they were linked with CUDA, however damaged the file.
#include "interpose/driver/program_file.hpp"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "e2e/process.hpp"

namespace sluice::interpose {
namespace {

std::string cpu_folder() {
  return e2e::build_path("lib/cpu");
}

ProgramFile inspect(const std::string& program) {
  return inspect_program(e2e::build_path(program), cpu_folder()).value();
}

TEST(ProgramFile, SaysWhyAStaticRuntimeCannotBeReplaced) {
  const ProgramFile stripped = inspect("tests/e2e/static/stripped");
  EXPECT_TRUE(stripped.has_static_cuda_runtime);
  ASSERT_TRUE(stripped.obstacle);
  EXPECT_NE(stripped.obstacle->what.find("stripped"), std::string::npos);
  const ProgramFile lacking = inspect("tests/e2e/static/lacking");
  EXPECT_TRUE(lacking.has_static_cuda_runtime);
  ASSERT_TRUE(lacking.obstacle);
  EXPECT_NE(lacking.obstacle->what.find("cudaFreeLater"), std::string::npos);
}

TEST(ProgramFile, TellsStaticFromSharedRuntime) {
  const ProgramFile with_static = inspect("tests/e2e/static_runtime");
  EXPECT_TRUE(with_static.is_elf);
  EXPECT_TRUE(with_static.has_device_code);
  EXPECT_TRUE(with_static.has_static_cuda_runtime);
  EXPECT_FALSE(with_static.obstacle) << with_static.obstacle->line();
  EXPECT_FALSE(with_static.runtime_code.empty());

  const ProgramFile with_shared = inspect("samples/stencil");
  EXPECT_TRUE(with_shared.has_device_code);
  EXPECT_FALSE(with_shared.has_static_cuda_runtime);

  const ProgramFile without = inspect_program("/bin/true", cpu_folder()).value();
  EXPECT_TRUE(without.is_elf);
  EXPECT_FALSE(without.has_device_code);
}

// nvcc links a list of kernels to it that is empty.
TEST(ProgramFile, TakesSharedRuntimeOfAProgramWithoutKernelsForWhatItIs) {
  const ProgramFile program = inspect("tests/e2e/static/host_only");
  EXPECT_TRUE(program.has_device_code);
  EXPECT_FALSE(program.has_static_cuda_runtime);
  EXPECT_FALSE(program.obstacle) << program.obstacle->line();
}

TEST(ProgramFile, TakesAScriptForWhatItIs) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("script")) << "#!/bin/sh\nexit 0\n";
  EXPECT_FALSE(inspect_program(scratch.file("script"), cpu_folder()).value().is_elf);
  EXPECT_FALSE(inspect_program(scratch.file("none"), cpu_folder()).has_value());
}

TEST(ProgramFile, SurvivesEveryTruncation) {
  const ScratchFolder scratch;
  std::ifstream file(e2e::build_path("tests/e2e/static_runtime"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const std::string path = scratch.file("truncated");
  for (size_t length = 0; length < whole.size(); length += 1 + length / 2) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, length);
    EXPECT_TRUE(inspect_program(path, cpu_folder()).has_value()) << length;
  }
}

}  // namespace
}  // namespace sluice::interpose
