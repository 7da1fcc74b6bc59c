// Running a program under `sluice check`, for its tests.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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

// line_with() is the number of the first line with that text in a source of tests/e2e/check; a line
// ends in '\n', so that a remark at its end is told from one that goes on.
inline std::string line_with(const std::string& name, const std::string& text) {
  std::ifstream file(SLUICE_SOURCE_FOLDER "/tests/e2e/check/" + name);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if ((line + '\n').find(text) != std::string::npos) return std::to_string(number);
  }
  ADD_FAILURE() << text << " is not in " << name;
  return "0";
}

// place() is "bounds.cu:7".
inline std::string place(const std::string& name, const std::string& text) {
  return name + ":" + line_with(name, text);
}

}  // namespace sluice::e2e
