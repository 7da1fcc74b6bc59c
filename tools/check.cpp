// sluice check: runs a program, gathers what its processes noted of faults, and judges it.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/temporary_folder.hpp"
#include "base/result.hpp"
#include "tools/check/judgement.hpp"
#include "tools/command.hpp"
#include "tools/report.hpp"
#include "tools/run.hpp"

namespace sluice::tools {
namespace {

struct CheckOptions {
  std::vector<std::string> only;
  std::string format = "text";
  std::string output;
  std::string required;
  std::vector<std::string> patterns;
  std::string suppressions;
  std::string baseline;
  std::string new_baseline;
  int fault_status = exit_faults;
};

volatile std::sig_atomic_t running_child = 0;

void hand_on(int signal) {
  const int saved = errno;
  if (running_child > 0) kill(running_child, signal);
  errno = saved;
}

// run_and_wait() is the program's exit status, 128 + signal where one ended it. Who is told to end
// tells the program, and then still reports.
Result<int> run_and_wait(const RunOptions& options, const Start& start) {
  struct sigaction with = {};
  with.sa_handler = SIG_IGN;
  struct sigaction interrupt = {}, quit = {}, end = {}, hang_up = {};
  sigaction(SIGINT, &with, &interrupt);  // the terminal sends these to the program too
  sigaction(SIGQUIT, &with, &quit);
  const pid_t child = fork();
  if (child == 0) {
    sigaction(SIGINT, &interrupt, nullptr);
    sigaction(SIGQUIT, &quit, nullptr);
    _exit(execute(options, start));
  }
  running_child = child;
  with.sa_handler = hand_on;
  sigaction(SIGTERM, &with, &end);
  sigaction(SIGHUP, &with, &hang_up);
  int status = 0;
  pid_t ended = -1;
  do {
    ended = child < 0 ? -1 : waitpid(child, &status, 0);
  } while (ended < 0 && child > 0 && errno == EINTR);
  const int reason = errno;
  running_child = 0;
  sigaction(SIGTERM, &end, nullptr);
  sigaction(SIGHUP, &hang_up, nullptr);
  sigaction(SIGINT, &interrupt, nullptr);
  sigaction(SIGQUIT, &quit, nullptr);
  if (ended != child) return system_error(std::strerror(reason), start.program);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<std::optional<double>> percent_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  double percent = 0;
  int used = 0;
  const bool is_number = std::sscanf(text.c_str(), "%lf%n", &percent, &used) == 1;
  const std::string rest = is_number ? text.substr(static_cast<size_t>(used)) : text;
  if (!is_number || (!rest.empty() && rest != "%") || !(percent >= 0 && percent <= 100))
    return invalid_input("--require-checked takes a percentage", text, "such as 95%");
  return percent;
}

// read() reads a file that an option names.
Status read(const std::string& path, std::vector<std::string>& lines) {
  if (path.empty() || read_lines(path, lines)) return {};
  return system_error(std::string("cannot be read: ") + std::strerror(errno), path);
}

std::string formed(const Judgement& judgement, const std::string& format) {
  if (format == "json") return json_of(judgement);
  if (format == "junit") return junit_of(judgement);
  if (format == "sarif") return sarif_of(judgement);
  return format == "github" ? github_of(judgement) : text_of(judgement);
}

// deliver() writes the report to its file, or to stderr: stdout is the program's.
Status deliver(const CheckOptions& options, const Judgement& judgement) {
  const std::string text = formed(judgement, options.format);
  if (options.output.empty()) {
    std::fputs(text.c_str(), stderr);
    return {};
  }
  std::ofstream file(options.output);
  if (!(file << text).flush()) return system_error("the report cannot be written", options.output);
  return {};
}

// keep_as_baseline() writes what was found, and takes it out of the judgement's faults.
Status keep_as_baseline(const std::string& path, RecordedRun& run) {
  std::ofstream file(path);
  file << "# Faults that sluice check --baseline leaves out, one a line.\n";
  std::set<std::string> keys;
  for (const RecordedFault& fault : run.faults)
    keys.insert(fault.key());
  for (const std::string& key : keys)
    file << key << "\n";
  if (!file.flush()) return system_error("the baseline cannot be written", path);
  suppress(run, {}, keys);
  return {};
}

Result<int> check(const CheckOptions& options, RunOptions& run, const Start& start) {
  const auto required = percent_of(options.required);
  if (!required) return tl::unexpected(required.error());
  std::vector<std::string> patterns = options.patterns, baseline;
  for (const Status& status :
       {read(options.suppressions, patterns), read(options.baseline, baseline)}) {
    if (!status) return tl::unexpected(status.error());
  }
  const TemporaryFolder folder("sluice-check");
  if (folder.path().empty())
    return system_error("no folder for the report can be made", "check", "TMPDIR says where");
  run.fault_report = folder.path() + "/faults";
  const Result<int> ended = run_and_wait(run, start);
  if (!ended) return ended;
  RecordedRun found = read_report(run.fault_report);
  suppress(found, patterns, {baseline.begin(), baseline.end()});
  if (!options.new_baseline.empty()) {
    const Status kept = keep_as_baseline(options.new_baseline, found);
    if (!kept) return tl::unexpected(kept.error());
  }
  const Judgement judgement =
      judge(std::move(found), {*required, options.fault_status}, start.program, *ended);
  const Status delivered = deliver(options, judgement);
  if (!delivered) return tl::unexpected(delivered.error());
  return judgement.status;
}

int check_command(const CheckOptions& options, RunOptions& run) {
  int status = exit_success;
  const std::optional<Start> start = prepare(run, &status);
  if (!start) return status;
  run.checks = options.only.empty() ? "1" : fmt::format("{}", fmt::join(options.only, ","));
  const Result<int> ended = check(options, run, *start);
  return ended ? *ended : refuse(exit_usage, ended.error());
}

void add_gate_options(CLI::App& command, CheckOptions& options) {
  command
      .add_option("--only", options.only,
                  "look for these alone: races, memory, init (by footprints), host, errors, "
                  "threads, accesses (memory and init by every access), leaks")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(
          {"races", "memory", "init", "host", "errors", "threads", "accesses", "leaks"}));
  command.add_option("--format", options.format, "of the report: text, json, junit, sarif, github")
      ->check(CLI::IsMember({"text", "json", "junit", "sarif", "github"}));
  command.add_option("--output", options.output, "write the report to FILE, not to stderr");
  command.add_option("--require-checked", options.required,
                     "exit status 88 where fewer percent of the launches were checked whole");
  command
      .add_option("--suppress", options.patterns,
                  "leave out faults whose kind, rule, kernel, FILE:LINE or message a pattern "
                  "holds; * is any text. May come several times")
      ->allow_extra_args(false);
  command.add_option("--suppressions", options.suppressions, "a file of such patterns");
  command.add_option("--baseline", options.baseline, "a file of faults that are left out");
  command.add_option("--write-baseline", options.new_baseline,
                     "write the faults that are found there, and leave them out");
  command
      .add_option("--error-exitcode", options.fault_status,
                  "the exit status where a fault was found, 87 unless given")
      ->check(CLI::Range(1, 255));
}

}  // namespace

void add_check_command(CLI::App& app, int* status) {
  const auto run = std::make_shared<RunOptions>();
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand(
      "check", "Run a program and find races, accesses out of bounds and reads of nothing");
  command->footer(
      "sluice check [OPTIONS] [--] PROGRAM ARGS...; launches run one by one in stream order. The "
      "exit status is 87 where faults were found, else the program's where that is not 0, 88 where "
      "too little was checked. docs/check.md says what counts as a fault.");
  add_program_options(*command, run, status,
                      [run, options] { return check_command(*options, *run); });
  add_journal_option(*command, *run);
  add_gate_options(*command, *options);
}

}  // namespace sluice::tools
