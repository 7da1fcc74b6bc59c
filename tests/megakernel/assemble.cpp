#include "megakernel/assemble.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sluice::megakernel::testing {

std::map<std::string, Cost> assemble(const std::string& file, unsigned architecture) {
  const std::string command =
      fmt::format("{} -v -arch=sm_{} -o /dev/null {} 2>&1", SLUICE_PTXAS, architecture, file);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::map<std::string, Cost> costs;
  std::string all;
  std::string entry;
  std::smatch match;
  std::array<char, 4096> line{};
  static const std::regex compiling("Compiling entry function '([^']*)'");
  static const std::regex registers("Used ([0-9]+) registers");
  static const std::regex stack("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores");
  while (fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    const std::string text = line.data();
    all += text;
    if (std::regex_search(text, match, compiling)) entry = match[1];
    if (std::regex_search(text, match, stack)) {
      costs[entry].stack = std::stoi(match[1]);
      costs[entry].spills = std::stoi(match[2]);
    }
    if (std::regex_search(text, match, registers)) costs[entry].registers = std::stoi(match[1]);
  }
  EXPECT_EQ(all.find("error"), std::string::npos) << command << "\n" << all;
  EXPECT_FALSE(costs.empty()) << command << "\n" << all;
  return costs;
}

std::map<std::string, Cost> assemble_text(const std::string& text, const std::string& name,
                                          unsigned architecture) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / fmt::format("sm_{}_{}", architecture, name);
  std::ofstream(path) << text;
  auto costs = assemble(path.string(), architecture);
  if (!::testing::Test::HasFailure()) std::filesystem::remove(path);
  return costs;
}

}  // namespace sluice::megakernel::testing
