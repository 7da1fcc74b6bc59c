// What the launcher and the other subcommands' program have in common.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace sluice::tools {

// Each does what the arguments ask, as `sluice` or sluice-tools was given them, and returns the
// process's exit status: run_command() knows `run` alone, all_commands() every subcommand. What
// cannot be understood is told in one line.
int run_command(int argc, char** argv);
int all_commands(int argc, char** argv);

// name_app() gives the program its name and what it does.
void name_app(CLI::App& app);

// parse() does what the arguments ask of `app`, whose commands leave their exit status in `status`,
// and returns the program's. What cannot be understood is told in one line.
int parse(CLI::App& app, int argc, char** argv, const int& status);

}  // namespace sluice::tools
