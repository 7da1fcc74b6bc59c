// The instruction table answers by name and says what an instruction may do; and what it says is
// enough, so that other files need not name opcodes.
#include "ptx/instruction_table.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "ptx/parser.hpp"

namespace sluice::ptx::test {
namespace {

TEST(InstructionTable, FindsRowsByName) {
  EXPECT_EQ(find_opcode("ld"), Opcode::ld);
  EXPECT_EQ(info_of(Opcode::ld).effect, Effect::load);
  EXPECT_EQ(find_opcode("and"), Opcode::and_);
  EXPECT_EQ(info_of(Opcode::and_).operands, "dss");
  EXPECT_EQ(info_of(Opcode::st).effect, Effect::store);
  EXPECT_EQ(info_of(Opcode::bar).effect, Effect::barrier);
}

TEST(InstructionTable, KnowsNothingElse) {
  for (const char* name : {"", "l", "ld.global", "LD", "and_", "wgmma", "nonsense"}) {
    EXPECT_EQ(find_opcode(name), Opcode::unknown) << name;
  }
}

struct Row {
  std::string name;
  Opcode enumerator;
  std::string spelling;  // of the enumerator
};

const Row rows[] = {
#define SLUICE_PTX_INSTRUCTION(base, enumerator, operands, effect, lift, ...) \
  {#base, Opcode::enumerator, #enumerator},
#include "ptx/instructions.def"
#undef SLUICE_PTX_INSTRUCTION
};

TEST(InstructionTable, EveryRowIsFoundUnderItsOwnName) {
  std::set<std::string> names;
  for (const Row& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice";
    EXPECT_EQ(find_opcode(row.name), row.enumerator) << row.name;
    EXPECT_EQ(info_of(row.enumerator).opcode, row.enumerator) << row.name;
    EXPECT_EQ(info_of(row.enumerator).name, row.name);
  }
  EXPECT_GE(names.size(), 50u);
}

TEST(InstructionTable, ColumnsFitEachOther) {
  for (const Row& row : rows) {
    const InstructionInfo& info = info_of(row.enumerator);
    EXPECT_EQ(info.operands.find_first_not_of("dsalpv?"), std::string::npos) << row.name;
    // Only lanes that meet, or tell that they are there, have anything in common.
    EXPECT_TRUE(info.gives == Gives::own || info.effect == Effect::warp) << row.name;
    EXPECT_EQ(info.meeting == Meeting::block, info.effect == Effect::barrier) << row.name;
    EXPECT_TRUE(info.meeting != Meeting::lanes || info.effect == Effect::warp) << row.name;
    // Whoever leaves one of these out would lose more than a register.
    EXPECT_TRUE(info.meeting == Meeting::none || info.effect != Effect::none) << row.name;
  }
}

Instruction instruction(const std::string& text) {
  const auto module =
      parse(".version 8.0\n.target sm_90\n.address_size 64\n.func f()\n{\n" + text + "\n}\n");
  EXPECT_TRUE(module) << text;
  return std::get<Instruction>(module->items.empty()
                                   ? Statement{Instruction{}}
                                   : std::get<Function>(module->items.at(0)).body.statements.at(0));
}

TEST(InstructionTable, SaysWhoMeets) {
  const auto meeting = [](const char* text) { return instruction(text).meeting(); };
  EXPECT_EQ(meeting("bar.sync 0;"), Meeting::block);
  EXPECT_EQ(meeting("barrier.cta.red.and.pred %p1, 0, %p2;"), Meeting::block);
  EXPECT_EQ(meeting("bar.warp.sync %r1;"), Meeting::lanes);
  EXPECT_EQ(meeting("elect.sync _|%p1, %r1;"), Meeting::lanes);
  EXPECT_EQ(meeting("vote.sync.any.pred %p1, %p2, %r1;"), Meeting::lanes);
  EXPECT_EQ(meeting("vote.any.pred %p1, %p2;"), Meeting::none);
  EXPECT_EQ(meeting("activemask.b32 %r1;"), Meeting::none);
  EXPECT_EQ(meeting("movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;"), Meeting::warp);
  EXPECT_EQ(meeting("add.u32 %r1, %r2, %r3;"), Meeting::none);
  EXPECT_EQ(meeting("nonsense.sync %r1;"), Meeting::none);
}

TEST(InstructionTable, SaysWhatIsWritten) {
  const auto has_result = [](const char* text) { return instruction(text).has_result(); };
  EXPECT_TRUE(has_result("add.u32 %r1, %r2, %r3;"));
  EXPECT_TRUE(has_result("ld.v2.u32 {%r1, %r2}, [%rd1];"));
  EXPECT_TRUE(has_result("atom.add.u32 %r1, [%rd1], 1;"));
  EXPECT_TRUE(has_result("bar.red.popc.u32 %r1, 0, %p1;"));
  EXPECT_TRUE(has_result("nonsense %r1;"));
  EXPECT_FALSE(has_result("bar.warp.sync %r1;"));
  EXPECT_FALSE(has_result("red.add.u32 [%rd1], 1;"));
  EXPECT_FALSE(has_result("nanosleep.u32 %r1;"));
  EXPECT_FALSE(has_result("brx.idx %r1, targets;"));
  EXPECT_FALSE(has_result("ret;"));
}

// Files of the source tree without comments, by their path in it.
const std::map<std::string, std::string>& sources() {
  namespace fs = std::filesystem;
  static const std::map<std::string, std::string> read = [] {
    std::map<std::string, std::string> files;
    const fs::path root = SLUICE_SOURCES;
    for (const char* folder : {"analysis", "hostcuda", "megakernel", "ptx", "runtime", "tools"}) {
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
        const std::string ending = entry.path().extension();
        if (ending != ".cpp" && ending != ".hpp" && ending != ".def") continue;
        std::ifstream file(entry.path());
        std::string code;
        for (std::string line; std::getline(file, line);)
          code += line.substr(0, line.find("//")) + "\n";
        files.emplace(fs::relative(entry.path(), root), std::move(code));
      }
    }
    return files;
  }();
  return read;
}

std::set<std::string> files_with(const std::regex& wanted) {
  std::set<std::string> found;
  for (const auto& [path, code] : sources()) {
    if (std::regex_search(code, wanted)) found.insert(path);
  }
  return found;
}

TEST(InstructionTable, IsAskedInsteadOfComparingNames) {
  const std::regex comparison(R"(opcode(_name\(\))? *[!=]= *")");
  EXPECT_EQ(files_with(comparison), std::set<std::string>{});
}

// CONTRIBUTING.md, "An arithmetic opcode": its row and the file that lifts it. Some are named
// elsewhere too, by parts that follow values through them.
TEST(InstructionTable, ArithmeticIsNamedByItsLifterAlone) {
  const std::set<std::string> followed = {"add",      "addc",     "and_", "cvt", "cvta",
                                          "isspacep", "mad",      "madc", "mov", "mul",
                                          "setp",     "prefetch", "shr",  "subc"};
  std::set<std::string> named;
  for (const auto& [path, code] : sources()) {
    if (path.starts_with("ptx/lift/") || path == "ptx/instructions.def") continue;
    const std::regex enumerator(R"(Opcode::(\w+))");
    for (std::sregex_iterator next(code.begin(), code.end(), enumerator), end; next != end; ++next)
      named.insert((*next)[1]);
  }
  for (const Row& row : rows) {
    if (info_of(row.enumerator).effect != Effect::none || followed.contains(row.spelling)) continue;
    EXPECT_FALSE(named.contains(row.spelling)) << row.name;
  }
  for (const std::string& spelling : followed)
    EXPECT_TRUE(named.contains(spelling)) << spelling << " is not followed any more";
}

// CONTRIBUTING.md, "An opcode that exchanges between lanes": beside the row its lifter and the CPU
// device's list of operations name it; what the operation computes stands in a fourth file. Of two
// others the rewriter knows more than the table says.
TEST(InstructionTable, ExchangesAreNamedByTheirLifterAndTheDevice) {
  const std::set<std::string> followed = {"shfl", "vote"};
  for (const Row& row : rows) {
    if (info_of(row.enumerator).meeting != Meeting::lanes) continue;
    const std::regex named("Opcode::" + row.spelling + "\\b|\\blift_" + row.spelling + "\\(|\"" +
                           row.name + "[.\"]");
    const size_t most = followed.contains(row.name) ? 3 : 2;
    EXPECT_LE(files_with(named).size(), most)
        << row.name << " in " << testing::PrintToString(files_with(named));
  }
}

// The table's headings say in which file of ptx/lift/ an instruction is lifted.
TEST(InstructionTable, RowsStandUnderTheFileThatLiftsThem) {
  std::ifstream table(SLUICE_SOURCES "/ptx/instructions.def");
  std::string heading;
  size_t found = 0;
  for (std::string line; std::getline(table, line);) {
    std::smatch match;
    if (std::regex_match(line, match, std::regex("// (\\w+/\\w+\\.cpp)"))) heading = match[1];
    if (!std::regex_search(line, match, std::regex(", (lift_\\w+)[,)]"))) continue;
    const auto file = sources().find("ptx/lift/" + heading);
    ASSERT_NE(file, sources().end()) << heading;
    const std::string definition = "\nvoid " + match[1].str() + "(InstructionLifter& lifter) {";
    EXPECT_NE(file->second.find(definition), std::string::npos) << line;
    ++found;
  }
  EXPECT_EQ(found, std::size(rows));
}

}  // namespace
}  // namespace sluice::ptx::test
