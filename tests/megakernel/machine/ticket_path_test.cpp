// What stands in machine code between a ticket and the first instruction of the body, where tasks
// wait for neighbours. Its sections are rows "scheduler" of body_costs.txt, which
// scripts/body-costs writes anew.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "megakernel/cuda/worker_memory.h"
#include "megakernel/machine/counting_megakernel.hpp"
#include "megakernel/machine/machine_code.hpp"

namespace sluice::megakernel {
namespace {

using Instruction = testing::MachineCode::Instruction;
using Path = std::vector<const Instruction*>;
using testing::Landmark;

constexpr size_t most_instructions = 120;

// A plain load from global memory: of the tables, not of a signal.
bool is_table_load(const Instruction& here) {
  return (here.is("LDG") || here.is("LD")) && here.opcode.find("STRONG") == std::string::npos;
}
bool is_signal_load(const Instruction& here) {
  return (here.is("LDG") || here.is("LD")) &&
         here.opcode.find(".64.STRONG.GPU") != std::string::npos;
}
bool is_barrier(const Instruction& here) {
  return here.is("BAR") && here.operands == "0x0";
}
bool is_ticket(const Instruction& here) {
  return here.is("ATOMG.E.ADD") || here.is("ATOM.E.ADD");
}
std::string next_place() {
  return fmt::format("+{:#x}]", int{SLUICE_CONTROL_NEXT});
}
bool is_fence(const Instruction& here) {
  return here.is("MEMBAR");
}
bool is_signal_store(const Instruction& here) {
  return (here.is("STG") || here.is("ST")) &&
         here.opcode.find(".64.STRONG.GPU") != std::string::npos;
}
bool is_in_body(const Instruction& here) {
  return here.function.ends_with("$b0_k");
}

class TicketPath : public ::testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    if (!testing::has_disassembler()) {
      GTEST_SKIP() << "nvdisasm is not in the toolkit (pip: nvidia-cuda-nvdisasm); machine code is "
                      "not looked at";
    }
    code_ = code_of(false);
  }

  static testing::MachineCode code_of(bool in_groups) {
    const auto linked = testing::counting_megakernel(in_groups);
    EXPECT_TRUE(linked) << linked.error().line();
    const auto file = std::filesystem::path(::testing::TempDir()) /
                      fmt::format("ticket_path_{}_{}.ptx", getpid(), GetParam());
    std::ofstream(file) << linked->text;
    auto code = testing::disassemble(file.string(), GetParam());
    std::filesystem::remove(file);
    EXPECT_TRUE(code);
    return code.value_or(testing::MachineCode());
  }

  static bool reads_ticket(const Instruction& here) {
    return here.is("LDS.128") && here.operands.find(next_place()) != std::string::npos;
  }

  // The leading lane's way from where it reads its ticket to the body. It does all that other lanes
  // of its warp do, and fetches the next task too.
  Path path(std::vector<Landmark> landmarks) const { return path(code_, std::move(landmarks)); }
  static Path path(const testing::MachineCode& code, std::vector<Landmark> landmarks) {
    landmarks.insert(landmarks.begin(), {{is_barrier, nullptr}, {reads_ticket, is_barrier}});
    Path path = testing::shortest_path(code, megakernel_name, landmarks);
    path.erase(path.begin(), std::find_if(path.begin(), path.end(),
                                          [&](const auto* one) { return reads_ticket(*one); }));
    return path;
  }

  // The loads that hang on each other when a path comes to its first look at a signal.
  static unsigned chain(Path path) {
    path.erase(std::find_if(path.begin(), path.end(),
                            [](const auto* one) { return is_signal_load(*one); }) +
                   1,
               path.end());
    return testing::load_chain(path);
  }

  static bool keeps_next(const Instruction& here) {
    return here.is("STS.128") && here.operands.find(next_place()) != std::string::npos;
  }

  // within_slot() is that of a task whose slot is staged, and the next one's too. Nothing is read
  // of the tables.
  Path within_slot() const { return within_slot(code_); }
  static Path within_slot(const testing::MachineCode& code) {
    const auto finds_task = [](const Instruction& here) {
      return here.is("LDS.128") && here.operands.find(fmt::format(
                                       "+{:#x}]", int{SLUICE_CONTROL_KNOWN})) != std::string::npos;
    };
    return path(code, {{is_ticket, is_table_load},
                       {is_signal_load, is_table_load},
                       {is_fence, is_table_load},
                       {is_barrier, is_table_load},
                       {finds_task, is_table_load},
                       {keeps_next, is_barrier},
                       {is_in_body, is_barrier}});
  }

  // new_slot() is that of the first task of a slot, up to its first look at a signal.
  Path new_slot() const {
    const auto stages_wait = [](const Instruction& here) {
      return here.is("STS.64") &&
             here.operands.find(fmt::format("+{:#x}]", int{SLUICE_WAITS})) != std::string::npos;
    };
    return path({{is_table_load, is_ticket},
                 {stages_wait, is_ticket},
                 {is_ticket, nullptr},
                 {is_signal_load, is_table_load}});
  }

  // release() leads from the barrier behind a task's blocks to the next ticket's words.
  Path release() const {
    Path found = testing::shortest_path(
        code_, megakernel_name,
        {{is_barrier, nullptr}, {is_signal_store, is_barrier}, {reads_ticket, is_barrier}});
    found.erase(found.begin(), std::find_if(found.begin(), found.end(),
                                            [](const auto* one) { return is_barrier(*one); }));
    return found;
  }

  // sections() is how many instructions there are of each kind; of groups, how many more where two
  // blocks run side by side.
  std::map<std::string, size_t> sections() const {
    const Path found = within_slot(), first = new_slot();
    const auto before = [](const Path& all, bool (*is)(const Instruction&)) {
      return static_cast<size_t>(
          std::find_if(all.begin(), all.end(), [&](const auto* one) { return is(*one); }) -
          all.begin());
    };
    const size_t ticket = before(found, is_ticket) + 1, barrier = before(found, is_barrier);
    const size_t fetched = before(found, keeps_next) + 1;
    return {{"ticket", ticket},
            {"stage", before(first, is_ticket) + 1 - ticket},
            {"await", barrier - ticket},
            {"fetch", fetched - barrier},
            {"run", found.size() - 1 - fetched},
            {"groups", within_slot(code_of(true)).size() - found.size()},
            {"release", release().size() - 1}};
  }

  testing::MachineCode code_;
};

TEST_P(TicketPath, HasSectionsNoLongerThanTheTableSays) {
  constexpr size_t slack = 4;  // of other releases of ptxas
  std::map<std::string, size_t> known;
  std::ifstream table(SLUICE_BODY_COSTS);
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string architecture, file, section;
    words >> architecture >> file >> section;
    if (architecture == std::to_string(GetParam()) && file == "scheduler") words >> known[section];
  }
  const auto found = sections();
  const char* folder = std::getenv("SLUICE_WRITE_BODY_COSTS");
  std::ofstream written;
  if (folder != nullptr) {
    written.open(std::filesystem::path(folder) / fmt::format("scheduler_{}.txt", GetParam()));
  }
  for (const auto& [section, instructions] : found) {
    if (folder != nullptr) {
      written << fmt::format("{} scheduler {} {}\n", GetParam(), section, instructions);
    } else {
      EXPECT_GT(instructions, 0U) << section;
      EXPECT_LE(instructions, known[section] + slack) << section;
    }
  }
}

TEST_P(TicketPath, TakesFewInstructionsAndOneLoadWithinASlot) {
  const Path found = within_slot();
  ASSERT_FALSE(found.empty());
  if (std::getenv("SLUICE_SHOW_PATH") != nullptr) {
    for (const Instruction* one : found)
      std::printf("%s %s %s\n", one->guard.c_str(), one->opcode.c_str(), one->operands.c_str());
  }
  std::printf("sm_%u: %zu instructions from ticket to body\n", GetParam(), found.size() - 1);
  EXPECT_LE(found.size() - 1, most_instructions);  // without the body's first one
  EXPECT_EQ(chain(found), 1U);
  for (const Instruction* one : found)
    EXPECT_FALSE(one->is("I2F") || one->is("MUFU") || one->is("STL")) << "a division, or a spill";
}

TEST_P(TicketPath, HasThreeLoadsThatHangOnEachOtherInTheFirstTaskOfASlot) {
  const Path found = new_slot();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(chain(found), 3U);
}

INSTANTIATE_TEST_SUITE_P(Architectures, TicketPath, ::testing::Values(90U, 100U, 120U),
                         [](const auto& info) { return fmt::format("sm_{}", info.param); });

}  // namespace
}  // namespace sluice::megakernel
