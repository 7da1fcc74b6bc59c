// Compiled kernels have names and lines in gdb and perf, where SLUICE_CODE_LINES asks for them.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/scratch_folder.hpp"
#include "e2e/check/check.hpp"

namespace sluice::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::map<std::string, std::string> with_lines = {{"SLUICE_CODE_LINES", "1"}};

bool is_here(const std::string& program) {
  return run({"sh", "-c", "command -v " + program}).status == 0;
}

std::vector<std::string> on_device(std::vector<std::string> command) {
  const std::vector<std::string> words = {build_path("bin/sluice"), "run", "--device", "cpu", "--"};
  command.insert(command.begin(), words.begin(), words.end());
  return command;
}

// line_of_pick() is where `pick` reads its input.
std::string line_of_pick() {
  return place("traced_initialisation.cu", "// pick\n");
}

TEST(CodeLines, GdbStopsAtALineOfAKernel) {
  if (!is_here("gdb")) GTEST_SKIP() << "gdb is not installed";
  std::vector<std::string> command = {"gdb", "-batch", "-nx"};
  for (const std::string& each :
       {std::string("set breakpoint pending on"), std::string("set debuginfod enabled off"),
        "break " + line_of_pick(), std::string("run"), std::string("backtrace 1"),
        std::string("kill")})
    command.insert(command.end(), {"-ex", each});
  command.push_back("--args");
  const std::vector<std::string> program = seeded("traced_initialisation", "holes", true);
  command.insert(command.end(), program.begin(), program.end());
  const Outcome outcome = run(on_device(command), with_lines);
  if ((outcome.output + outcome.errors).find("ptrace") != std::string::npos)
    GTEST_SKIP() << "this machine lets nobody trace: " << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("hit Breakpoint 1")) << outcome.errors;
  EXPECT_THAT(outcome.output, ContainsRegex("#0 +pick \\(.*\\) at .*" + line_of_pick()));
}

TEST(CodeLines, PerfNamesKernels) {
  if (!is_here("perf")) GTEST_SKIP() << "perf is not installed";
  const ScratchFolder scratch;
  const std::string data = scratch.file("data");
  std::vector<std::string> command = {"perf", "record", "-q", "-e", "cpu-clock", "-o", data};
  for (const std::string& word :
       on_device({build_path("samples/stencil"), "--size", "1024", "--iterations", "200"}))
    command.push_back(word);
  const Outcome recorded = run(command, with_lines);
  std::ifstream file(data);
  if (recorded.output.find("PASS") == std::string::npos || !file)
    GTEST_SKIP() << "this machine lets nobody measure: " << recorded.errors;
  const Outcome report =
      run({"perf", "report", "-i", data, "--stdio", "--sort", "symbol", "-g", "none"});
  EXPECT_THAT(report.output, HasSubstr("stencil in blocks of 32x8x1")) << report.errors;
}

// What perf reads, where it may not be used.
TEST(CodeLines, AreInTheMapOfTheProcess) {
  const auto map_of = [](const std::map<std::string, std::string>& environment) {
    // The shell is replaced by the program, so that its number is the program's.
    const Outcome outcome =
        run({"sh", "-c", "echo $$; exec \"$@\"", "sh", build_path("bin/sluice"), "run", "--device",
             "cpu", "--", build_path("samples/stencil"), "--size", "64", "--iterations", "2"},
            environment);
    EXPECT_THAT(outcome.output, HasSubstr("PASS")) << outcome.errors;
    const std::string path = "/tmp/perf-" + lines(outcome.output).front() + ".map";
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    unlink(path.c_str());
    return text.str();
  };
  EXPECT_THAT(map_of(with_lines),
              ContainsRegex("^[0-9a-f]+ [0-9a-f]+ stencil in blocks of 32x8x1"));
  EXPECT_EQ(map_of({}), "");
}

}  // namespace
}  // namespace sluice::e2e
