// What is in every process under Sluice is little: the engine comes with the first call of the
// driver, LLVM with the first kernel that is analysed.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> needed_by(const std::string& library) {
  std::vector<std::string> needed;
  for (const std::string& line : lines(run({"objdump", "-p", build_path(library)}).output)) {
    if (line.find("NEEDED") != std::string::npos)
      needed.push_back(line.substr(line.rfind(' ') + 1));
  }
  return needed;
}

TEST(Front, NeedsTheCLibraryAlone) {
  for (const char* library :
       {"lib/libsluice.so", "lib/cpu/libcudart.so.13", "lib/cpu/libcudart.so.12"})
    EXPECT_THAT(needed_by(library), testing::ElementsAre("libc.so.6")) << library;
}

// It would get one more of its own.
TEST(Front, AuditLibraryNeedsNotEvenThat) {
  EXPECT_THAT(needed_by("lib/cpu/libsluice-audit.so"),
              testing::ElementsAre("ld-linux-x86-64.so.2"));
}

TEST(Front, ProcessThatNeverCallsTheDriverHasNoEngine) {
  const Outcome outcome = sluice_run({}, {"/bin/cat", "/proc/self/maps"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("/libsluice.so"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("/libsluice-engine.so")));
  EXPECT_THAT(outcome.output, Not(HasSubstr("/libsluice-analysis.so")));
  EXPECT_THAT(outcome.output, Not(HasSubstr("/libcuda.so")));
  EXPECT_THAT(outcome.output, Not(HasSubstr("/libstdc++")));
}

TEST(Front, ProcessThatNeverCallsTheDriverHasNoneWhereSluiceIsOff) {
  const Outcome outcome = sluice_run({"--off"}, {"/bin/cat", "/proc/self/maps"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("/libcudart.so.13"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("/libcuda.so")));
  EXPECT_THAT(outcome.output, Not(HasSubstr("/libstdc++")));
}

TEST(Front, ProcessThatAnalysesNoKernelHasNoAnalysis) {
  // Who waits for analyses opens it at once.
  const Outcome outcome = run({build_path("bin/sluice"), "run", "--device", "cpu", "--",
                               build_path("tests/interpose_lookup"), "maps", "libcuda.so.1"},
                              {{"SLUICE_ANALYSIS", ""}});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("/libsluice-engine.so"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("/libsluice-analysis.so")));
}

// A compiler that brings an LLVM of its own: its host program and its children.
TEST(Front, CompilersRunUnderSluice) {
  const ScratchFolder folder;
  const std::string source = folder.file("one.cu");
  std::ofstream(source) << "__global__ void scale(float* p) { p[threadIdx.x] *= 2; }\n";
  const Outcome outcome = sluice_run(
      {}, {SLUICE_NVCC, "-arch=sm_80", "-cubin", "-o", folder.file("one.cubin"), source});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_TRUE(std::filesystem::exists(folder.file("one.cubin")));
}

// Sluice's own libraries work beside a standard library of the program's that is older than theirs.
TEST(Front, NothingOfSluicesBringsAStandardLibraryWithIt) {
  if (!SLUICE_LIBRARY_INSIDE) GTEST_SKIP() << "this system has none to link in";
  for (const char* library : {"lib/libsluice-engine.so", "lib/libsluice-analysis.so",
                              "lib/cpu/libsluice-cudart.so.13", "lib/cpu/libsluice-cudart.so.12"})
    EXPECT_THAT(needed_by(library), testing::Not(testing::Contains(HasSubstr("stdc++"))))
        << library;
}

// The runtime behind the table has all functions of one too, and is not taken for a copy.
TEST(Front, RuntimeIsItselfWhereItsFolderHasTwoNames) {
  const ScratchFolder folder;
  std::filesystem::create_directory_symlink(build_path("lib/cpu"), folder.file("cpu"));
  const std::string cpu = folder.file("cpu/");
  const Outcome outcome = run({build_path("samples/stencil"), "--size", "16"},
                              {{"LD_PRELOAD", cpu + "libcudart.so.13"},
                               {"LD_AUDIT", cpu + "libsluice-audit.so"},
                               {"LD_LIBRARY_PATH", cpu},
                               {"SLUICE_DEVICE", "cpu"}});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("PASS"));
}

// As where an installation is not whole.
TEST(Front, MissingRuntimeIsToldInOneLine) {
  const ScratchFolder folder;
  const std::string runtime = folder.file("libcudart.so.13");
  std::filesystem::copy(build_path("lib/cpu/libcudart.so.13"), runtime);
  const Outcome outcome =
      run({build_path("samples/stencil"), "--size", "16"}, {{"LD_PRELOAD", runtime}});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, HasSubstr(folder.file("libsluice-cudart.so.13") + ": "));
  EXPECT_THAT(outcome.errors, HasSubstr("cudaErrorNoDevice"));
  EXPECT_EQ(outcome.errors.find("install"), outcome.errors.rfind("install"));
}

TEST(Front, MissingEngineIsToldInOneLine) {
  const ScratchFolder folder;
  const std::string shim = folder.file("libsluice.so");
  std::filesystem::copy(build_path("lib/libsluice.so"), shim);
  const Outcome outcome = run({build_path("tests/interpose_lookup"), "errno", "libcuda.so.1"},
                              {{"LD_PRELOAD", shim}, {"SLUICE_DEVICE", "cpu"}});
  EXPECT_EQ(outcome.output, "77\n");
  ASSERT_EQ(lines(outcome.errors).size(), 1) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr(folder.file("libsluice-engine.so") + ": "));
  EXPECT_THAT(outcome.errors, HasSubstr("CUDA_ERROR_NO_DEVICE"));
}

}  // namespace
}  // namespace sluice::e2e
