#include "runtime/faults/fault_log.hpp"

#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "base/json_text.hpp"
#include "base/log.hpp"
#include "runtime/calls/call_place.hpp"

namespace sluice::runtime {

void FaultLog::add(const Fault& fault) {
  if (!is_wanted(fault)) return;
  ++found_;
  if (!checks_.report.empty()) {
    append("fault", JsonText::object({{"certain", fault.is_certain},
                                      {"details", fault.details},
                                      {"file", fault.file},
                                      {"kernel", fault.kernel},
                                      {"kind", fault.kind},
                                      {"line", fault.line},
                                      {"message", fault.message},
                                      {"rule", fault.rule},
                                      {"site", fault.site}}));
    return;
  }
  log::error("{}", without_marks(fault.message));
  for (const std::string& detail : fault.details)
    log::error("  {}", without_marks(detail));
}

bool FaultLog::is_wanted(const Fault& fault) const {
  const std::string_view kind = fault.kind;
  // Who doesn't want these asks no device for them.
  if (kind == "host" || kind == "threads") return true;
  return kind == "races" ? checks_.races : kind == "memory" ? checks_.memory : checks_.init;
}

// Several processes may write one file: each line goes there in one piece.
void FaultLog::append(const char* name, const JsonText& object) const {
  const int file = open(checks_.report.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  const JsonText line =
      JsonText::object({{name, object}, {"process", getpid()}, {"program", program_}});
  const std::string text = line.text() + "\n";
  if (write(file, text.data(), text.size()) < 0) log::error("{} cannot be written", checks_.report);
  close(file);
}

}  // namespace sluice::runtime
