// What a gate makes of a checked run, and the forms in which it says so.
#pragma once

#include <optional>
#include <string>

#include "tools/check/recorded_faults.hpp"

namespace sluice::tools {

// The statuses of `sluice check` beside the program's own.
constexpr int exit_faults = 87;
constexpr int exit_too_little = 88;

// Gate is what a run must satisfy.
struct Gate {
  std::optional<double> required_percent;  // of the launches that must be checked whole
  int fault_status = exit_faults;
};

// Judgement is the end of a run. A fault counts for more than a program that failed, and that for
// more than too little that was checked.
struct Judgement {
  RecordedRun run;
  std::string program;
  int program_status = 0;  // 128 + signal where one ended it
  bool is_too_little = false;
  int status = 0;  // of sluice check

  // checked_text() is "checked 2 launches and 3 copies: no fault found"; it says so only where
  // something was checked.
  std::string checked_text() const;
  // ended_text() is how a program ended that failed; empty where it did not.
  std::string ended_text() const;
};

Judgement judge(RecordedRun run, const Gate& gate, std::string program, int program_status);

// The forms: lines for people, one JSON object, JUnit's XML, SARIF 2.1.0, GitHub's annotations.
std::string text_of(const Judgement& judgement);
std::string json_of(const Judgement& judgement);
std::string junit_of(const Judgement& judgement);
std::string sarif_of(const Judgement& judgement);
std::string github_of(const Judgement& judgement);

}  // namespace sluice::tools
