// docs/cpu-device.md lists what the CPU device lacks: exactly what the code lacks.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "ptx/base_opcodes.hpp"
#include "ptx/instruction_table.hpp"

namespace sluice::hostcuda {
namespace {

using Names = std::set<std::string>;

std::string read_text(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// section() is the text between <!-- name --> and the next <!-- end -->.
std::string section(const std::string& name) {
  const std::string document = read_text(SLUICE_TEST_DOCUMENT);
  const size_t begin = document.find("<!-- " + name + " -->");
  if (begin == std::string::npos) return "";
  return document.substr(begin, document.find("<!-- end -->", begin) - begin);
}

Names matches(const std::string& text, const char* expression) {
  const std::regex wanted(expression);
  Names found;
  for (std::sregex_iterator next(text.begin(), text.end(), wanted), end; next != end; ++next)
    found.insert((*next)[1].str());
  return found;
}

TEST(UnsupportedTable, ListsTheRuntimeFunctionsThatAreMissing) {
  const Names missing = {
#define CUDART_UNSUPPORTED(name) #name,
#include "hostcuda/cudart/unsupported.def"
#undef CUDART_UNSUPPORTED
  };
  EXPECT_EQ(matches(section("functions"), "`((?:__)?cuda\\w+)`"), missing);
}

TEST(UnsupportedTable, ListsTheDriverFunctionsThatAreMissing) {
  const Names known = {
#define SLUICE_EXPORT(name, version, symbol) #name,
#include "hostcuda/driver/api/exports.def"
#undef SLUICE_EXPORT
  };
  Names missing;
  for (const std::string& name :
       matches(read_text(SLUICE_TEST_CUDA_HEADER), "CUresult CUDAAPI\\s+(cu\\w+)\\(")) {
    const std::string plain = std::regex_replace(name, std::regex("(_v\\d+)?(_pt[sd][sz])?$"), "");
    if (!known.contains(plain)) missing.insert(plain);
  }
  ASSERT_GT(missing.size(), 50u);
  EXPECT_EQ(matches(section("functions"), "`(cu[A-Z]\\w*)`"), missing);
  // Each of them is exported all the same, and refuses.
  const Names refused = {
#define SLUICE_UNSUPPORTED(name) #name,
#include "unsupported.def"
#undef SLUICE_UNSUPPORTED
  };
  for (const std::string& name : missing)
    EXPECT_TRUE(refused.contains(name)) << name;
}

TEST(UnsupportedTable, ListsTheInstructionsThatAreMissing) {
  const Names all = ptx::test::base_opcodes();
  ASSERT_GT(all.size(), 120u);
  Names missing;
  for (const std::string& opcode : all) {
    if (ptx::find_opcode(opcode) == ptx::Opcode::unknown) missing.insert(opcode);
  }
  EXPECT_EQ(matches(section("instructions"), "`(\\w+)`"), missing);
}

}  // namespace
}  // namespace sluice::hostcuda
