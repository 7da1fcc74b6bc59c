#include "base/log.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

namespace sluice::log {
namespace {

std::atomic<const char*> current_prefix{"sluice"};

// One write(2) a line: lines of several threads and processes never mix, no buffer is left to
// flush at exit, and no stream of the user's process is touched.
void write_line(std::string_view text) {
  const int saved_errno = errno;
  std::string line = std::string(current_prefix.load()) + ": " + std::string(text) + "\n";
  const char* next = line.data();
  size_t left = line.size();
  while (left > 0) {
    const ssize_t written = ::write(STDERR_FILENO, next, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    next += written;
    left -= static_cast<size_t>(written);
  }
  errno = saved_errno;
}

Level read_level() {
  const char* text = std::getenv("SLUICE_LOG");
  if (text == nullptr || *text == '\0') return Level::warning;
  constexpr const char* names[] = {"off", "error", "warning", "info", "debug"};
  for (int i = 0; i < 5; ++i) {
    if (std::strcmp(text, names[i]) == 0) return static_cast<Level>(i);
  }
  write_line(std::string("SLUICE_LOG: '") + text +
             "' is no level; use off, error, warning, info or debug");
  return Level::warning;
}

}  // namespace

Level level() {
  static const Level chosen = read_level();
  return chosen;
}

void write(Level message_level, std::string_view text) {
  if (message_level <= level()) write_line(text);
}

void set_prefix(const char* prefix) {
  current_prefix.store(prefix);
}

}  // namespace sluice::log
