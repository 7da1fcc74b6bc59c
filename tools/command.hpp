// The subcommands of `sluice`. Each registers its options and what runs when it is chosen.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace sluice::tools {

// Exit statuses of the tool itself; `sluice run` else gives the program's.
enum ExitStatus : int {
  exit_success = 0,
  exit_difference = 1,         // a difference, or info: a program that would not run
  exit_usage = 2,              // bad arguments or input
  exit_not_deterministic = 3,  // verify: plain runs differ among themselves
  exit_program_failed = 4,     // verify: the program fails by itself
  exit_nothing_compared = 5,   // verify
  exit_not_executable = 126,
  exit_not_found = 127,
};

// Each add_*_command() adds a subcommand to `app`; when it is chosen, it leaves its exit status in
// *status. Both references must outlive the parsing.
void add_run_command(CLI::App& app, int* status);
void add_check_command(CLI::App& app, int* status);
void add_verify_command(CLI::App& app, int* status);
void add_inspect_command(CLI::App& app, int* status);
void add_replay_command(CLI::App& app, int* status);
void add_explain_command(CLI::App& app, int* status);
void add_footprints_command(CLI::App& app, int* status);
void add_info_command(CLI::App& app, int* status);
void add_cache_command(CLI::App& app, int* status);

// mark_program() puts "--" before the program of `run OPTIONS PROGRAM ARGS...`, check or verify
// where the user left it out: options behind the program are the program's own. `app` has these
// commands.
void mark_program(const CLI::App& app, std::vector<std::string>& arguments);

}  // namespace sluice::tools
