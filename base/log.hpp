// The log for people: one line a message on stderr, never on stdout, never changing errno.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sluice::log {

enum class Level { off, error, warning, info, debug };

// level() is SLUICE_LOG of the environment (off, error, warning, info, debug), read once; warning
// where it is unset, and where it is none of these (which is said once).
Level level();

// write() prints "<prefix>: <text>" as one line where `level` is enabled. Thread-safe, and safe
// while the process exits. The prefix is "sluice" unless set_prefix() gave another.
void write(Level level, std::string_view text);
void set_prefix(const char* prefix);

template <class... T>
void error(fmt::format_string<T...> format, T&&... arguments) {
  if (level() >= Level::error) {
    write(Level::error, fmt::format(format, std::forward<T>(arguments)...));
  }
}
template <class... T>
void warning(fmt::format_string<T...> format, T&&... arguments) {
  if (level() >= Level::warning) {
    write(Level::warning, fmt::format(format, std::forward<T>(arguments)...));
  }
}
template <class... T>
void info(fmt::format_string<T...> format, T&&... arguments) {
  if (level() >= Level::info) {
    write(Level::info, fmt::format(format, std::forward<T>(arguments)...));
  }
}
template <class... T>
void debug(fmt::format_string<T...> format, T&&... arguments) {
  if (level() >= Level::debug) {
    write(Level::debug, fmt::format(format, std::forward<T>(arguments)...));
  }
}

}  // namespace sluice::log
