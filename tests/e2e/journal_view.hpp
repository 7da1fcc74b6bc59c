// Reading a journal through `sluice inspect`, and running samples, for end-to-end tests.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "e2e/process.hpp"

namespace sluice::e2e {

// inspect_figures() is the one object of `sluice inspect --json`.
nlohmann::json inspect_figures(const std::string& journal);

// inspect_list() is `sluice inspect WHAT --json`, a line each.
std::vector<nlohmann::json> inspect_list(const char* what, const std::string& journal);

// sample_checksum() is the checksum of a sample that passed; a test failure with all that was
// printed otherwise.
std::string sample_checksum(const Outcome& outcome);

// sample_command() is the path of a built sample and its arguments, split at spaces.
std::vector<std::string> sample_command(const std::string& line);

// program_command() is the same for any program that the tests build: a sample, a known case, or
// one of the runtime's tests (cudart_*).
std::vector<std::string> program_command(const std::string& line);

}  // namespace sluice::e2e
