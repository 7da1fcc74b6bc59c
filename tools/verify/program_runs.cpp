#include "tools/verify/program_runs.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::tools {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Settings of other modes would have launches run otherwise.
void set_verifying(const std::string& exclusion) {
  for (const char* other : {"SLUICE_OFF", "SLUICE_CHECK", "SLUICE_CHECK_FOOTPRINTS",
                            "SLUICE_CHECK_BLOCKS", "SLUICE_TRACE"}) {
    unsetenv(other);
  }
  setenv("SLUICE_VERIFY", "1", 1);
  setenv("SLUICE_SUMMARY", "0", 1);
  setenv("SLUICE_GOVERNOR", "off", 0);
  setenv("SLUICE_EXCLUDE", exclusion.c_str(), 1);
}

void silence() {
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
}

// Ignored is how a signal is ignored for a while: who waits for a program must outlive its
// interrupt.
class Ignored {
 public:
  explicit Ignored(int signal) : signal_(signal), before_(std::signal(signal, SIG_IGN)) {}
  ~Ignored() { std::signal(signal_, before_); }
  Ignored(const Ignored&) = delete;
  Ignored& operator=(const Ignored&) = delete;
  void (*before() const)(int) { return before_; }

 private:
  const int signal_;
  void (*const before_)(int);
};

Result<std::vector<ProcessRecord>> read_all(const fs::path& folder) {
  std::vector<std::pair<long, std::string>> journals;  // by process id, so by age, mostly
  for (const auto& entry : fs::directory_iterator(folder))
    journals.emplace_back(std::atol(entry.path().filename().c_str()), entry.path().string());
  std::ranges::sort(journals);
  std::vector<ProcessRecord> processes;
  for (const auto& [process, path] : journals) {
    auto read = read_process(path);
    if (!read) return tl::unexpected(read.error());
    processes.push_back(std::move(*read));
  }
  return processes;
}

}  // namespace

ProgramRuns::ProgramRuns(const RunOptions& options, const Start& start)
    : options_(options), start_(start), excluded_(variable("SLUICE_EXCLUDE")) {}

Result<RunRecord> ProgramRuns::plain() {
  return run("*");
}

Result<RunRecord> ProgramRuns::under_sluice(const std::string& exclusion) {
  return run(excluded_.empty() || exclusion.empty() ? excluded_ + exclusion
                                                    : excluded_ + "," + exclusion);
}

Result<RunRecord> ProgramRuns::run(const std::string& exclusion) {
  const fs::path journals = fs::path(folder_.path()) / std::to_string(++runs_);
  std::error_code error;
  if (folder_.path().empty() || !fs::create_directory(journals, error)) {
    return system_error("no folder for journals can be made", "verify", "TMPDIR says where");
  }
  // A program that reads a file on its standard input finds it whole each time.
  lseek(STDIN_FILENO, 0, SEEK_SET);
  const Ignored interrupt(SIGINT), quit(SIGQUIT);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, interrupt.before());
    std::signal(SIGQUIT, quit.before());
    set_verifying(exclusion);
    if (runs_ > 1) silence();
    RunOptions options = options_;
    options.journal = (journals / "%p").string();
    _exit(execute(options, start_));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    return system_error(std::string("cannot be run: ") + std::strerror(errno), start_.program);
  }
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT)) {
    return system_error("interrupted", start_.program);
  }
  auto processes = read_all(journals);
  fs::remove_all(journals, error);
  if (!processes) return tl::unexpected(processes.error());
  return RunRecord{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                   std::move(*processes)};
}

}  // namespace sluice::tools
