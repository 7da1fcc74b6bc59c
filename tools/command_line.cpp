#include "tools/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/command.hpp"

namespace sluice::tools {

void name_app(CLI::App& app) {
  app.description("Sluice runs unmodified CUDA programs as a graph of thread-block tasks.");
  app.name("sluice");
  app.require_subcommand(1);
}

int run_command(int argc, char** argv) {
  CLI::App app;
  name_app(app);
  int status = exit_success;
  add_run_command(app, &status);
  return parse(app, argc, argv, status);
}

int parse(CLI::App& app, int argc, char** argv, const int& status) {
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    mark_program(app, arguments);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    const bool wants_help = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    if (wants_help) return app.exit(error);
    std::fprintf(stderr, "sluice: %s; 'sluice --help' shows how to call it\n", error.what());
    return exit_usage;
  }
  return status;
}

}  // namespace sluice::tools
