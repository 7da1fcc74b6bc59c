#include "e2e/process.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::e2e {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::map<std::string, std::string>& environment,
                         const std::string& output, const std::string& errors) {
  // What a program's run follows must depend neither on times nor on earlier runs.
  setenv("SLUICE_GOVERNOR", "off", 1);
  setenv("SLUICE_ANALYSIS", "wait", 1);
  setenv("SLUICE_ANALYSIS_CACHE", "off", 1);
  for (const auto& [name, value] : environment)
    setenv(name.c_str(), value.c_str(), 1);
  if (freopen(output.c_str(), "w", stdout) == nullptr ||
      freopen(errors.c_str(), "w", stderr) == nullptr) {
    _exit(126);
  }
  std::vector<char*> arguments;
  for (const std::string& part : command)
    arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  _exit(127);
}

}  // namespace

Outcome run(const std::vector<std::string>& command,
            const std::map<std::string, std::string>& environment) {
  const ScratchFolder scratch;
  const std::string output = scratch.file("stdout");
  const std::string errors = scratch.file("stderr");
  const pid_t child = fork();
  if (child == 0) become(command, environment, output, errors);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_all(output),
          read_all(errors)};
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    result.push_back(line);
  return result;
}

std::string build_path(const std::string& relative) {
  return std::string(SLUICE_BUILD_FOLDER) + "/" + relative;
}

Outcome sluice_run(const std::vector<std::string>& options,
                   const std::vector<std::string>& command) {
  std::vector<std::string> whole = {build_path("bin/sluice"), "run", "--device", "cpu"};
  whole.insert(whole.end(), options.begin(), options.end());
  whole.emplace_back("--");
  whole.insert(whole.end(), command.begin(), command.end());
  const Outcome outcome = run(whole);
  const auto journal = std::find(options.begin(), options.end(), "--journal");
  if (journal != options.end() && std::filesystem::is_regular_file(*(journal + 1))) {
    const Outcome replayed = run({build_path("bin/sluice"), "replay", *(journal + 1)});
    EXPECT_EQ(replayed.status, 0) << replayed.errors;
    EXPECT_EQ(replayed.output, "identical\n") << replayed.errors;
  }
  return outcome;
}

}  // namespace sluice::e2e
