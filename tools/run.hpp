// Starting a program with the shim, for the subcommands that do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "interpose/driver/driver_search.hpp"

namespace sluice::tools {

struct RunOptions {
  std::string device = "auto";
  std::string journal;
  std::string dependence;
  std::string megakernel;
  bool check_footprints = false;
  uint32_t check_blocks = 0;  // of each launch; 0: all
  bool trace = false;
  bool summary = false;
  bool off = false;
  std::string checks;        // of sluice check: the kinds of faults, between commas
  std::string fault_report;  // the file that they go to
  std::vector<std::string> command;
};

// Start is a program that can be started, and the driver that it gets.
struct Start {
  std::string program;
  interpose::FoundDriver driver;
};

// prepare() finds both; nothing where the program cannot be started so, which is then told and
// *status set.
std::optional<Start> prepare(const RunOptions& options, int* status);

// execute() replaces this process by the program. It returns the exit status where that fails,
// which is then told.
int execute(const RunOptions& options, const Start& start);

// add_program_options() adds what all that start a program have in common; `run` is called where a
// program is given. add_megakernel_option() adds --megakernel, add_journal_option() --journal.
void add_program_options(CLI::App& command, const std::shared_ptr<RunOptions>& options, int* status,
                         const std::function<int()>& run);
void add_megakernel_option(CLI::App& command, RunOptions& options);
void add_journal_option(CLI::App& command, RunOptions& options);

}  // namespace sluice::tools
