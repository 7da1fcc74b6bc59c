// Programs are told apart by how they were linked with CUDA, however damaged the file.
#include "interpose/driver/program_file.hpp"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "e2e/process.hpp"

namespace sluice::interpose {
namespace {

TEST(ProgramFile, TellsStaticFromSharedRuntime) {
  const ProgramFile with_static =
      inspect_program(e2e::build_path("tests/e2e/static_runtime")).value();
  EXPECT_TRUE(with_static.is_elf);
  EXPECT_TRUE(with_static.has_device_code);
  EXPECT_TRUE(with_static.has_static_cuda_runtime);

  const ProgramFile with_shared = inspect_program(e2e::build_path("samples/stencil")).value();
  EXPECT_TRUE(with_shared.has_device_code);
  EXPECT_FALSE(with_shared.has_static_cuda_runtime);

  const ProgramFile without = inspect_program("/bin/true").value();
  EXPECT_TRUE(without.is_elf);
  EXPECT_FALSE(without.has_device_code);
}

TEST(ProgramFile, TakesAScriptForWhatItIs) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("script")) << "#!/bin/sh\nexit 0\n";
  EXPECT_FALSE(inspect_program(scratch.file("script")).value().is_elf);
  EXPECT_FALSE(inspect_program(scratch.file("none")).has_value());
}

TEST(ProgramFile, SurvivesEveryTruncation) {
  const ScratchFolder scratch;
  std::ifstream file(e2e::build_path("tests/e2e/static_runtime"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const std::string path = scratch.file("truncated");
  for (size_t length = 0; length < whole.size(); length += 1 + length / 2) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, length);
    EXPECT_TRUE(inspect_program(path).has_value()) << length;
  }
}

}  // namespace
}  // namespace sluice::interpose
