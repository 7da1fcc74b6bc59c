// One block's threads while they run, as actions see them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/dim3.hpp"
#include "interpreter/code.hpp"
#include "interpreter/memory.hpp"

namespace sluice::interpreter {

// Thread can stop at any step and go on later.
struct Thread {
  enum class State : uint8_t { runs, at_barrier, at_warp, ended };
  State state = State::runs;
  uint32_t next = 0;  // step; of a waiting thread the one it waits at
  uint32_t number = 0;
  uint32_t tid[3] = {};
  std::vector<uint64_t> registers;
  std::vector<std::byte> local;
};

struct Machine {
  const Code& code;
  GlobalMemory& global;
  std::vector<std::byte> parameters;
  Dim3 grid, block;
  uint32_t ctaid[3] = {};
  std::vector<std::byte> shared;
  std::vector<Thread> threads;
  Thread* thread = nullptr;  // the one that runs
  std::string fault;         // what went wrong; nothing goes on after it

  // read() is an argument's bits, as many as the type has.
  uint64_t read(const Argument& argument, ScalarType type) const;
  void write(const Argument& argument, uint64_t value);
  // place() is the memory that an argument names in a state space; empty, with a fault, where
  // there is none.
  std::span<std::byte> place(const Argument& argument, ptx::StateSpace space, uint64_t bytes);
};

// Tables of actions, by kind of instruction; each returns false for what is not its own.
bool choose_arithmetic(Step& step);
bool choose_memory(Step& step);
bool choose_flow(Step& step);
bool choose_meeting(Step& step);

// meet() lets go on the threads that wait for nobody any more: false where there are none.
bool meet(Machine& machine);

// is_written() says that a step's modifiers, in any order, are `words` and types.
bool is_written(const Step& step, std::initializer_list<std::string_view> words);

}  // namespace sluice::interpreter
