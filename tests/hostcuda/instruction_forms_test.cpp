// Each form of each instruction that PTX has for targets up to sm_89 (instruction_forms.txt)
// compiles for the CPU device, or is in the table of docs/cpu-device.md, which has no row that
// compiles.
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fnmatch.h>
#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "hostcuda/jit/block_compiler.hpp"
#include "ptx/instruction_table.hpp"
#include "ptx/lift.hpp"
#include "ptx/parser.hpp"

namespace sluice::hostcuda {
namespace {

constexpr size_t forms_in_a_kernel = 24;

std::string read_text(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// expand() adds what a line means in which {a,b} is a or b. Braces with spaces are operands.
void expand(const std::string& line, std::vector<std::string>& forms) {
  static const std::regex choice(R"(\{([^{} ]*,[^{} ]*)\})");
  std::smatch found;
  if (!std::regex_search(line, found, choice)) return forms.push_back(line);
  const std::string words = found[1].str() + ",";
  for (size_t from = 0, to; (to = words.find(',', from)) != std::string::npos; from = to + 1) {
    expand(found.prefix().str() + words.substr(from, to - from) + found.suffix().str(), forms);
  }
}

std::vector<std::string> all_forms() {
  std::ifstream file(SLUICE_TEST_FORMS);
  std::vector<std::string> forms;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') expand(line, forms);
  }
  return forms;
}

// instruction() is a form with registers and addresses for its operands; `number` makes its labels.
std::string instruction(const std::string& form, size_t number) {
  const size_t end = std::min(form.find(' '), form.size());
  std::string operands = form.substr(end);
  const std::pair<const char*, std::string> meanings[] = {
      {R"((^|[^%\w.])([phrdqfg])(?=\W|$))", "$1%$021"},
      {R"((^|[^%\w.])([phrdqfg])(\d+))", "$1%$2$3"},
      {R"(\bS\b)", "pool"},
      {R"(\bC\b)", "constants"},
      {R"(\bL\b)", "places"},
      {R"(\bG\b)", "%d10"},
      {R"(\bA\b)", "%d11"},
      {R"(\bV\b)", "variable"},
      {R"(\bN\b)", fmt::format("NEXT{}", number)},
      {R"(\bLIST\b)", fmt::format("LIST{}", number)},
  };
  for (const auto& [what, meaning] : meanings)
    operands = std::regex_replace(operands, std::regex(what), meaning);
  const std::string opcode = form.substr(0, end);
  // What follows in the kernel must still be reached.
  const std::string guard =
      std::set<std::string>{"ret", "ret.uni", "exit", "trap"}.contains(opcode) ? "@%p3 " : "";
  std::string text = guard + opcode + operands + fmt::format(";\nNEXT{}:\n", number);
  if (opcode.starts_with("brx"))
    text = fmt::format("LIST{}: .branchtargets NEXT{};\n", number, number) + text;
  return text;
}

std::string kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name +
         "(.param .u64 out) {\n"
         ".reg .pred %p<4>; .reg .b16 %h<6>; .reg .b32 %r<12>; .reg .b64 %d<12>; .reg .b128 "
         "%q<4>;\n"
         ".reg .f32 %f<12>; .reg .f64 %g<8>;\n"
         ".shared .align 16 .b8 pool[64];\n.local .align 16 .b8 places[64];\n" +
         body + "ret;\n}\n";
}

const std::string head =
    ".version 8.8\n.target sm_89\n.address_size 64\n"
    ".global .align 16 .b8 variable[64];\n.const .align 16 .b8 constants[64];\n";

// why_not() is why a kernel of that body does not lift or, with `compiles`, compile; else empty.
std::string why_not(const std::string& body, bool compiles) {
  auto module = ptx::parse(head + kernel("k", body));
  if (!module) return module.error().line();
  if (!compiles) {
    llvm::LLVMContext context;
    const auto lifted = ptx::lift(context, *module, "k");
    return lifted ? "" : lifted.error().line();
  }
  const auto compiled = CompiledModule::create(std::move(*module));
  if (!compiled) return compiled.error().line();
  const auto code = (*compiled)->block_code("k", {32}, 0);
  return code ? "" : code.error().line();
}

// Patterns of the document's table: of opcodes with their modifiers or, with a blank, of operands
// too.
std::set<std::string> unsupported_patterns() {
  const std::string document = read_text(SLUICE_TEST_DOCUMENT);
  const size_t begin = document.find("<!-- forms -->");
  const std::string table = document.substr(begin, document.find("<!-- end -->", begin) - begin);
  std::set<std::string> patterns;
  const std::regex quoted("`([^`]+)`");
  for (std::sregex_iterator next(table.begin(), table.end(), quoted), end; next != end; ++next)
    patterns.insert((*next)[1].str());
  return patterns;
}

bool matches(const std::string& pattern, const std::string& form) {
  const bool of_all = pattern.find(' ') != std::string::npos;
  const std::string text = of_all ? form : form.substr(0, form.find(' '));
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

TEST(InstructionForms, CompileOrAreInTheTableOfWhatIsUnsupported) {
  const std::vector<std::string> forms = all_forms();
  ASSERT_GT(forms.size(), 2000u);
  std::map<std::string, size_t> used;
  for (const std::string& pattern : unsupported_patterns())
    used[pattern] = 0;
  ASSERT_FALSE(used.empty());
  std::vector<std::string> lifted;
  for (size_t i = 0; i < forms.size(); ++i) {
    const std::string text = instruction(forms[i], i);
    const std::string reason = why_not(text, false);
    if (reason.empty()) lifted.push_back(text);
    bool is_listed = false;
    for (auto& [pattern, times] : used) {
      if (!matches(pattern, forms[i])) continue;
      is_listed = true;
      ++times;
      EXPECT_FALSE(reason.empty()) << forms[i] << " lifts, and " << pattern << " says it does not";
    }
    EXPECT_EQ(reason.empty(), !is_listed) << forms[i] << ": " << reason;
  }
  for (const auto& [pattern, times] : used)
    EXPECT_GT(times, 0u) << pattern << " is no form of PTX up to sm_89";
  for (size_t i = 0; i < lifted.size(); i += forms_in_a_kernel) {
    std::string body;
    for (size_t n = i; n < std::min(i + forms_in_a_kernel, lifted.size()); ++n)
      body += lifted[n];
    EXPECT_EQ(why_not(body, true), "") << body;
  }
}

TEST(InstructionForms, AreThoseOfEachOpcodeThatTheTableKnows) {
  std::set<std::string> written;
  for (const std::string& form : all_forms())
    written.insert(form.substr(0, form.find_first_of(". ")));
  const std::set<std::string> later = {"elect", "getctarank", "griddepcontrol", "mapa", "stmatrix"};
  for (const ptx::InstructionInfo& info : ptx::instruction_table) {
    const std::string name(info.name);
    if (name.empty() || name == "call") continue;
    EXPECT_EQ(written.contains(name), !later.contains(name)) << name;
  }
}

// So that the list is of PTX, and no form in it wrong for a reason of its own.
TEST(InstructionForms, AreTakenByNvidiasAssembler) {
  std::string text = head;
  const std::vector<std::string> forms = all_forms();
  for (size_t i = 0; i < forms.size(); ++i)
    text += kernel(fmt::format("k{}", i), instruction(forms[i], i));
  const std::string file = testing::TempDir() + "/instruction_forms.ptx";
  std::ofstream(file) << text;
  const std::string command = std::string(SLUICE_PTXAS) + " -arch=sm_89 -O0 -o /dev/null " + file;
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace sluice::hostcuda
