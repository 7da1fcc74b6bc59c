// Projects with one fault each, tested by CTest and from Python: one annotation, on the right line.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "e2e/check/check.hpp"

namespace sluice::e2e {
namespace {

using ::testing::HasSubstr;

const std::string projects = SLUICE_SOURCE_FOLDER "/tests/e2e/check/projects";

// annotations() is how many of a kind there are in what was printed.
size_t annotations(const std::string& text, const std::string& kind) {
  size_t count = 0;
  for (size_t at = text.find("::" + kind + " "); at != std::string::npos;
       at = text.find("::" + kind + " ", at + 1))
    ++count;
  return count;
}

TEST(Projects, WithCTestGetOneAnnotationOnTheLine) {
  const ScratchFolder scratch;
  const std::string build = scratch.file("build");
  const std::map<std::string, std::string> environment = {
      {"PATH", build_path("bin") + ":" + std::getenv("PATH")}};
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"cmake", "-S", projects, "-B", build, "-G", "Ninja",
                                 "-DCMAKE_CUDA_COMPILER=" SLUICE_NVCC,
                                 "-DCMAKE_CUDA_ARCHITECTURES=75"},
        {"cmake", "--build", build}}) {
    const Outcome outcome = run(command, environment);
    ASSERT_EQ(outcome.status, 0) << outcome.output << outcome.errors;
  }
  const Outcome tested = run({"ctest", "--test-dir", build, "--verbose"}, environment);
  EXPECT_NE(tested.status, 0);
  EXPECT_EQ(annotations(tested.output, "error"), 1) << tested.output;
  EXPECT_THAT(tested.output, HasSubstr("::error file=" + projects + "/solver.cu,line=" +
                                       line_with("projects/solver.cu", "// relax\n") + ","));
}

TEST(Projects, InPythonAreToldTheLineOfTheCall) {
  const Outcome outcome = run({"env", "SOLVER=" + build_path("tests/e2e/check/libsolver.so"),
                               build_path("bin/sluice"), "check", "--device", "cpu", "--format",
                               "github", "--", "python3", projects + "/test_solver.py"});
  EXPECT_EQ(outcome.status, 87) << outcome.errors;
  EXPECT_EQ(annotations(outcome.errors, "error"), 1) << outcome.errors;
  // The kernel has no line of its own.
  EXPECT_THAT(outcome.errors,
              HasSubstr("::error file=" + projects + "/test_solver.py,line=" +
                        line_with("projects/test_solver.py", "# the call\n") + ","));
  EXPECT_THAT(outcome.errors, HasSubstr("called from test_relaxes in test_solver.py at"));
}

}  // namespace
}  // namespace sluice::e2e
