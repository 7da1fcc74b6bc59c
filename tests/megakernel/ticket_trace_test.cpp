// What a worker of the scheduler kernel runs between a ticket and the body, counted in PTX: its
// first lane notes each instruction while the CPU device runs a window of neighbours.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <cuda.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "megakernel/cuda/tables/device_tables.hpp"
#include "megakernel/cuda/worker_memory.h"
#include "megakernel/device/loaded_megakernel.hpp"
#include "megakernel/machine/counting_megakernel.hpp"
#include "megakernel/window_builder.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "schedule/task_runs.hpp"

namespace sluice::megakernel {
namespace {

// PTX has an instruction for each step, where machine code often has one for two: what nvcc 13.0
// makes, and a few for other releases.
constexpr size_t most_ptx_instructions = 138;

constexpr size_t most_notes = size_t{1} << 20;

// The notes, and what the first lane writes them with.
constexpr const char* noting =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 notes[1048576];\n"
    ".func head()\n{\n.reg .b64 %note_at;\n.reg .b32 %note_lane;\n.reg .pred %notes;\n"
    "mov.u64 %note_at, notes;\nmov.u32 %note_lane, %tid.x;\n"
    "setp.eq.u32 %notes, %note_lane, 0;\n}\n"
    ".func note()\n{\n"
    "@%notes st.global.u32 [%note_at], 0;\n@%notes add.u64 %note_at, %note_at, 4;\n}\n";

// Noted is a megakernel that notes the instructions which it comes to: note i is of the i-th.
class Noted {
 public:
  explicit Noted(const std::string& linked) {
    auto module = ptx::parse(linked, "megakernel");
    const auto own = ptx::parse(noting, "noting");
    EXPECT_TRUE(module && own);
    note_ = own->find_function("note")->body.statements;
    for (ptx::ModuleItem& item : module->items) {
      auto* function = std::get_if<ptx::Function>(&item);
      if (function == nullptr || function->name != megakernel_name) continue;
      auto& statements = function->body.statements;
      add_notes(statements);
      const auto& head = own->find_function("head")->body.statements;
      statements.insert(statements.begin(), head.begin(), head.end());
    }
    module->items.insert(module->items.begin(), own->items.front());
    text = ptx::print(*module);
  }

  std::string text;
  std::deque<ptx::Instruction> instructions;

 private:
  void add_notes(std::vector<ptx::Statement>& statements) {
    std::vector<ptx::Statement> all;
    for (ptx::Statement& statement : statements) {
      if (auto* block = std::get_if<ptx::Block>(&statement)) add_notes(block->statements);
      if (const auto* here = std::get_if<ptx::Instruction>(&statement)) {
        instructions.push_back(*here);
        all.insert(all.end(), note_.begin(), note_.end());
        auto& store = std::get<ptx::Instruction>(all[all.size() - note_.size()]);
        store.operands[1].value = ptx::IntegerLiteral{instructions.size(), false};
      }
      all.push_back(std::move(statement));
    }
    statements = std::move(all);
  }

  std::vector<ptx::Statement> note_;
};

using NotedPath = std::vector<const ptx::Instruction*>;

bool reads(const ptx::Instruction& here, int place) {
  const auto* from =
      here.operands.size() < 2 ? nullptr : std::get_if<ptx::Address>(&here.operands[1].value);
  return here.opcode == ptx::Opcode::ld && from != nullptr && from->base == SLUICE_POOL &&
         from->bytes == place;
}
bool is_global_load(const ptx::Instruction& here) {
  const bool loads = here.opcode == ptx::Opcode::ld || here.opcode == ptx::Opcode::atom;
  return loads && here.has_modifier("global");
}
bool looks_at_signal(const ptx::Instruction& here) {
  return here.opcode == ptx::Opcode::ld && here.has_modifier("relaxed");
}

bool reads_tables(const ptx::Instruction* here) {
  return here->opcode == ptx::Opcode::ld && here->has_modifier("global") &&
         !here->has_modifier("relaxed");
}

bool is_clock(const ptx::Instruction* here) {
  return here->opcode == ptx::Opcode::mov && here->operands.size() == 2 &&
         here->operands[1] == ptx::Operand{ptx::Identifier{"%globaltimer", ""}};
}

// LoadDepths follows how many loads from global memory each register's value hangs on.
class LoadDepths {
 public:
  unsigned pass(const ptx::Instruction& here) {
    unsigned depth = 0;
    const size_t first = here.has_result() ? 1 : 0;
    for (size_t i = first; i < here.operands.size(); ++i)
      each(here.operands[i], [&](const std::string& name) { depth = std::max(depth, of_[name]); });
    const bool is_shared = here.has_modifier("shared");
    if (here.opcode == ptx::Opcode::st && is_shared) shared_ = std::max(shared_, depth);
    if (here.opcode == ptx::Opcode::ld && is_shared) depth = std::max(depth, shared_);
    if (is_global_load(here)) ++depth;
    if (first == 0) return depth;
    each(here.operands[0], [&](const std::string& name) {
      of_[name] = here.guard ? std::max(of_[name], depth) : depth;
    });
    return depth;
  }

 private:
  template <class Visit>
  static void each(const ptx::Operand& operand, Visit&& visit) {
    if (const auto* name = std::get_if<ptx::Identifier>(&operand.value)) visit(name->name);
    if (const auto* address = std::get_if<ptx::Address>(&operand.value)) visit(address->base);
    if (const auto* vector = std::get_if<ptx::VectorOperand>(&operand.value)) {
      for (const ptx::Operand& element : vector->elements)
        each(element, visit);
    }
  }

  std::map<std::string, unsigned> of_;
  unsigned shared_ = 0;
};

// chain_to_signal() is how many loads hang on each other at a path's first look at a signal.
std::optional<unsigned> chain_to_signal(const NotedPath& path) {
  LoadDepths depths;
  for (const ptx::Instruction* here : path) {
    const unsigned depth = depths.pass(*here);
    if (looks_at_signal(*here)) return depth;
  }
  return std::nullopt;
}

class TicketTrace : public ::testing::Test {
 protected:
  static constexpr Dim3 grid{16, 6, 1};
  static constexpr uint32_t blocks_of_task = 4;
  static constexpr uint32_t tasks = 16 * 6 / blocks_of_task;
  static constexpr uint32_t launches = 4;

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(testing::enter_first_device());
    const auto linked = testing::counting_megakernel();
    ASSERT_TRUE(linked) << linked.error().line();
    noted_.emplace(linked->text);
    run(linked->body);
  }

  // Launches of which each waits for neighbours in the one before, by one worker: all signals that
  // it looks for are there.
  void run(const TaskBody& body) {
    CUdeviceptr memory = 0;
    constexpr size_t bytes = 64 * 1024;
    ASSERT_EQ(cuMemAlloc(&memory, bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8(memory, 0, bytes), CUDA_SUCCESS);
    const CUdeviceptr counter = memory + bytes - 8;
    const SluiceBlockLaunch launch{&counter, {grid.x, grid.y, grid.z}, 0};
    const DeviceCode code = device_code(body, 0);
    testing::WindowBuilder builder;
    for (uint32_t i = 0; i < launches; ++i) {
      builder.add_launch(grid, blocks_of_task, {});
      // The first of the waits, which the first lane looks at, is one of every task.
      if (i != 0) {
        builder.depend(i - 1,
                       testing::offset_table(grid, {{-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
      }
      LaunchCode& slot = builder.window.code[i];
      slot.launch = &launch;
      slot.parameter_bytes = 8;
      slot.device = &code;
    }
    builder.add_tasks_in_launch_order();
    schedule::find_runs(builder.plan);
    SignalMemory signals;
    DeviceTables made = make_device_tables(builder.window, signals, {body.beside.threads, 0});
    ASSERT_LE(made.bytes.size() + 8 * (made.flag_count + 1), bytes);
    const CUdeviceptr flags = memory + made.bytes.size();
    CUmodule loaded = nullptr;
    testing::LoadedMegakernel megakernel{.threads = body.beside.threads};
    ASSERT_EQ(cuModuleLoadData(&loaded, noted_->text.c_str()), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&megakernel.function, loaded, megakernel_name), CUDA_SUCCESS);
    ASSERT_NO_FATAL_FAILURE(megakernel.start(made, memory, flags, flags + 8 * made.flag_count, 1));
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    uint32_t ran = 0;
    ASSERT_EQ(cuMemcpyDtoH(&ran, counter, 4), CUDA_SUCCESS);
    EXPECT_EQ(ran, launches * grid.count() * body.beside.threads);
    read_paths(loaded);
    cuModuleUnload(loaded);
    cuMemFree(memory);
  }

  void read_paths(CUmodule loaded) {
    CUdeviceptr address = 0;
    std::vector<uint32_t> notes(most_notes);
    ASSERT_EQ(cuModuleGetGlobal(&address, nullptr, loaded, "notes"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoH(notes.data(), address, 4 * most_notes), CUDA_SUCCESS);
    ASSERT_EQ(notes.back(), 0U);
    NotedPath path;
    for (const uint32_t note : notes) {
      if (note == 0) break;
      const ptx::Instruction& here = noted_->instructions[note - 1];
      // The ticket's words again, where it had to be asked for, belong to the same path.
      const bool begins = reads(here, SLUICE_CONTROL_NEXT) && path.empty();
      if (begins || !path.empty()) path.push_back(&here);
      if (here.opcode != ptx::Opcode::call || path.empty()) continue;
      // Blocks behind the first of the task are called without a look at the next ticket.
      paths_.push_back(std::exchange(path, {}));
    }
    ASSERT_EQ(paths_.size(), size_t{launches} * tasks);
  }

  // What sluice_run_block() runs of itself for one body.
  size_t of_dispatch() const {
    const auto module = ptx::parse(noted_->text, "noted");
    size_t count = 0;
    const auto visit = [&](const auto& self, const std::vector<ptx::Statement>& all) -> void {
      for (const ptx::Statement& one : all) {
        if (const auto* block = std::get_if<ptx::Block>(&one)) self(self, block->statements);
        const auto* here = std::get_if<ptx::Instruction>(&one);
        count += here != nullptr && here->opcode != ptx::Opcode::ret ? 1 : 0;
      }
    };
    visit(visit, module->find_function("sluice_run_block")->body.statements);
    return count;
  }

  std::optional<Noted> noted_;
  std::vector<NotedPath> paths_;  // of each ticket
};

TEST_F(TicketTrace, TakesFewInstructionsAndOneLoadWithinASlot) {
  size_t most = 0, look_ups = 0;
  for (uint32_t launch = 1; launch < launches; ++launch) {
    for (uint32_t task = 1; task < tasks && launch * tasks + task + 1 < paths_.size(); ++task) {
      const NotedPath& path = paths_[launch * tasks + task];
      if (std::any_of(path.begin(), path.end(), is_clock)) continue;  // one that is measured
      // It had to ask for the next ticket, and looked that up itself.
      if (std::any_of(path.begin(), path.end(), reads_tables)) {
        ++look_ups;
        continue;
      }
      most = std::max(most, path.size() + of_dispatch());
      EXPECT_EQ(chain_to_signal(path), 1U) << "launch " << launch << ", task " << task;
      for (const ptx::Instruction* here : path)
        EXPECT_FALSE(here->opcode == ptx::Opcode::div || here->opcode == ptx::Opcode::rem);
    }
  }
  std::printf("%zu instructions of PTX from ticket to body\n", most);
  EXPECT_LE(most, most_ptx_instructions);
  // Another lane looks for the tasks behind; this one does where it had to ask for a ticket, among
  // the last ones.
  EXPECT_LE(look_ups, 1U);
}

TEST_F(TicketTrace, HasTwoLoadsThatHangOnEachOtherInTheFirstTaskOfASlot) {
  for (uint32_t launch = 1; launch < launches; ++launch)
    EXPECT_EQ(chain_to_signal(paths_[launch * tasks]), 2U) << "launch " << launch;
}

}  // namespace
}  // namespace sluice::megakernel
