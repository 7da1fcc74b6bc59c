#include "tools/check/judgement.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace sluice::tools {
namespace {

std::string counted(uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// percent_text() never says 100 % of less.
std::string percent_text(double percent) {
  return fmt::format("{:.1f} %", std::floor(10 * percent) / 10);
}

}  // namespace

Judgement judge(RecordedRun run, const Gate& gate, std::string program, int program_status) {
  Judgement judgement{std::move(run), std::move(program), program_status};
  judgement.is_too_little =
      gate.required_percent && (judgement.run.checks.launches == 0 ||
                                judgement.run.checks.percent() < *gate.required_percent);
  judgement.status = !judgement.run.faults.empty() ? gate.fault_status
                     : program_status != 0         ? program_status
                     : judgement.is_too_little     ? exit_too_little
                                                   : 0;
  return judgement;
}

std::string Judgement::checked_text() const {
  const RecordedChecks& checks = run.checks;
  if (checks.processes == 0) {
    return "nothing is known of how much was checked: the program did not use CUDA, or ended "
           "before it could say so";
  }
  std::string text =
      fmt::format("checked {} and {}: ", counted(checks.launches, "launch", "launches"),
                  counted(checks.copies, "copy", "copies"));
  if (!run.faults.empty()) {
    text += counted(run.faults.size(), "fault", "faults");
  } else if (checks.launches == 0) {
    text += "no launch was seen, so nothing is known of the kernels";
  } else if (checks.whole == 0) {
    text += "none of them could be checked whole";
  } else {
    text += "no fault found";
  }
  if (checks.launches != 0 && checks.whole != checks.launches)
    text += fmt::format("; {} of the launches were checked whole", percent_text(checks.percent()));
  if (run.suppressed != 0)
    text += fmt::format("; {} suppressed", counted(run.suppressed, "fault", "faults"));
  return text;
}

std::string Judgement::ended_text() const {
  if (program_status == 0) return {};
  if (program_status <= 128) return fmt::format("the program's exit status is {}", program_status);
  return fmt::format("the program was ended by signal {} ({})", program_status - 128,
                     strsignal(program_status - 128));
}

}  // namespace sluice::tools
