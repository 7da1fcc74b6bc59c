// Each thing that cannot work gives one clear line and the right exit status, and never a crash.
#include <fstream>

#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

void expect_one_line(const Outcome& outcome, int status, const std::vector<std::string>& parts) {
  EXPECT_EQ(outcome.status, status) << outcome.output << outcome.errors;
  EXPECT_EQ(lines(outcome.errors).size(), 1) << outcome.errors;
  for (const std::string& part : parts) {
    EXPECT_NE(outcome.errors.find(part), std::string::npos)
        << "expected '" << part << "' in: " << outcome.errors;
  }
}

// The launcher has it replaced (tests/e2e/static).
TEST(Errors, StaticRuntimeUnderPlainPreloadNamesTheLauncherAndTheFlagToRelinkWith) {
  const Outcome outcome =
      run({build_path("tests/e2e/static_runtime")},
          {{"LD_PRELOAD", build_path("lib/libsluice.so")}, {"SLUICE_DEVICE", "cpu"}});
  EXPECT_EQ(outcome.status, 1) << outcome.output << outcome.errors;
  EXPECT_NE(outcome.errors.find("'sluice run'"), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.errors.find("nvcc -cudart shared"), std::string::npos) << outcome.errors;
  EXPECT_EQ(lines(outcome.errors).size(), 1) << outcome.errors;
}

TEST(Errors, ProgramWithoutPtxSaysWhatItHoldsAndHowToRebuild) {
  expect_one_line(sluice_run({}, {build_path("tests/e2e/no_ptx")}), 1,
                  {"sm_90", "no PTX", "-gencode"});
}

TEST(Errors, MissingProgram) {
  expect_one_line(sluice_run({}, {"/nowhere/program"}), 127,
                  {"/nowhere/program", "no such program"});
  expect_one_line(sluice_run({}, {"no-such-program"}), 127, {"no-such-program"});
}

TEST(Errors, FileThatIsNoProgram) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("data");
  std::ofstream(file) << "no program\n";
  expect_one_line(sluice_run({}, {file}), 126, {file, "Permission denied"});
}

TEST(Errors, JournalThatCannotBeWritten) {
  const std::string sample = build_path("samples/stencil");
  expect_one_line(sluice_run({"--journal", "/nowhere/journal"}, {sample}), 2,
                  {"/nowhere/journal", "No such file"});
  expect_one_line(sluice_run({"--journal", "/tmp"}, {sample}), 2, {"/tmp", "is a folder"});
}

TEST(Errors, JournalThatCannotBeWrittenUnderPlainPreloadLosesNothing) {
  const Outcome outcome = run(
      {build_path("samples/stencil"), "--size", "64", "--iterations", "3"},
      {{"LD_PRELOAD", build_path("lib/libsluice.so") + ":" + build_path("lib/cpu/libcudart.so.13")},
       {"SLUICE_DEVICE", "cpu"},
       {"SLUICE_JOURNAL", "/nowhere/journal"}});
  expect_one_line(outcome, 0, {"/nowhere/journal"});
  EXPECT_EQ(outcome.output.find("PASS"), 0) << outcome.output;
}

TEST(Errors, PtxFileWithASyntaxErrorNamesThePlace) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("bad.ptx");
  std::ofstream(file) << ".version 8.0\n.target sm_75\n.address_size 64\n"
                         ".visible .entry k()\n{\n  mov.u32 %r1, ;\n  ret;\n}\n";
  expect_one_line(run({build_path("bin/sluice"), "explain", file}), 2, {file + ":6:16"});
}

TEST(Errors, InspectAndReplayOfWhatIsNoJournal) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("text");
  std::ofstream(file) << "hello\n";
  expect_one_line(run({build_path("bin/sluice"), "inspect", file}), 2, {file, "no journal"});
  expect_one_line(run({build_path("bin/sluice"), "replay", file}), 2, {file, "no journal"});
  expect_one_line(run({build_path("bin/sluice"), "inspect", scratch.file("none")}), 2,
                  {scratch.file("none"), "No such file"});
}

TEST(Errors, WrongArguments) {
  expect_one_line(run({build_path("bin/sluice")}), 2, {"sluice --help"});
  expect_one_line(run({build_path("bin/sluice"), "run"}), 2, {"no program"});
  expect_one_line(run({build_path("bin/sluice"), "run", "--device", "tpu", "--", "true"}), 2,
                  {"tpu", "auto, gpu or cpu"});
  expect_one_line(run({build_path("bin/sluice"), "run", "--jornal", "x", "--", "true"}), 2,
                  {"--jornal"});
  expect_one_line(run({build_path("bin/sluice"), "run", "--dependence", "none", "--", "true"}), 2,
                  {"--dependence"});
}

TEST(Run, GivesTheProgramsExitStatusAndArguments) {
  EXPECT_EQ(sluice_run({}, {"sh", "-c", "exit 41"}).status, 41);
  const Outcome echoed = sluice_run({}, {"echo", "--device", "x", "--", "-n"});
  EXPECT_EQ(echoed.output, "--device x -- -n\n");
  EXPECT_EQ(echoed.errors, "");
}

TEST(Run, NeedsNoMarkBeforeTheProgramWhateverOptionsHaveValues) {
  const Outcome echoed = run({build_path("bin/sluice"), "run", "--off", "--check-blocks", "8",
                              "--device", "cpu", "--dependence", "exact", "echo", "--off", "8"});
  EXPECT_EQ(echoed.output, "--off 8\n");
  EXPECT_EQ(echoed.errors, "");
}

}  // namespace
}  // namespace sluice::e2e
