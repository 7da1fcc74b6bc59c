#include "base/result.hpp"

namespace sluice {

std::string Error::line() const {
  std::string text = where.empty() ? what : where + ": " + what;
  if (!remedy.empty()) text += "; " + remedy;
  return text;
}

}  // namespace sluice
