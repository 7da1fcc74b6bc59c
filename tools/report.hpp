// How the subcommands tell of errors.
#pragma once

#include <cstdio>

#include "base/result.hpp"

namespace sluice::tools {

inline constexpr const char* full_names_help =
    "kernels' names whole, however long; else they are shortened to the line";

// refuse() prints the error as one line on stderr and returns `status`.
inline int refuse(int status, const Error& error) {
  std::fprintf(stderr, "sluice: %s\n", error.line().c_str());
  return status;
}

}  // namespace sluice::tools
