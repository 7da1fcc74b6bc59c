// sluice run: starts a program with the shim (or, with --off, without it) on the chosen device.
#include "tools/run.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "base/cache_folder.hpp"
#include "base/result.hpp"
#include "interpose/driver/driver_search.hpp"
#include "interpose/driver/program_file.hpp"
#include "interpose/static_runtime/runtime_copy.hpp"
#include "tools/command.hpp"
#include "tools/find_program.hpp"
#include "tools/report.hpp"
#include "tools/toolkit.hpp"

namespace sluice::tools {
namespace {

namespace fs = std::filesystem;

// The journal's file is made by the program; here it is only made sure that it can be.
Status check_journal(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const std::string folder_name = folder.empty() ? "." : folder.string();
  const bool exists = access(path.c_str(), F_OK) == 0;
  const bool writable = exists ? access(path.c_str(), W_OK) == 0 && !fs::is_directory(path)
                               : access(folder_name.c_str(), W_OK | X_OK) == 0;
  if (writable) return {};
  const std::string reason = errno == 0 ? "is a folder" : std::strerror(errno);
  return system_error("the journal cannot be written: " + reason, path,
                      "name a file in a folder that exists and that you may write to");
}

// prepend() puts `entries` before what a colon-separated variable already holds.
void prepend(const char* variable, const std::string& entries) {
  const char* before = std::getenv(variable);
  const std::string value = before == nullptr || *before == '\0' ? entries : entries + ":" + before;
  setenv(variable, value.c_str(), 1);
}

// What is compiled while a program runs is PTX here and machine code on a GPU, and neither may find
// the other in the caches that libraries keep of their own.
void set_code_caches() {
  constexpr std::pair<const char*, const char*> caches[] = {{"CUPY_CACHE_DIR", "cupy"},
                                                            {"NUMBA_CACHE_DIR", "numba"},
                                                            {"TRITON_CACHE_DIR", "triton"},
                                                            {"WARP_CACHE_PATH", "warp"}};
  for (const auto& [variable, name] : caches) {
    const std::string path = cache_path(variable, name);
    if (!path.empty()) setenv(variable, path.c_str(), 0);
  }
}

// set_tools() puts ours before compilers that programs call for machine code.
void set_tools() {
  const std::string folder = cpu_folder() + "/tools";
  setenv("TRITON_PTXAS_PATH", (folder + "/ptxas").c_str(), 1);
  if (const Result<std::string> nvcc = find_program("nvcc")) {
    const std::string before = folder_of_own_nvcc(*nvcc, folder + "/nvcc");
    prepend("PATH", before);
    // CuPy finds the toolkit's by itself where this does not name one.
    setenv("NVCC", (before + "/nvcc").c_str(), 0);
  }
}

void set_environment(const RunOptions& options, const interpose::FoundDriver& driver) {
  const bool cpu = driver.is_cpu_device;
  const fs::path libraries = library_folder();
  const std::string shim = (libraries / "libsluice.so").string();
  std::string preload = options.off ? "" : shim;
  if (cpu) {
    // By absolute path: a program may carry an RPATH to the toolkit's own cudart. The driver, where
    // the shim does not stand for it, is found when it is asked for (static_runtime/audit.cpp).
    for (const std::string_view name : interpose::own_runtimes)
      preload += (preload.empty() ? "" : ":") + cpu_folder() + "/" + std::string(name);
    prepend("LD_LIBRARY_PATH", cpu_folder());
  }
  if (!preload.empty()) prepend("LD_PRELOAD", preload);
  // On a GPU it only stands before NVRTC and nvJitLink. A bundle for GPUs comes without it.
  const std::string audit = cpu_folder() + "/libsluice-audit.so";
  if (cpu || (!options.off && access(audit.c_str(), R_OK) == 0)) prepend("LD_AUDIT", audit);
  if (cpu) {
    set_code_caches();
    set_tools();
  }
  setenv("SLUICE_DEVICE", driver.is_by_signs ? "auto" : cpu ? "cpu" : "gpu", 1);
  if (!options.journal.empty()) {
    setenv("SLUICE_JOURNAL", fs::absolute(options.journal).c_str(), 1);
  }
  if (options.trace) setenv("SLUICE_TRACE", "1", 1);
  // What the user has set counts, unless the option says more.
  setenv("SLUICE_SUMMARY", options.summary ? "1" : "auto", options.summary ? 1 : 0);
  if (!options.checks.empty()) setenv("SLUICE_CHECK", options.checks.c_str(), 1);
  if (!options.fault_report.empty()) {
    setenv("SLUICE_CHECK_REPORT", options.fault_report.c_str(), 1);
  }
  if (options.check_footprints || options.check_blocks != 0) {
    setenv("SLUICE_CHECK_FOOTPRINTS", "1", 1);
  }
  if (options.check_blocks != 0) {
    setenv("SLUICE_CHECK_BLOCKS", std::to_string(options.check_blocks).c_str(), 1);
  }
  if (!options.megakernel.empty()) setenv("SLUICE_MEGAKERNEL", options.megakernel.c_str(), 1);
  if (!options.dependence.empty()) setenv("SLUICE_DEPENDENCE", options.dependence.c_str(), 1);
}

int run(const RunOptions& options) {
  int status = exit_success;
  const std::optional<Start> start = prepare(options, &status);
  return start ? execute(options, *start) : status;
}

}  // namespace

std::optional<Start> prepare(const RunOptions& options, int* status) {
  const auto refused = [status](int with, const Error& error) {
    *status = refuse(with, error);
    return std::nullopt;
  };
  if (options.trace && options.journal.empty()) {
    return refused(exit_usage, {ErrorKind::invalid_input, "--trace writes into the journal", "run",
                                "name one with --journal FILE"});
  }
  const Result<std::string> program = find_program(options.command.front());
  if (!program) return refused(exit_not_found, program.error());
  const Result<interpose::DeviceChoice> choice = interpose::device_choice(options.device);
  if (!choice) return refused(exit_usage, choice.error());
  errno = 0;
  if (!options.journal.empty()) {
    const Status writable = check_journal(options.journal);
    if (!writable) return refused(exit_usage, writable.error());
  }
  const Result<interpose::FoundDriver> driver =
      interpose::expected_driver(*choice, library_folder());
  if (!driver) return refused(exit_usage, driver.error());
  const Result<interpose::ProgramFile> file = interpose::inspect_program(*program, cpu_folder());
  if (driver->is_cpu_device && file && file->obstacle) {
    return refused(exit_not_executable, *file->obstacle);
  }
  return Start{*program, *driver};
}

int execute(const RunOptions& options, const Start& start) {
  set_environment(options, start.driver);
  std::vector<char*> arguments;
  for (const std::string& argument : options.command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execv(start.program.c_str(), arguments.data());
  return refuse(exit_not_executable, {ErrorKind::system,
                                      std::string("cannot be run: ") + std::strerror(errno),
                                      start.program,
                                      {}});
}

void mark_program(const CLI::App& app, std::vector<std::string>& arguments) {
  const auto takes_program = {"run", "check", "verify"};
  if (arguments.empty() || std::ranges::count(takes_program, arguments.front()) == 0) return;
  const CLI::App* const command = app.get_subcommand(arguments.front());
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return;
    if (!argument.starts_with("-")) {
      arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(i), "--");
      return;
    }
    const CLI::Option* const option = command->get_option_no_throw(argument);
    const bool takes_value = option != nullptr && option->get_items_expected_min() > 0;
    if (takes_value) ++i;
  }
}

void add_program_options(CLI::App& command, const std::shared_ptr<RunOptions>& options, int* status,
                         const std::function<int()>& run) {
  command.add_option("--device", options->device,
                     "auto takes the GPU where there are a driver and a device, else the CPU");
  command
      .add_option("--dependence", options->dependence,
                  "exact: per byte; buffer: Mekong's rule, any write invalidates all before it")
      ->check(CLI::IsMember({"exact", "buffer"}));
  command.add_option("PROGRAM", options->command, "the program and its arguments");
  const std::string name = command.get_name();
  command.callback([options, status, name, run] {
    if (options->command.empty()) {
      *status = refuse(exit_usage, {ErrorKind::invalid_input, "no program given", name,
                                    "sluice " + name + " [OPTIONS] [--] PROGRAM ARGS..."});
      return;
    }
    *status = run();
  });
}

void add_megakernel_option(CLI::App& command, RunOptions& options) {
  command
      .add_option("--megakernel", options.megakernel,
                  "run windows by the GPU's megakernel: background lets launches pass through "
                  "until their code is ready, wait waits for it; off is the default")
      ->check(CLI::IsMember({"off", "background", "wait"}));
}

void add_journal_option(CLI::App& command, RunOptions& options) {
  command.add_option("--journal", options.journal,
                     "write what happens to FILE (%p: the process id), for sluice inspect");
}

void add_run_command(CLI::App& app, int* status) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a program under Sluice");
  command->footer("sluice run [OPTIONS] [--] PROGRAM ARGS...; the exit status is the program's.");
  add_program_options(*command, options, status, [options] { return run(*options); });
  add_journal_option(*command, *options);
  add_megakernel_option(*command, *options);
  command->add_flag("--trace", options->trace,
                    "note in the journal when each task ran, for sluice inspect --trace");
  command->add_flag("--check-footprints", options->check_footprints,
                    "compare what every block touches with its footprint (slow; CPU device): a "
                    "difference is told and ends the program with exit status 86");
  command->add_option("--check-blocks", options->check_blocks,
                      "--check-footprints for about so many blocks of each launch, spread over "
                      "its grid, instead of all");
  command->add_flag("--summary", options->summary,
                    "say on stderr at the end what Sluice did; on a terminal it says so anyway "
                    "after more than a second (SLUICE_SUMMARY=0: never)");
  command->add_flag("--off", options->off, "run on that device without Sluice");
}

}  // namespace sluice::tools
