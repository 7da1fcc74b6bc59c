#include "tools/view/graphviz.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/temporary_folder.hpp"

namespace sluice::tools {
namespace {

// run_dot() is 0, or why it could not be started.
int run_dot(const std::string& input, const std::string& output, int& status) {
  std::string words[] = {"dot", "-Tsvg", "-o", output, input};
  char* arguments[6] = {};
  for (size_t i = 0; i < std::size(words); ++i)
    arguments[i] = words[i].data();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // It warns of fonts that it does not find; the browser has its own.
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, "dot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return failure;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

}  // namespace

Result<std::string> draw_graph(const std::string& graph) {
  const TemporaryFolder folder("sluice-graph");
  const std::string input = folder.path() + "/graph.dot", output = folder.path() + "/graph.svg";
  std::ofstream(input, std::ios::binary) << graph;
  int status = 0;
  if (const int failure = run_dot(input, output, status); failure != 0) {
    return system_error(std::string("cannot be started: ") + std::strerror(failure), "dot",
                        "install Graphviz (package graphviz): it lays out the launch graph");
  }
  std::ifstream file(output, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = text.find("<svg");
  if (status != 0 || begin == std::string::npos) {
    return system_error("drew no picture of the launch graph", "dot");
  }
  return text.substr(begin);  // without the prologue of a file of its own
}

}  // namespace sluice::tools
