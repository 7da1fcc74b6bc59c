// sluice-tools: all subcommands. The launcher becomes this program for all but `run`.
#include "tools/command_line.hpp"

int main(int argc, char** argv) {
  return sluice::tools::all_commands(argc, argv);
}
