#include "machine.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace sluice::gpu_probe {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) {
    return "";
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Quotes a word for the shell, so that a folder's name with blanks or quotes stays one word.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) {
    out += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return out + '\'';
}

}  // namespace

std::string output_line(const std::string& command) {
  FILE* pipe = popen(("{ " + command + "; } 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) {
    return "";
  }
  std::string text;
  std::array<char, 512> part;
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) {
    text += part.data();
  }
  const bool fine = pclose(pipe) == 0;
  return fine ? trimmed(text.substr(0, text.find('\n'))) : "";
}

std::vector<std::pair<std::string, std::string>> split_smi(const std::vector<std::string>& names,
                                                           const std::string& line) {
  std::vector<std::pair<std::string, std::string>> facts;
  std::size_t place = 0;
  for (const std::string& name : names) {
    std::string value;
    if (place <= line.size()) {
      const std::size_t comma = std::min(line.find(',', place), line.size());
      value = trimmed(line.substr(place, comma - place));
      place = comma + 1;
    }
    facts.emplace_back(name, value.empty() ? "unknown" : value);
  }
  return facts;
}

std::vector<std::pair<std::string, std::string>> smi_facts(const std::string& bus) {
  const std::vector<std::string> names = {
      "driver",           "SM clock as found",    "memory clock as found",
      "maximum SM clock", "maximum memory clock", "power limit",
      "temperature (C)"};
  return split_smi(names, output_line("nvidia-smi -i " + quoted(bus) +
                                      " --query-gpu=driver_version,clocks.sm,clocks.mem,"
                                      "clocks.max.sm,clocks.max.mem,power.limit,temperature.gpu"
                                      " --format=csv,noheader"));
}

std::string source_commit(const std::string& folder) {
  const std::string commit =
      output_line("git -C " + quoted(folder) + " describe --always --dirty --exclude '*'");
  return commit.empty() ? "unknown" : commit;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  std::array<char, 16> text;
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

}  // namespace sluice::gpu_probe
