// sluice inspect: what a journal says happened.
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "dro/summary.hpp"
#include "tools/command.hpp"
#include "tools/report.hpp"

namespace sluice::tools {
namespace {

struct InspectOptions {
  std::string file;
  bool json = false;
  bool launches = false;
  bool dros = false;
};

int inspect(const InspectOptions& options) {
  const Result<dro::JournalSummary> summary = dro::summarise(options.file);
  if (!summary) return refuse(exit_usage, summary.error());
  if (!summary->note.empty()) std::cerr << "sluice: " << summary->note << "\n";
  if (options.launches) {
    dro::write_launches(*summary, options.json, std::cout);
  } else if (options.dros) {
    dro::write_dros(*summary, options.json, std::cout);
  } else if (options.json) {
    dro::write_summary_json(*summary, std::cout);
  } else {
    dro::write_summary(*summary, std::cout);
  }
  return exit_success;
}

}  // namespace

void add_inspect_command(CLI::App& app, int* status) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a journal says happened");
  command->add_option("FILE", options->file, "a journal that sluice run --journal wrote")
      ->required();
  command->add_flag("--json", options->json, "one JSON object, or one a line for the lists");
  CLI::Option* launches =
      command->add_flag("--launches", options->launches, "a line for each launch");
  command->add_flag("--dros", options->dros, "a line for each DRO")->excludes(launches);
  command->callback([options, status] { *status = inspect(*options); });
}

}  // namespace sluice::tools
