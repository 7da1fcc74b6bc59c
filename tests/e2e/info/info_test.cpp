// sluice info: would a program run here, and if not, what helps. docs/info.md shows what it prints.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

using ::testing::HasSubstr;

Outcome info(const std::string& program) {
  return run({build_path("bin/sluice"), "info", "--device", "cpu", program});
}

std::string program(const std::string& name) {
  return build_path("tests/e2e/" + name);
}

TEST(Info, ItsStatusSaysWhetherTheProgramWouldRun) {
  EXPECT_EQ(info(build_path("samples/stencil")).status, 0);
  EXPECT_EQ(info("/bin/true").status, 0);
  EXPECT_EQ(info(program("static_runtime")).status, 0);
  EXPECT_EQ(info(program("info/cuda_12")).status, 0);
  for (const char* name :
       {"static/stripped", "static/lacking", "no_ptx", "info/cuda_11", "info/with_cublas"})
    EXPECT_EQ(info(program(name)).status, 1) << name;
  EXPECT_EQ(info("/nowhere/program").status, 127);
  EXPECT_EQ(info(build_path("tests")).status, 126);
}

TEST(Info, ItSaysWhatHelps) {
  EXPECT_THAT(info(program("static/stripped")).output, HasSubstr("CUDA_RUNTIME_LIBRARY Shared"));
  EXPECT_THAT(info(program("no_ptx")).output, HasSubstr("arch=compute_75,code=compute_75"));
  EXPECT_THAT(info(program("info/cuda_11")).output, HasSubstr("libcudart.so.11.0; build it with"));
  EXPECT_THAT(info(program("info/with_cublas")).output, HasSubstr("libcublas.so.13 needs a GPU"));
}

TEST(Info, ScriptsAreToldByWhatReadsThem) {
  const ScratchFolder folder;
  const std::string script = folder.file("train.py");
  std::ofstream(script) << "#!/usr/bin/env -S python3 -u\nprint()\n";
  const Outcome unmarked = info(script);
  EXPECT_EQ(unmarked.status, 126);
  EXPECT_THAT(unmarked.output, HasSubstr("chmod +x"));
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const Outcome marked = info(script);
  EXPECT_EQ(marked.status, 0) << marked.output;
  EXPECT_THAT(marked.output, HasSubstr("a script for python3"));
}

TEST(Info, WhatIsNoProgramIsSaidToBeNone) {
  const ScratchFolder folder;
  const std::string file = folder.file("notes");
  for (const char* text : {"", "#", "no program",
                           "\x7f"
                           "ELF",
                           "\x7f"
                           "ELF\x02\x01\x01"}) {
    std::ofstream(file, std::ios::trunc) << text;
    EXPECT_EQ(info(file).status, 126) << text;
  }
}

TEST(Cache, IsShownBoundedAndCleared) {
  const ScratchFolder folder;
  const std::map<std::string, std::string> here = {{"SLUICE_CODE_CACHE", folder.file("code")},
                                                   {"SLUICE_ANALYSIS_CACHE", "off"}};
  const auto cache = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {build_path("bin/sluice"), "cache"});
    const Outcome outcome = run(options, here);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output;
  };
  EXPECT_THAT(cache({}), HasSubstr("0 files, 0 bytes of 256.0 MiB at most"));
  EXPECT_THAT(cache({"--limit", "10MiB"}), HasSubstr("of 10.0 MiB at most"));
  EXPECT_EQ(
      run({build_path("bin/sluice"), "run", "--device", "cpu", build_path("samples/stencil")}, here)
          .status,
      0);
  EXPECT_THAT(cache({}), testing::Not(HasSubstr("0 files")));
  EXPECT_THAT(cache({"--clear"}), HasSubstr("0 files, 0 bytes of 10.0 MiB at most"));
  EXPECT_THAT(cache({"--limit", "usual"}), HasSubstr("of 256.0 MiB at most"));
  EXPECT_EQ(run({build_path("bin/sluice"), "cache", "--limit", "much"}, here).status, 2);
}

TEST(Summary, IsOneLineOnStderrForEachProcessThatUsedCuda) {
  const Outcome told = sluice_run({"--summary"}, {build_path("samples/stencil")});
  EXPECT_EQ(told.status, 0);
  ASSERT_EQ(lines(told.errors).size(), 1U) << told.errors;
  EXPECT_THAT(told.errors, HasSubstr("sluice: stencil ("));
  EXPECT_THAT(told.errors, HasSubstr("as tasks, 0 passed through; held back for "));
  EXPECT_EQ(told.output.find("as tasks"), std::string::npos) << told.output;
  const std::string stencil = build_path("samples/stencil") + " >/dev/null";
  const Outcome two = sluice_run({"--summary"}, {"sh", "-c", stencil + "; " + stencil});
  EXPECT_EQ(lines(two.errors).size(), 2U) << two.errors;
}

TEST(Summary, IsNotToldWhereNobodyWatches) {
  EXPECT_EQ(sluice_run({}, {build_path("samples/stencil")}).errors, "");
}

TEST(Summary, AForkedChildSaysNothing) {
  const Outcome outcome = sluice_run({"--summary"}, {program("process_life"), "fork_after"});
  EXPECT_EQ(lines(outcome.errors).size(), 1U) << outcome.errors;
}

}  // namespace
}  // namespace sluice::e2e
