// Running a program under `sluice check`, for its tests.
#pragma once

#include <string>
#include <vector>

#include "e2e/process.hpp"

namespace sluice::e2e {

// check() is `sluice check --device cpu OPTIONS -- COMMAND`.
inline Outcome check(const std::vector<std::string>& command,
                     const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {build_path("bin/sluice"), "check", "--device", "cpu"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return run(words);
}

// seeded() is a case of tests/e2e/check/PROGRAM.cu, with its fault or without.
inline std::vector<std::string> seeded(const std::string& program, const std::string& name,
                                       bool is_right) {
  return {build_path("tests/e2e/check/" + program), name, is_right ? "right" : "wrong"};
}

}  // namespace sluice::e2e
