#include <string>

#include <CLI/CLI.hpp>

#include "tools/built.hpp"
#include "tools/command.hpp"
#include "tools/command_line.hpp"

namespace sluice::tools {
namespace {

std::string version() {
  return std::string("sluice ") + built.version + ", commit " + built.commit + "\nbuilt with " +
         built.compiler + ", LLVM " + built.llvm + ", headers of CUDA " + built.cuda;
}

}  // namespace

int all_commands(int argc, char** argv) {
  CLI::App app;
  name_app(app);
  app.set_version_flag("--version", version(), "Print version, commit and what it was built with");
  int status = exit_success;
  add_run_command(app, &status);
  add_check_command(app, &status);
  add_verify_command(app, &status);
  add_inspect_command(app, &status);
  add_replay_command(app, &status);
  add_explain_command(app, &status);
  add_footprints_command(app, &status);
  add_info_command(app, &status);
  add_cache_command(app, &status);
  return parse(app, argc, argv, status);
}

}  // namespace sluice::tools
