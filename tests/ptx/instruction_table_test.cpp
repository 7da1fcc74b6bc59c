// The instruction table answers by name and says what an instruction may do.
#include "ptx/instruction_table.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace sluice::ptx::test {
namespace {

TEST(InstructionTable, FindsRowsByName) {
  const InstructionInfo* load = find_instruction("ld");
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->opcode, Opcode::ld);
  EXPECT_EQ(load->effect, Effect::load);
  const InstructionInfo* conjunction = find_instruction("and");
  ASSERT_NE(conjunction, nullptr);
  EXPECT_EQ(conjunction->opcode, Opcode::and_);
  EXPECT_EQ(conjunction->signature, "dss");
  EXPECT_EQ(find_instruction("st")->effect, Effect::store);
  EXPECT_EQ(find_instruction("bar")->effect, Effect::barrier);
}

TEST(InstructionTable, KnowsNothingElse) {
  for (const char* name : {"", "l", "ld.global", "LD", "and_", "wgmma", "nonsense"}) {
    EXPECT_EQ(find_instruction(name), nullptr) << name;
  }
}

struct Row {
  std::string name;
  Opcode enumerator;
  std::string operands;
};

const Row rows[] = {
#define SLUICE_PTX_INSTRUCTION(base, enumerator, operands, result) \
  {#base, Opcode::enumerator, operands},
#include "ptx/instructions.def"
#undef SLUICE_PTX_INSTRUCTION
};

TEST(InstructionTable, EveryRowIsFoundUnderItsOwnName) {
  std::set<std::string> names;
  for (const Row& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice";
    ASSERT_NE(find_instruction(row.name), nullptr) << row.name;
    EXPECT_EQ(find_instruction(row.name)->opcode, row.enumerator) << row.name;
    EXPECT_EQ(row.operands.find_first_not_of("dsalpv?"), std::string::npos) << row.name;
  }
  EXPECT_GE(names.size(), 50u);
}

}  // namespace
}  // namespace sluice::ptx::test
