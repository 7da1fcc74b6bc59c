// Programs as nvcc builds them by default, with a static CUDA runtime, run on the CPU device: its
// own runtime takes that one's place.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

using ::testing::HasSubstr;

std::string built(const std::string& name) {
  return build_path("tests/e2e/static/" + name);
}

std::vector<std::string> static_sample(const std::string& line) {
  std::vector<std::string> command = sample_command(line);
  command.front() =
      build_path("samples/static/" + std::filesystem::path(command.front()).filename().string());
  return command;
}

TEST(StaticRuntime, SampleGivesTheSharedBuildsAnswerPlainAndAsTasks) {
  const char* const line = "wave --size 100 --iterations 17 --block 16,16";
  const std::string shared = sample_checksum(sluice_run({"--off"}, sample_command(line)));
  EXPECT_EQ(sample_checksum(sluice_run({"--off"}, static_sample(line))), shared);
  const ScratchFolder scratch;
  const std::string journal = scratch.file("journal");
  EXPECT_EQ(sample_checksum(sluice_run({"--journal", journal}, static_sample(line))), shared);
  const nlohmann::json figures = inspect_figures(journal);
  EXPECT_EQ(figures["launches"], 17);
  EXPECT_EQ(figures["passed_through"]["count"], 0);
}

TEST(StaticRuntime, CheckAndVerifyTakeItToo) {
  const std::string program = built("opens");
  for (const char* command : {"check", "verify"}) {
    const Outcome outcome =
        run({build_path("bin/sluice"), command, "--device", "cpu", program, built("one.so")});
    EXPECT_EQ(outcome.status, 0) << outcome.output << outcome.errors;
    EXPECT_EQ(outcome.output, "202\n202\nno error 7\n") << command;
  }
}

// Each library launches in its constructor, and again when it is called: 1 + 1 with two calls.
TEST(StaticRuntime, LibrariesThatAreOpenedHaveOneBeforeTheirConstructorsRun) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--off"}, {}}) {
    const Outcome outcome =
        sluice_run(options, {built("opens"), built("one.so"), built("thousand.so")});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, "202\n200002\n202\n200002\nno error 7\n");
    EXPECT_EQ(outcome.errors, "");
  }
}

// Libraries look for errors before they launch: CUB launches nothing where there is one.
TEST(StaticRuntime, NotReadyIsTheLastErrorOfWhoAskedAlone) {
  const Outcome outcome = sluice_run({"--off"}, {built("not_ready"), built("one.so")});
  EXPECT_EQ(outcome.output, "answer 600, library 0, program 600 600 0\n") << outcome.errors;
}

TEST(StaticRuntime, ExecutedChildrenHaveItReplacedToo) {
  const Outcome outcome = sluice_run({}, {"sh", "-c", built("opens") + " " + built("one.so")});
  EXPECT_EQ(outcome.output, "202\n202\nno error 7\n") << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
}

TEST(StaticRuntime, WhatCannotBeReplacedIsLeftAloneWithOneLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"stripped", "leave it its symbols"}, {"lacking", "whose cudaFreeLater"}};
  for (const auto& [name, part] : cases) {
    const Outcome refused = sluice_run({}, {built(name)});
    EXPECT_EQ(refused.status, 126);
    EXPECT_EQ(lines(refused.errors).size(), 1) << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr(built(name) + ": was linked with the static"));
    EXPECT_THAT(refused.errors, HasSubstr(part));
    // Where the launcher does not see it the library in the dynamic linker says the same.
    const Outcome child = sluice_run({}, {"sh", "-c", built(name) + "; true"});
    EXPECT_EQ(child.status, 0);
    EXPECT_EQ(lines(child.errors).size(), 1) << child.errors;
    EXPECT_THAT(child.errors, HasSubstr(part));
  }
}

TEST(StaticRuntime, LibraryThatCannotBeReplacedIsNamedOnce) {
  const Outcome outcome = sluice_run({}, {built("opens"), built("stripped.so")});
  EXPECT_EQ(lines(outcome.errors).size(), 1) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr(built("stripped.so") + ": was linked with the static"));
  EXPECT_THAT(outcome.output, HasSubstr("no error 7\n"));
}

TEST(StaticRuntime, LinesAreLeftOutWhereTheLogIsOff) {
  const Outcome outcome = run({build_path("bin/sluice"), "run", "--device", "cpu", "sh", "-c",
                               built("stripped") + "; true"},
                              {{"SLUICE_LOG", "off"}});
  EXPECT_EQ(outcome.errors, "");
}

// Their calls fail without a word, so the first that a process loads is named.
TEST(GpuLibraries, TheFirstIsNamedWithWhatToDo) {
  const std::string libraries = built("libcublas.so.13") + ":" + built("libcufft.so.12");
  const Outcome outcome =
      sluice_run({}, {"sh", "-c", "LD_PRELOAD=$LD_PRELOAD:" + libraries + " exec /bin/true"});
  EXPECT_EQ(outcome.status, 0);
  ASSERT_EQ(lines(outcome.errors).size(), 1) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr(built("libcublas.so.13") + ": is machine code for a GPU"));
  EXPECT_THAT(outcome.errors, HasSubstr("kernels of your own"));
}

// Over a GPU the program's own runtime works, so the library does nothing unless the device is the
// CPU. Without it and without a GPU the program's runtime finds none.
TEST(StaticRuntime, IsTheProgramsOwnWhereTheCpuDeviceIsNotAskedFor) {
  const std::string audit = build_path("lib/cpu/libsluice-audit.so");
  const Outcome kept = run({built("opens")},
                           {{"LD_AUDIT", audit}, {"SLUICE_LOG", "info"}, {"SLUICE_DEVICE", "gpu"}});
  EXPECT_EQ(kept.errors, "");
  EXPECT_EQ(kept.status, 1) << kept.output;
}

}  // namespace
}  // namespace sluice::e2e
