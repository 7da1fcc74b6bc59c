#include "e2e/journal_view.hpp"

#include <filesystem>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

namespace sluice::e2e {

using nlohmann::json;

json inspect_figures(const std::string& journal) {
  const Outcome outcome = run({build_path("bin/sluice"), "inspect", "--json", journal});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  return json::parse(outcome.output);
}

std::vector<json> inspect_list(const char* what, const std::string& journal) {
  const Outcome outcome = run({build_path("bin/sluice"), "inspect", what, "--json", journal});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  std::vector<json> rows;
  for (const std::string& line : lines(outcome.output))
    rows.push_back(json::parse(line));
  return rows;
}

std::string sample_checksum(const Outcome& outcome) {
  std::smatch match;
  const std::regex pattern("^PASS .* checksum=([0-9a-f]{16})\\b.*\n$");
  if (outcome.status == 0 && std::regex_match(outcome.output, match, pattern)) return match[1];
  ADD_FAILURE() << "status " << outcome.status << "\n" << outcome.output << outcome.errors;
  return {};
}

std::vector<std::string> sample_command(const std::string& line) {
  std::vector<std::string> command;
  std::stringstream words(line);
  for (std::string word; words >> word;)
    command.push_back(command.empty() ? build_path("samples/" + word) : word);
  return command;
}

std::vector<std::string> program_command(const std::string& line) {
  std::vector<std::string> command = sample_command(line);
  const std::string name = line.substr(0, line.find(' '));
  for (const char* folder : {"tests/e2e/known_cases/", "tests/cudart_programs/"}) {
    const std::string path = build_path(folder + name);
    if (std::filesystem::exists(path)) command.front() = path;
  }
  return command;
}

}  // namespace sluice::e2e
