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

bool calls_body(const Instruction& here) {
  return here.is("CALL") && here.operands.find("sluice_run_block") != std::string::npos;
}

class TicketPath : public ::testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    if (!testing::has_disassembler()) {
      GTEST_SKIP() << "nvdisasm is not in the toolkit (pip: nvidia-cuda-nvdisasm); machine code is "
                      "not looked at";
    }
    const auto linked = testing::counting_megakernel();
    ASSERT_TRUE(linked) << linked.error().line();
    const auto file = std::filesystem::path(::testing::TempDir()) /
                      fmt::format("ticket_path_{}_{}.ptx", getpid(), GetParam());
    std::ofstream(file) << linked->text;
    auto code = testing::disassemble(file.string(), GetParam());
    std::filesystem::remove(file);
    ASSERT_TRUE(code);
    code_ = std::move(*code);
  }

  static bool reads_ticket(const Instruction& here) {
    return here.is("LDS.128") && here.operands.find(next_place()) != std::string::npos;
  }

  // A way from where all lanes read which task it is, through all landmarks.
  Path path(std::vector<Landmark> landmarks) const {
    landmarks.insert(landmarks.begin(), {{is_barrier, nullptr}, {reads_ticket, is_barrier}});
    Path path = testing::shortest_path(code_, megakernel_name, landmarks);
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
  static bool keeps_ahead(const Instruction& here) {
    return here.is("STS.128") && here.operands.find(fmt::format(
                                     "+{:#x}]", int{SLUICE_CONTROL_AHEAD})) != std::string::npos;
  }
  static bool is_other_work(const Instruction& here) {
    return is_ticket(here) || is_table_load(here);
  }

  // waiting() is the way of the lane that leads, which does all that others of its warp do, in a
  // task whose slot is staged. Nothing is read of the tables.
  Path waiting() const {
    return path({{is_signal_load, is_other_work},
                 {is_fence, is_other_work},
                 {is_barrier, is_other_work},
                 {is_in_body, is_barrier}});
  }

  // looking_ahead() is meanwhile that of the lane that looks for the next task.
  Path looking_ahead() const {
    return path({{is_ticket, is_signal_load},
                 {keeps_ahead, is_signal_load},
                 {is_barrier, is_signal_load},
                 {keeps_next, is_barrier},
                 {is_in_body, is_barrier}});
  }

  // new_slot() is the way of the lane that leads in the first task of a slot, up to its first look
  // at a signal.
  Path new_slot() const { return path({{is_table_load, is_ticket}, {is_signal_load, is_ticket}}); }

  // release() leads from the barrier behind a task's blocks to the next ticket's words.
  Path release() const {
    Path found = testing::shortest_path(code_, megakernel_name,
                                        {{calls_body, nullptr},
                                         {is_barrier, nullptr},
                                         {is_signal_store, is_barrier},
                                         {reads_ticket, is_barrier}});
    const auto signal = std::find_if(found.begin(), found.end(),
                                     [](const auto* one) { return is_signal_store(*one); });
    const auto barrier = std::find_if(std::make_reverse_iterator(signal), found.rend(),
                                      [](const auto* one) { return is_barrier(*one); });
    found.erase(found.begin(), barrier.base() - 1);
    return found;
  }

  // sections() is how many instructions there are of each kind.
  std::map<std::string, size_t> sections() const {
    const Path found = waiting(), ahead = looking_ahead();
    const auto before = [](const Path& all, bool (*is)(const Instruction&)) {
      return static_cast<size_t>(
          std::find_if(all.begin(), all.end(), [&](const auto* one) { return is(*one); }) -
          all.begin());
    };
    const size_t barrier = before(found, is_barrier);
    return {{"stage", new_slot().size() - before(found, is_signal_load)},
            {"await", barrier},
            {"run", found.size() - 1 - barrier},
            {"ahead", ahead.size() - 1},
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

void show(const Path& path) {
  if (std::getenv("SLUICE_SHOW_PATH") == nullptr) return;
  for (const Instruction* one : path)
    std::printf("%s %s %s\n", one->guard.c_str(), one->opcode.c_str(), one->operands.c_str());
}

// Both ways are gone at the same time by lanes of two warps.
TEST_P(TicketPath, TakesFewInstructionsAndOneLoadWithinASlot) {
  for (const Path& found : {waiting(), looking_ahead()}) {
    ASSERT_FALSE(found.empty());
    show(found);
    std::printf("sm_%u: %zu instructions from ticket to body\n", GetParam(), found.size() - 1);
    EXPECT_LE(found.size() - 1, most_instructions);  // without the body's first one
    for (const Instruction* one : found)
      EXPECT_FALSE(one->is("I2F") || one->is("MUFU") || one->is("STL")) << "a division, or a spill";
  }
  EXPECT_EQ(chain(waiting()), 1U);
}

// The slot and its waits come from the tables together, so that the first look at a signal is the
// second load that waits for one before it.
TEST_P(TicketPath, LoadsNothingByWhatItHasLoadedToStageASlot) {
  Path found = new_slot();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(std::ranges::count_if(found, [](const auto* one) { return is_table_load(*one); }), 2);
  const auto last = std::find_if(found.rbegin(), found.rend(),
                                 [](const auto* one) { return is_table_load(*one); });
  found.erase(last.base(), found.end());
  EXPECT_EQ(testing::load_chain(found), 1U);
}

INSTANTIATE_TEST_SUITE_P(Architectures, TicketPath, ::testing::Values(90U, 100U, 120U),
                         [](const auto& info) { return fmt::format("sm_{}", info.param); });

}  // namespace
}  // namespace sluice::megakernel
