#include "base/demangle.hpp"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace sluice {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return name;
  const std::string declaration = text.get();
  // Only templates are mangled with their return type, and every kernel's is void.
  return declaration.starts_with("void ") ? declaration.substr(5) : declaration;
}

size_t parameter_list_begin(const std::string& declaration) {
  if (!declaration.ends_with(')')) return std::string::npos;
  int depth = 0;
  for (size_t at = declaration.size(); at-- > 0;) {
    if (declaration[at] == ')') ++depth;
    if (declaration[at] == '(' && --depth == 0) return at;
  }
  return std::string::npos;
}

std::string short_name(const std::string& name) {
  const std::string declaration = demangled(name);
  return declaration.substr(0, parameter_list_begin(declaration));
}

}  // namespace sluice
