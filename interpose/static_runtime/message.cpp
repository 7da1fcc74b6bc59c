#include "interpose/static_runtime/message.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace sluice::interpose {

bool is_logged(Line level) {
  const char* const set = std::getenv("SLUICE_LOG");
  if (set == nullptr) return level == Line::error;
  if (level == Line::error) return std::strcmp(set, "off") != 0;
  return std::strcmp(set, "info") == 0 || std::strcmp(set, "debug") == 0;
}

void tell(const char* where, const char* what, const char* remedy) {
  char line[4096 + 512];
  const char* const mark = *remedy == '\0' ? "" : "; ";
  const int length =
      std::snprintf(line, sizeof line, "sluice: %s: %s%s%s\n", where, what, mark, remedy);
  if (length <= 0) return;
  const size_t size =
      static_cast<size_t>(length) < sizeof line ? static_cast<size_t>(length) : sizeof line - 1;
  // One call, so that lines of several processes do not mix. There is nobody to tell of a failure.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, size);
}

}  // namespace sluice::interpose
