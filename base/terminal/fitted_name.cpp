#include "base/terminal/fitted_name.hpp"

#include <algorithm>

#include <sys/ioctl.h>

#include "base/demangle.hpp"

namespace sluice {
namespace {

// deepest() is how deep template argument lists stand in each other; 0 where there are none, or
// where the angle brackets are no pairs, as in operator<.
size_t deepest(const std::string& name) {
  size_t depth = 0, most = 0;
  for (const char c : name) {
    if (c == '<') most = std::max(most, ++depth);
    if (c == '>' && depth-- == 0) return 0;
  }
  return depth == 0 ? most : 0;
}

// without_lists() leaves "..." of the argument lists that stand at `level`, 1 the outermost.
std::string without_lists(const std::string& name, size_t level) {
  std::string text;
  size_t depth = 0;
  for (const char c : name) {
    if (c == '>' && depth-- == level) text += "...";
    if (depth < level) text += c;
    if (c == '<') ++depth;
  }
  return text;
}

std::string without_namespaces(const std::string& name) {
  size_t depth = 0, begin = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(' || name[i] == '{') ++depth;
    if ((name[i] == '>' || name[i] == ')' || name[i] == '}') && depth > 0) --depth;
    if (depth == 0 && name.compare(i, 2, "::") == 0) begin = i + 2;
  }
  return name.substr(begin);
}

}  // namespace

std::string fitted(std::string name, size_t width) {
  width = std::max(width, least_name_width);
  for (size_t level = deepest(name); level > 0 && name.size() > width; --level)
    name = without_lists(name, level);
  if (name.size() > width) name = without_namespaces(name);
  if (name.size() <= width) return name;
  const size_t kept = width - 3;
  return name.substr(0, kept - kept / 2) + "..." + name.substr(name.size() - kept / 2);
}

std::string fitted_name(const std::string& kernel, size_t width) {
  return fitted(short_name(kernel), width);
}

std::string name_in_line(const std::string& kernel, size_t width) {
  return fitted_name(kernel, width == any_width ? any_width : width * 2 / 5);
}

size_t width_of(int file) {
  winsize size = {};
  return ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual_width;
}

}  // namespace sluice
