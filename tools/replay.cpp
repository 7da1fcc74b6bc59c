// sluice replay: recomputes fan-in and DROs from a journal and compares.
#include "dro/recorded/replay.hpp"

#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "dro/journal/journal_reader.hpp"
#include "tools/command.hpp"
#include "tools/report.hpp"

namespace sluice::tools {
namespace {

int replay(const std::string& path) {
  // A file that is no journal is the caller's mistake; from here on a fault is a difference.
  const Result<dro::JournalReader> readable = dro::JournalReader::open(path);
  if (!readable) return refuse(exit_usage, readable.error());
  const Result<dro::ReplayResult> result = dro::replay(path);
  if (!result) return refuse(exit_difference, result.error());
  if (!result->note.empty()) std::fprintf(stderr, "sluice: %s\n", result->note.c_str());
  if (!result->identical()) {
    std::fprintf(stderr, "sluice: %s\n", result->difference.c_str());
    return exit_difference;
  }
  std::puts("identical");
  return exit_success;
}

}  // namespace

void add_replay_command(CLI::App& app, int* status) {
  const auto path = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("replay", "Recompute every dependence of a journal and compare");
  command->footer("Prints 'identical' and exits with 0, or names the first difference: exit 1.");
  command->add_option("FILE", *path, "a journal that sluice run --journal wrote")->required();
  command->callback([path, status] { *status = replay(*path); });
}

}  // namespace sluice::tools
