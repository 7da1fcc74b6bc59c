// sluice-tools: all subcommands. The launcher becomes this program for all but `run`.
#include <string>

#include <CLI/CLI.hpp>

#include "tools/built.hpp"
#include "tools/command.hpp"
#include "tools/command_line.hpp"

namespace {

std::string version() {
  const sluice::tools::Built& built = sluice::tools::built;
  return std::string("sluice ") + built.version + ", commit " + built.commit + "\nbuilt with " +
         built.compiler + ", LLVM " + built.llvm + ", headers of CUDA " + built.cuda;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app;
  sluice::tools::name_app(app);
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
  return sluice::tools::parse(app, argc, argv, status);
}
