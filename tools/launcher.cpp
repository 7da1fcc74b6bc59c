// sluice: starts programs, and is itself there at once. What the other subcommands need, LLVM above
// all, is in sluice-tools, which it becomes for them.
#include <cerrno>
#include <cstring>
#include <string>

#include <unistd.h>

#include "base/result.hpp"
#include "tools/command.hpp"
#include "tools/command_line.hpp"
#include "tools/find_program.hpp"
#include "tools/report.hpp"

namespace {

using namespace sluice;

int become_tools(char** argv) {
  const std::string path = tools::library_folder() + "/sluice-tools";
  execv(path.c_str(), argv);
  const std::string what = std::string("cannot be run: ") + std::strerror(errno);
  return tools::refuse(tools::exit_not_executable,
                       Error{ErrorKind::system, what, path, "install Sluice as a whole"});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "run") != 0) return become_tools(argv);
  return tools::run_command(argc, argv);
}
