// sluice inspect: what a journal says happened.
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "dro/summary.hpp"
#include "tools/command.hpp"
#include "tools/report.hpp"
#include "tools/view/dot.hpp"

namespace sluice::tools {
namespace {

struct InspectOptions {
  std::string file;
  bool json = false;
  bool launches = false;
  bool dros = false;
  bool pairs = false;
  bool dot = false;
  std::optional<dro::DroId> dot_dro;
};

int inspect(const InspectOptions& options) {
  const Result<dro::JournalSummary> summary = dro::summarise(options.file);
  if (!summary) return refuse(exit_usage, summary.error());
  if (!summary->note.empty()) std::cerr << "sluice: " << summary->note << "\n";
  if (options.dot_dro) {
    const Status drawn = write_block_graph(options.file, *summary, *options.dot_dro, std::cout);
    if (!drawn) return refuse(exit_usage, drawn.error());
  } else if (options.dot) {
    write_launch_graph(*summary, std::cout);
  } else if (options.pairs) {
    dro::write_pairs(*summary, options.json, std::cout);
  } else if (options.launches) {
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
  // What is printed: one of these, or the summary.
  CLI::Option_group* what = command->add_option_group("what");
  what->add_flag("--launches", options->launches, "a line for each launch");
  what->add_flag("--dros", options->dros, "a line for each DRO");
  what->add_flag("--pairs", options->pairs, "a line for each pair of kernels that meet");
  what->add_flag("--dot", options->dot, "the graph of launches, for Graphviz's dot");
  what->add_option("--dot-dro", options->dot_dro, "the block graph of one DRO, for dot");
  what->require_option(0, 1);
  command->callback([options, status] { *status = inspect(*options); });
}

}  // namespace sluice::tools
