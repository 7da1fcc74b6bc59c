// sluice verify: a program plain and under Sluice, and the first copy to the host that differs.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/command.hpp"
#include "tools/report.hpp"
#include "tools/run.hpp"
#include "tools/verify/difference.hpp"
#include "tools/verify/program_runs.hpp"
#include "tools/verify/words.hpp"

namespace sluice::tools {
namespace {

struct VerifyOptions {
  RunOptions run;
  unsigned runs = 1;
  bool bisect = false;
};

void tell(const std::string& line) {
  std::fprintf(stderr, "sluice: %s\n", line.c_str());
}

std::string many(uint64_t count, const char* one, const char* more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

// Found is how a run differs from the first plain one: in a copy, or else in its exit status.
struct Found {
  RunRecord run;
  std::optional<Difference> difference;  // points into `run` and the plain run
};

// found_in() is nothing where the runs are alike.
std::optional<Found> found_in(const RunRecord& plain, RunRecord run) {
  auto found = std::make_optional<Found>({std::move(run), {}});
  found->difference = first_difference(plain, found->run);
  if (!found->difference && found->run.status == plain.status) return std::nullopt;
  return found;
}

// Verification is one call of the command. Each step gives the exit status with which it ends, or
// nothing where the next is to follow.
class Verification {
 public:
  Verification(const VerifyOptions& options, const Start& start)
      : options_(options), runs_(options.run, start) {}

  int run();

 private:
  std::optional<int> run_plainly();
  std::optional<int> compare();
  std::optional<int> repeat_plainly();
  int tell_same() const;
  int tell_difference();
  std::optional<int> bisect();
  // differs() runs with launches `first` to `last` alone as tasks. Nothing: the run failed.
  std::optional<bool> differs(uint64_t first, uint64_t last);
  static std::string all_but(uint64_t first, uint64_t last);
  int refused(const Error& error) const { return refuse(exit_usage, error); }

  const VerifyOptions& options_;
  ProgramRuns runs_;
  RunRecord plain_;
  uint64_t tasks_ = 0;
  std::optional<Found> found_;
};

int Verification::run() {
  if (const auto status = run_plainly()) return *status;
  if (const auto status = compare()) return *status;
  if (!found_) return tell_same();
  if (const auto status = repeat_plainly()) return *status;
  return tell_difference();
}

std::optional<int> Verification::run_plainly() {
  auto ran = runs_.plain();
  if (!ran) return refused(ran.error());
  plain_ = std::move(*ran);
  if (plain_.copies() > 0) return std::nullopt;
  const std::string unseen = unseen_text(plain_);
  if (plain_.processes.empty() && plain_.status != 0) {
    tell(fmt::format("the program ends with status {} before it uses CUDA", plain_.status));
    return exit_program_failed;
  }
  tell("nothing was compared: " + (plain_.processes.empty() ? "the program does not use CUDA"
                                   : unseen.empty()
                                       ? "nothing was copied to the host"
                                       : "what came to the host is not looked at: " + unseen));
  return exit_nothing_compared;
}

std::optional<int> Verification::compare() {
  for (unsigned i = 0; i < options_.runs && !found_; ++i) {
    auto ran = runs_.under_sluice();
    if (!ran) return refused(ran.error());
    tasks_ = ran->tasks();
    found_ = found_in(plain_, std::move(*ran));
    if (found_ || tasks_ > 0) continue;
    tell(
        fmt::format("nothing was compared: none of {} ran as tasks under Sluice (sluice info "
                    "says what keeps it)",
                    many(plain_.launches(), "launch", "launches")));
    return exit_nothing_compared;
  }
  return std::nullopt;
}

int Verification::tell_same() const {
  const std::string unseen = unseen_text(plain_);
  tell(fmt::format("same: {} to the host ({}) in {} under Sluice, with {} of {} as tasks",
                   many(plain_.copies(), "copy", "copies"),
                   many(plain_.copied_bytes(), "byte", "bytes"), many(options_.runs, "run", "runs"),
                   tasks_, many(plain_.launches(), "launch", "launches")));
  if (!unseen.empty()) tell("not looked at: " + unseen);
  if (plain_.status == 0) return exit_success;
  tell(fmt::format("the program ends with status {}, with Sluice and without", plain_.status));
  return exit_program_failed;
}

// A program whose plain runs differ is no witness against Sluice.
std::optional<int> Verification::repeat_plainly() {
  for (unsigned i = 0; i < options_.runs; ++i) {
    auto ran = runs_.plain();
    if (!ran) return refused(ran.error());
    const auto again = found_in(plain_, std::move(*ran));
    if (!again) continue;
    const bool is_later = again->difference && found_->difference &&
                          found_->difference->moment < again->difference->moment;
    if (is_later) continue;
    tell("not deterministic: plain runs differ among themselves, so nothing is said of Sluice");
    if (again->difference) {
      const Difference& where = *again->difference;
      tell("first in " + copy_words(where.first != nullptr ? *where.first : *where.second));
    } else {
      tell(fmt::format("one ends with status {}, one with {}", plain_.status, again->run.status));
    }
    return exit_not_deterministic;
  }
  return std::nullopt;
}

int Verification::tell_difference() {
  if (found_->difference) {
    for (const std::string& line : difference_lines(*found_->difference))
      tell(line);
  }
  if (found_->run.status != plain_.status) {
    tell(fmt::format("different: the program ends with status {} under Sluice, with {} without",
                     found_->run.status, plain_.status));
  }
  const std::string unseen = unseen_text(plain_);
  if (!unseen.empty()) tell("not looked at: " + unseen);
  if (!options_.bisect) {
    tell("--bisect finds the launches that make the difference");
    return exit_difference;
  }
  return bisect().value_or(exit_difference);
}

std::string Verification::all_but(uint64_t first, uint64_t last) {
  const std::string after = fmt::format("{}-{}", last + 1, UINT64_MAX);
  return first == 1 ? after : fmt::format("1-{},{}", first - 1, after);
}

std::optional<bool> Verification::differs(uint64_t first, uint64_t last) {
  for (unsigned i = 0; i < options_.runs; ++i) {
    auto ran = runs_.under_sluice(all_but(first, last));
    if (!ran) {
      refused(ran.error());
      return std::nullopt;
    }
    if (found_in(plain_, std::move(*ran))) return true;
  }
  return false;
}

// The shortest row of launches from the first on that differs, and of it the shortest end.
std::optional<int> Verification::bisect() {
  const uint64_t launches = plain_.launches();
  uint64_t same = 0, last = launches;
  while (last - same > 1) {
    const uint64_t middle = same + (last - same) / 2;
    const auto is_different = differs(1, middle);
    if (!is_different) return exit_usage;
    (*is_different ? last : same) = middle;
  }
  uint64_t first = 1, too_late = last + 1;
  while (too_late - first > 1) {
    const uint64_t middle = first + (too_late - first) / 2;
    const auto is_different = differs(middle, last);
    if (!is_different) return exit_usage;
    (*is_different ? first : too_late) = middle;
  }
  const auto still = differs(first, last);
  if (!still) return exit_usage;
  const auto& all = plain_.processes.front().summary.launches;
  const auto named = [&](uint64_t number) {
    return number <= all.size() ? launch_words(all[number - 1]) : fmt::format("#{}", number);
  };
  tell(fmt::format("{} as tasks: launches {} to {}, {} to {}",
                   *still ? "it takes these" : "not in every run, it seems to take these", first,
                   last, named(first), named(last)));
  tell(fmt::format("{} in all; SLUICE_EXCLUDE={} repeats the last",
                   many(runs_.runs(), "run", "runs"), all_but(first, last)));
  return std::nullopt;
}

}  // namespace

void add_verify_command(CLI::App& app, int* status) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(
      "verify", "Run a program plain and under Sluice, and compare what it copies to the host");
  command->footer(
      "sluice verify [OPTIONS] [--] PROGRAM ARGS...\nExit status: 0 the same, 1 different, 3 plain "
      "runs differ, 4 the program itself fails, 5 nothing was compared. docs/verify.md says more.");
  add_program_options(*command, std::shared_ptr<RunOptions>(options, &options->run), status,
                      [options, status] {
                        const std::optional<Start> start = prepare(options->run, status);
                        return start ? Verification(*options, *start).run() : *status;
                      });
  add_megakernel_option(*command, options->run);
  command
      ->add_option("--runs", options->runs,
                   "how often it runs under Sluice, and how many more plain runs must agree with "
                   "the first before Sluice is blamed; 1 is the default")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--bisect", options->bisect,
                    "where a copy differs, run on and find the launches that make the difference");
}

}  // namespace sluice::tools
