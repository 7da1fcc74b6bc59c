// sluice footprints: how precise the footprints of recorded runs are.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "base/terminal/fitted_name.hpp"
#include "dro/recorded/footprint_classes.hpp"
#include "tools/command.hpp"
#include "tools/report.hpp"

namespace sluice::tools {
namespace {

struct FootprintsOptions {
  std::vector<std::string> files;
  bool shares_only = false;
  bool full_names = false;
};

int footprints(const FootprintsOptions& options) {
  std::vector<dro::ClassifiedShape> all;
  for (const std::string& file : options.files) {
    auto shapes = dro::classify_footprints(file);
    if (!shapes) return refuse(exit_usage, shapes.error());
    if (!options.shares_only) {
      std::cout << file << '\n';
      dro::write_classes(*shapes, std::cout,
                         options.full_names ? any_width : width_of(STDOUT_FILENO));
    }
    if (options.files.size() > 1) dro::write_shares(*shapes, file, std::cout);
    all.insert(all.end(), shapes->begin(), shapes->end());
  }
  dro::write_shares(all, "all", std::cout);
  return exit_success;
}

}  // namespace

void add_footprints_command(CLI::App& app, int* status) {
  const auto options = std::make_shared<FootprintsOptions>();
  CLI::App* command =
      app.add_subcommand("footprints", "Show how precise the footprints of recorded runs are");
  command->footer(
      "A pair of kernel and launch shape counts as its least precise access: exact, bounded, "
      "whole_buffer, or opaque where it has no footprint.");
  command->add_option("FILE", options->files, "journals that sluice run --journal wrote")
      ->required();
  command->add_flag("--shares", options->shares_only, "the shares only, a line for each journal");
  command->add_flag("--full-names", options->full_names, full_names_help);
  command->callback([options, status] { *status = footprints(*options); });
}

}  // namespace sluice::tools
