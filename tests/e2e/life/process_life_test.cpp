// Forks, exec, exits and signals while launches are held back: the program finds what it finds on
// the CPU device alone, and its journal replays.
#include <filesystem>

#include <gtest/gtest.h>

#include "e2e/process.hpp"

namespace sluice::e2e {
namespace {

// timeout(1) turns a hang into status 124.
std::vector<std::string> life(const std::string& name) {
  return {"timeout", "60", build_path("tests/e2e/process_life"), name};
}

// Life is a way to live, and how it ends and what it prints.
struct Life {
  const char* name;
  int status;
  const char* output;
};

// A test's name: where the strings lie differs from build to build.
void PrintTo(const Life& life, std::ostream* stream) {
  *stream << life.name;
}

class ProcessLife : public testing::TestWithParam<Life> {};

TEST_P(ProcessLife, IsWhatItIsWithoutSluice) {
  const auto [name, status, output] = GetParam();
  const Outcome plain = sluice_run({"--off"}, life(name));
  EXPECT_EQ(plain.status, status) << plain.errors;
  EXPECT_EQ(plain.output, output) << plain.errors;
  const Outcome under = sluice_run({}, life(name));
  EXPECT_EQ(under.status, status) << under.errors;
  EXPECT_EQ(under.output, output) << under.errors;
  const ScratchFolder scratch;
  const Outcome noted = sluice_run({"--journal", scratch.file("%p.journal")}, life(name));
  EXPECT_EQ(noted.status, status) << noted.errors;
  EXPECT_EQ(noted.output, output) << noted.errors;
}

INSTANTIATE_TEST_SUITE_P(
    , ProcessLife,
    testing::Values(
        Life{"fork_before", 0, "child: right\nchild: status 0\nparent: right\n"},
        Life{"fork_after", 0,
             "exit: status 7\n_exit: status 8\nexec: status 9\nsignal: signal 15\n"
             "parent: right\n"},
        Life{"fork_and_call", 0,
             "child: cudaErrorInitializationError\nchild: cudaErrorInitializationError\n"
             "child: cudaErrorInitializationError\nchild: status 0\nparent: right\n"},
        Life{"exec_in_child", 0, "work: right\nchild: status 0\nparent: right\n"},
        Life{"exec", 0, "work: right\n"}, Life{"exit", 6, "leaving\n"},
        Life{"exit_blocked", 6, "leaving\n"}, Life{"exit_function", 6, ""},
        Life{"exit_waits", 6,
             "the function ran\nthe function ran\nthe function ran\nthe function ran\n"},
        Life{"_exit", 5, "leaving\n"}, Life{"_exit_blocked", 5, "leaving\n"},
        Life{"handle_signals", 0, "here 100 elsewhere 0\n"}, Life{"keep_errno", 0, "errno 77\n"},
        Life{"reset", 0, "after reset: right\nafter reset: right\nafter reset: right\n"},
        Life{"interrupt", 130, ""}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::erase(name, '_');
      return (info.param.name[0] == '_' ? "at_once_" : "") + name;
    });

}  // namespace
}  // namespace sluice::e2e
