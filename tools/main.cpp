#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/built.hpp"
#include "tools/command.hpp"

namespace {

std::string version() {
  const sluice::tools::Built& built = sluice::tools::built;
  return std::string("sluice ") + built.version + ", commit " + built.commit + "\nbuilt with " +
         built.compiler + ", LLVM " + built.llvm + ", headers of CUDA " + built.cuda;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Sluice runs unmodified CUDA programs as a graph of thread-block tasks.", "sluice");
  app.require_subcommand(1);
  app.set_version_flag("--version", version(), "Print version, commit and what it was built with");
  int status = sluice::tools::exit_success;
  sluice::tools::add_run_command(app, &status);
  sluice::tools::add_check_command(app, &status);
  sluice::tools::add_verify_command(app, &status);
  sluice::tools::add_inspect_command(app, &status);
  sluice::tools::add_replay_command(app, &status);
  sluice::tools::add_explain_command(app, &status);
  sluice::tools::add_footprints_command(app, &status);
  sluice::tools::add_info_command(app, &status);
  sluice::tools::add_cache_command(app, &status);
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    sluice::tools::mark_program(app, arguments);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    const bool wants_help = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    if (wants_help) return app.exit(error);
    std::fprintf(stderr, "sluice: %s; 'sluice --help' shows how to call it\n", error.what());
    return sluice::tools::exit_usage;
  }
  return status;
}
