// sluice inspect: what a journal says happened.
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "base/terminal/fitted_name.hpp"
#include "dro/recorded/summary.hpp"
#include "tools/command.hpp"
#include "tools/report.hpp"
#include "tools/view/dot.hpp"
#include "tools/view/page.hpp"
#include "tools/view/parallelism.hpp"
#include "tools/view/recorded_run.hpp"
#include "tools/view/trace.hpp"

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
  bool parallelism = false;
  bool full_names = false;
  std::string trace;
  std::string html;
};

using WriteRun = std::function<Status(const RecordedRun&, std::ostream&)>;

// write_file() makes `file` whole or not at all, and only of a journal whose dependences,
// recomputed, are those that it holds.
int write_file(const InspectOptions& options, const std::string& file, const WriteRun& write) {
  const Status same = replayed(options.file);
  if (!same) return refuse(exit_difference, same.error());
  const Result<RecordedRun> run = read_run(options.file);
  if (!run) return refuse(exit_usage, run.error());
  if (!run->summary.end.note.empty()) std::cerr << "sluice: " << run->summary.end.note << "\n";
  const std::string part = file + ".part";
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  Status written;
  if (out) written = write(*run, out);
  out.close();
  std::error_code error;
  if (written && out) std::filesystem::rename(part, file, error);
  if (written && out && !error) return exit_success;
  std::filesystem::remove(part, error);
  return refuse(exit_usage, written ? Error{ErrorKind::system, "cannot be written", file,
                                            "name a file in a folder that you may write to"}
                                    : written.error());
}

// status_of() tells whoever reads no words that what was printed is not the whole run.
int status_of(const dro::JournalSummary& summary) {
  return summary.end.is_damaged ? exit_difference : exit_success;
}

// print() prints what needs the journal whole.
int print(const InspectOptions& options) {
  const Result<RecordedRun> run = read_run(options.file);
  if (!run) return refuse(exit_usage, run.error());
  if (!run->summary.end.note.empty()) std::cerr << "sluice: " << run->summary.end.note << "\n";
  const Status printed = options.dot_dro
                             ? write_block_graph(options.file, *run, *options.dot_dro, std::cout)
                             : write_parallelism(*run, options.json, std::cout);
  return printed ? status_of(run->summary) : refuse(exit_usage, printed.error());
}

int inspect(const InspectOptions& options) {
  if (!options.html.empty()) return write_file(options, options.html, write_page);
  if (!options.trace.empty()) return write_file(options, options.trace, write_trace);
  if (options.dot_dro || options.parallelism) return print(options);
  const Result<dro::JournalSummary> summary = dro::summarise(options.file);
  if (!summary) return refuse(exit_usage, summary.error());
  if (!summary->end.note.empty()) std::cerr << "sluice: " << summary->end.note << "\n";
  const size_t width = options.full_names ? any_width : width_of(STDOUT_FILENO);
  if (options.dot) {
    write_launch_graph(*summary, std::cout, width);
  } else if (options.pairs) {
    dro::write_pairs(*summary, options.json, std::cout, width);
  } else if (options.launches) {
    dro::write_launches(*summary, options.json, std::cout, width);
  } else if (options.dros) {
    dro::write_dros(*summary, options.json, std::cout, width);
  } else if (options.json) {
    dro::write_summary_json(*summary, std::cout);
  } else {
    dro::write_summary(*summary, std::cout, width);
  }
  return status_of(*summary);
}

}  // namespace

void add_inspect_command(CLI::App& app, int* status) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a journal says happened");
  command->add_option("FILE", options->file, "a journal that sluice run --journal wrote")
      ->required();
  command->add_flag("--json", options->json, "one JSON object, or one a line for the lists");
  command->add_flag("--full-names", options->full_names, full_names_help);
  // What is printed: one of these, or the summary.
  CLI::Option_group* what = command->add_option_group("what");
  what->add_flag("--launches", options->launches, "a line for each launch");
  what->add_flag("--dros", options->dros, "a line for each DRO");
  what->add_flag("--pairs", options->pairs, "a line for each pair of kernels that meet");
  what->add_flag("--dot", options->dot, "the graph of launches, for Graphviz's dot");
  what->add_option("--dot-dro", options->dot_dro, "the block graph of one DRO, for dot");
  what->add_flag("--parallelism", options->parallelism,
                 "work, span, and the most that any order of blocks gains");
  what->add_option("--trace", options->trace,
                   "write the tasks' times for a viewer of Chrome's traces to this file "
                   "(of a run with sluice run --trace)");
  what->add_option("--html", options->html, "write the whole run as one page to this file");
  what->require_option(0, 1);
  command->callback([options, status] { *status = inspect(*options); });
}

}  // namespace sluice::tools
