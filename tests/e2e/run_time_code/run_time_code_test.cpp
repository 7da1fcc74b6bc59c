// Programs that have NVRTC and nvJitLink make machine code run on the CPU device, which gets PTX.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

// What the toolkit that this was built with lacks is a name without a file here.
const std::string nvrtc = SLUICE_TOOLKIT_NVRTC;
const std::string nvjitlink = SLUICE_TOOLKIT_NVJITLINK;

std::string built(const std::string& name) {
  return build_path("tests/e2e/run_time_code/" + name);
}

class RunTimeCode : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string& library : {nvrtc, nvjitlink}) {
      if (!std::filesystem::exists(library)) GTEST_SKIP() << library << " is not there";
    }
  }
};

void expect_sum(const Outcome& outcome) {
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "4950\n");
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(RunTimeCode, NvrtcThatIsOpenedByItsPathGivesCodeThatRunsPlainAndUnderSluice) {
  for (const std::string how : {"nvrtc", "nvrtc-apart"}) {
    expect_sum(sluice_run({"--off"}, {built("opens_makers"), how, nvrtc}));
    const ScratchFolder scratch;
    const std::string journal = scratch.file("journal");
    expect_sum(sluice_run({"--journal", journal}, {built("opens_makers"), how, nvrtc}));
    EXPECT_EQ(inspect_figures(journal)["launches"], 1);
  }
}

TEST_F(RunTimeCode, NvrtcThatIsOpenedByItsNameIsTheOneThatTheSearchFinds) {
  const std::string folder = std::filesystem::path(nvrtc).parent_path().string();
  expect_sum(run({build_path("bin/sluice"), "run", "--device", "cpu", built("opens_makers"),
                  "nvrtc", "libnvrtc.so.13"},
                 {{"LD_LIBRARY_PATH", folder}}));
}

TEST_F(RunTimeCode, LibraryThatIsNotThereIsNotThereOnTheCpuDeviceEither) {
  const Outcome outcome =
      sluice_run({}, {built("opens_makers"), "nvrtc", "/nowhere/libnvrtc.so.13"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.output, ::testing::HasSubstr("/nowhere/libnvrtc.so.13"));
}

// Whoever looks whether a library is loaded finds another file of that name on the way.
TEST_F(RunTimeCode, LibraryIsTheOneThatIsOpenedAndNotOneThatWasLookedFor) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("libnvrtc.so.13")) << "no library";
  expect_sum(run({build_path("bin/sluice"), "run", "--off", "--device", "cpu",
                  built("opens_makers"), "nvrtc", nvrtc},
                 {{"LD_LIBRARY_PATH", scratch.path()}}));
}

TEST_F(RunTimeCode, LinkedLtoCodeAndPtxRunPlainAndUnderSluice) {
  for (const std::string how : {"lto", "ptx", "both"}) {
    for (const std::vector<std::string>& options : {std::vector<std::string>{"--off"}, {}}) {
      expect_sum(sluice_run(options, {built("opens_makers"), how, nvrtc, nvjitlink}));
      expect_sum(sluice_run(options, {built("needs_makers"), how}));
    }
  }
}

// The driver, which tells how many a kernel has, gets the PTX alone.
TEST_F(RunTimeCode, LinkedCodeSaysHowManyRegistersTheLinkerWasToGiveAThread) {
  const ScratchFolder scratch;
  const std::string code = scratch.file("code");
  expect_sum(run({build_path("bin/sluice"), "run", "--off", "--device", "cpu",
                  built("opens_makers"), "registers", nvrtc, nvjitlink},
                 {{"CODE", code}}));
  std::ifstream file(code);
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}),
              ::testing::HasSubstr(".maxnreg 40"));
}

// What CuPy keeps of this device must not be found on a GPU.
TEST(RunTimeCodeCaches, LieApartUnlessTheUserSaysWhere) {
  const ScratchFolder scratch;
  const auto caches = [&](const std::string& device, const std::string& chosen) {
    std::map<std::string, std::string> environment{{"XDG_CACHE_HOME", scratch.path()}};
    if (!chosen.empty()) environment["CUPY_CACHE_DIR"] = chosen;
    return run({build_path("bin/sluice"), "run", "--device", device, "sh", "-c",
                "echo $CUPY_CACHE_DIR:$NUMBA_CACHE_DIR"},
               environment)
        .output;
  };
  const std::string own = scratch.file("sluice");
  EXPECT_EQ(caches("cpu", ""), own + "/cupy:" + own + "/numba\n");
  EXPECT_EQ(caches("cpu", "/elsewhere"), "/elsewhere:" + own + "/numba\n");
}

// A program calls nvcc, which here says how it is called.
TEST(RunTimeCodeTools, NvccMakesPtxWhereMachineCodeIsAskedFor) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("nvcc")) << "#!/bin/sh\necho $LD_PRELOAD$LD_AUDIT \"$@\"\n";
  std::filesystem::permissions(scratch.file("nvcc"), std::filesystem::perms::owner_all);
  const std::map<std::string, std::string> environment = {
      {"PATH", scratch.path().string() + ":/usr/bin:/bin"}};
  const auto said = [&](const std::string& device, const std::string& arguments) {
    return run(
        {build_path("bin/sluice"), "run", "--device", device, "sh", "-c", "nvcc " + arguments},
        environment);
  };
  EXPECT_EQ(said("cpu", "-cubin -arch=sm_80 -o 'a b' k.cu").output,
            "-ptx -arch=sm_80 -o a b k.cu\n");
  EXPECT_EQ(said("cpu", "--cubin -I.. sub/k.cu").output, "-ptx -I.. sub/k.cu -o k.cubin\n");
  EXPECT_EQ(said("cpu", "-arch=sm_80 k.cu").output, "-arch=sm_80 k.cu\n");
  std::filesystem::remove(scratch.file("nvcc"));
  EXPECT_EQ(said("cpu", "--version").status, 127);
}

// PyCUDA and CuPy look for the toolkit in the folder above nvcc's.
TEST(RunTimeCodeTools, TheToolkitLiesAboveNvcc) {
  const ScratchFolder scratch;
  namespace fs = std::filesystem;
  const fs::path toolkit = scratch.path() / "toolkit";
  fs::create_directories(toolkit / "bin");
  fs::create_directories(toolkit / "include");
  std::ofstream(toolkit / "include/cuda.h") << "the header\n";
  for (const char* name : {"nvcc", "ptxas"}) {
    std::ofstream(toolkit / "bin" / name) << "#!/bin/sh\necho " << name << " $@\n";
    fs::permissions(toolkit / "bin" / name, fs::perms::owner_all);
  }
  const std::string command =
      "root=$(dirname $(dirname $(realpath $(command -v nvcc)))); cat $root/include/cuda.h; "
      "$root/bin/nvcc -cubin -o k k.cu; ptxas k; $NVCC -cubin -o n n.cu";
  const std::map<std::string, std::string> environment = {
      {"PATH", (toolkit / "bin").string() + ":/usr/bin:/bin"}, {"XDG_CACHE_HOME", scratch.path()}};
  const std::string sluice = build_path("bin/sluice");
  // The second run finds it made; the third is in one that runs so itself.
  for (const std::vector<std::string>& before :
       {std::vector<std::string>{}, {}, {sluice, "run", "--off", "--device", "cpu"}}) {
    std::vector<std::string> words = before;
    words.insert(words.end(), {sluice, "run", "--off", "--device", "cpu", "sh", "-c", command});
    EXPECT_EQ(run(words, environment).output,
              "the header\nnvcc -ptx -o k k.cu\nptxas k\nnvcc -ptx -o n n.cu\n");
  }
  // Where nothing can be kept.
  std::map<std::string, std::string> nowhere = environment;
  nowhere["XDG_CACHE_HOME"] = "/dev/null";
  EXPECT_EQ(
      run({sluice, "run", "--off", "--device", "cpu", "sh", "-c", "nvcc -cubin -o k k.cu"}, nowhere)
          .output,
      "nvcc -ptx -o k k.cu\n");
}

TEST(RunTimeCodeTools, PtxasOfTritonGivesThePtx) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("k.ptx")) << ".version 8.0\n";
  const auto sluice = [&](const std::string& arguments) {
    return run({build_path("bin/sluice"), "run", "--off", "--device", "cpu", "sh", "-c",
                "$TRITON_PTXAS_PATH " + arguments},
               {});
  };
  EXPECT_THAT(sluice("--version").output, ::testing::HasSubstr("release 12.8"));
  const std::string made = scratch.file("k.o");
  EXPECT_EQ(
      sluice("-v --opt-level 0 --gpu-name=sm_80 " + scratch.file("k.ptx") + " -o " + made).status,
      0);
  std::ifstream file(made);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()),
            ".version 8.0\n");
  EXPECT_EQ(sluice("-o " + made).status, 1);
}

TEST_F(RunTimeCode, ProgramThatNeedsTheLibrariesGetsThemSo) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--off"}, {}})
    expect_sum(sluice_run(options, {built("needs_makers"), "nvrtc"}));
}

// On a GPU, for which a driver that runs nothing stands in, the program gets its machine code, and
// its launches are analysed by the PTX that it was made of: in a later process too, which makes
// none.
TEST_F(RunTimeCode, OnAGpuMachineCodeIsRememberedByItsPtx) {
  for (const std::string how : {"nvrtc", "lto", "ptx", "both"}) {
    const ScratchFolder scratch;
    const std::map<std::string, std::string> environment = {
        {"LD_LIBRARY_PATH", built("driver")},
        {"SLUICE_ANALYSIS_CACHE", scratch.file("analysis")},
        {"RECORD", scratch.file("record")},
        {"CODE", scratch.file("code")}};
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{how, nvrtc, nvjitlink}, {"file"}}) {
      const std::string journal = scratch.file("journal");
      std::vector<std::string> command = {
          build_path("bin/sluice"), "run", "--device", "gpu", "--journal", journal, "--",
          built("opens_makers")};
      command.insert(command.end(), arguments.begin(), arguments.end());
      const Outcome outcome = run(command, environment);
      EXPECT_EQ(outcome.output, "0\n") << how << outcome.errors;
      const nlohmann::json figures = inspect_figures(journal);
      EXPECT_EQ(figures["launches"], 1);
      EXPECT_EQ(figures["footprints"], 1) << how << " " << arguments.front() << figures.dump();
    }
    std::ifstream record(scratch.file("record"));
    const std::string text(std::istreambuf_iterator<char>(record), {});
    EXPECT_EQ(text, "image the same\nlaunch 1 100\nimage the same\nlaunch 1 100\n") << how;
    std::ifstream code(scratch.file("code"));
    EXPECT_EQ(code.get(), 0x7f) << "no ELF file";
  }
}

}  // namespace
}  // namespace sluice::e2e
