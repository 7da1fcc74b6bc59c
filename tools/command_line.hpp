// What the launcher and the other subcommands' program have in common.
#pragma once

#include <CLI/App.hpp>

namespace sluice::tools {

// name_app() gives the program its name and what it does.
void name_app(CLI::App& app);

// parse() does what the arguments ask of `app`, whose commands leave their exit status in `status`,
// and returns the program's. What cannot be understood is told in one line.
int parse(CLI::App& app, int argc, char** argv, const int& status);

}  // namespace sluice::tools
