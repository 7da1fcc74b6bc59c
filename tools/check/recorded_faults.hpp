// What the processes of a program noted under `sluice check`.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sluice::tools {

// RecordedFault is one fault, however often it came. Its members are those of runtime::Fault.
struct RecordedFault {
  std::string kind;
  std::string rule;
  bool is_certain = true;
  std::string kernel;
  std::string message;
  std::vector<std::string> details;
  std::string site;
  std::string file;
  uint32_t line = 0;
  bool is_line_of_call = false;  // the host's, since the kernel has none to tell of
  std::string program;
  std::set<uint64_t> processes;  // that found it

  // key() is what it has in common with itself in another run: neither numbers of launches nor of
  // buffers, and no lines, which move while a file is edited.
  std::string key() const;
};

// RecordedChecks is how much was checked, of all processes together; reasons with how many launches
// each is true of.
struct RecordedChecks {
  uint64_t processes = 0;  // that said so
  uint64_t launches = 0;
  uint64_t whole = 0;
  uint64_t copies = 0;
  std::map<std::string, uint64_t> in_part;
  std::map<std::string, uint64_t> unchecked;

  // percent() of the launches were checked whole; 0 where there was none.
  double percent() const {
    return launches == 0 ? 0 : 100 * static_cast<double>(whole) / static_cast<double>(launches);
  }
};

struct RecordedRun {
  std::vector<RecordedFault> faults;
  RecordedChecks checks;
  uint64_t suppressed = 0;  // faults that some pattern or the baseline holds
};

// read_report() reads the file that a run left; what is cut short in it is left out.
RecordedRun read_report(const std::string& path);

// suppress() takes away what a pattern holds (`*` is any text): against its kind, its rule, its
// kernel, "FILE:LINE" and its message; and what the baseline has.
void suppress(RecordedRun& run, const std::vector<std::string>& patterns,
              const std::set<std::string>& baseline);

// read_lines() reads a file of patterns or of a baseline: a line each, `#` begins a remark. False
// where it cannot be read.
bool read_lines(const std::string& path, std::vector<std::string>& lines);

// matches() is true where `*` of the pattern stand for any text.
bool matches(const std::string& pattern, const std::string& text);

}  // namespace sluice::tools
