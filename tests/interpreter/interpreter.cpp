#include "interpreter/interpreter.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "interpreter/machine.hpp"

namespace sluice::interpreter {
namespace {

using ptx::StateSpace;

void start_block(Machine& machine, uint64_t number) {
  machine.ctaid[0] = static_cast<uint32_t>(number % machine.grid.x);
  machine.ctaid[1] = static_cast<uint32_t>(number / machine.grid.x % machine.grid.y);
  machine.ctaid[2] = static_cast<uint32_t>(number / machine.grid.x / machine.grid.y);
  machine.shared.assign(machine.code.shared_bytes, std::byte{0});
  machine.threads.assign(machine.block.count(), {});
  for (uint32_t i = 0; i < machine.threads.size(); ++i) {
    Thread& thread = machine.threads[i];
    thread.number = i;
    thread.tid[0] = i % machine.block.x;
    thread.tid[1] = i / machine.block.x % machine.block.y;
    thread.tid[2] = i / machine.block.x / machine.block.y;
    thread.registers.assign(machine.code.registers, 0);
    thread.local.assign(machine.code.local_bytes, std::byte{0});
  }
}

std::string at(const Machine& machine, const Step& step) {
  const Thread& thread = *machine.thread;
  return fmt::format("line {}, thread ({}, {}, {}) of block ({}, {}, {})",
                     step.source->location.line, thread.tid[0], thread.tid[1], thread.tid[2],
                     machine.ctaid[0], machine.ctaid[1], machine.ctaid[2]);
}

// run_thread() goes on until the thread waits, ends or is in error; false: no step is left.
Status run_thread(Machine& machine, uint64_t& steps_left) {
  Thread& thread = *machine.thread;
  while (thread.state == Thread::State::runs) {
    if (thread.next >= machine.code.steps.size()) {
      thread.state = Thread::State::ended;
      break;
    }
    if (steps_left-- == 0) return unsupported("too many steps");
    const uint32_t current = thread.next;
    const Step& step = machine.code.steps[current];
    ++thread.next;
    if (step.guarded && ((thread.registers[step.guard] & 1) != 0) == step.negated) continue;
    step.action(machine, step);
    // Whoever waits stands at the step, and those who let it go on move it.
    if (thread.state == Thread::State::at_barrier || thread.state == Thread::State::at_warp) {
      thread.next = current;
    }
    if (!machine.fault.empty()) return invalid_input(machine.fault, at(machine, step));
  }
  return {};
}

Status run_block(Machine& machine, const Launch& launch, uint64_t& steps_left) {
  const size_t count = machine.threads.size();
  while (true) {
    for (size_t i = 0; i < count; ++i) {
      machine.thread = &machine.threads[launch.last_thread_first ? count - 1 - i : i];
      if (Status status = run_thread(machine, steps_left); !status) return status;
    }
    if (meet(machine)) continue;
    if (!machine.fault.empty()) return invalid_input(machine.fault);
    for (const Thread& thread : machine.threads) {
      if (thread.state == Thread::State::ended) continue;
      machine.thread = &machine.threads[thread.number];
      return invalid_input("threads wait for each other for ever",
                           at(machine, machine.code.steps[thread.next]));
    }
    return {};
  }
}

}  // namespace

uint64_t Machine::read(const Argument& argument, ScalarType type) const {
  switch (argument.kind) {
    case Argument::Kind::reg: {
      const uint64_t value = thread->registers[argument.number];
      return truncated(argument.negated ? ~value : value, bits_of(type));
    }
    case Argument::Kind::literal:
      if (type == ScalarType::f32 && argument.literal_width == 64) {
        return bits_of_float(static_cast<float>(as_double(argument.bits)));
      }
      return argument.bits;
    case Argument::Kind::special: {
      const Dim3& extent = argument.special == Special::ntid ? block : grid;
      const uint32_t extents[] = {extent.x, extent.y, extent.z};
      switch (argument.special) {
        case Special::tid:
          return thread->tid[argument.number];
        case Special::ctaid:
          return ctaid[argument.number];
        case Special::laneid:
          return thread->number % 32;
        case Special::warpid:
          return thread->number / 32;
        default:
          return extents[argument.number];
      }
    }
    default:
      return truncated(argument.bits, bits_of(type));
  }
}

void Machine::write(const Argument& argument, uint64_t value) {
  if (argument.kind != Argument::Kind::reg)
    fault = "a result that is no register";
  else
    thread->registers[argument.number] = value;
}

std::span<std::byte> Machine::place(const Argument& argument, StateSpace space, uint64_t bytes) {
  uint64_t address = argument.bits;
  if (argument.has_base) address += thread->registers[argument.number];
  if (space == StateSpace::none && address - shared_window < window_bytes) {
    space = StateSpace::shared;
    address -= shared_window;
  }
  const auto within = [&](std::span<std::byte> memory) {
    const bool fits = address <= memory.size() && bytes <= memory.size() - address;
    return fits ? memory.subspan(address, bytes) : std::span<std::byte>();
  };
  std::span<std::byte> found;
  if (space == StateSpace::shared) {
    found = within(shared);
  } else if (space == StateSpace::local) {
    found = within(thread->local);
  } else if (space == StateSpace::param) {
    found = within(parameters);
  } else {
    found = global.at(address, bytes);
  }
  if (address % bytes != 0 || found.empty()) {
    fault = fmt::format("no {} bytes of {} memory at {:#x}", bytes, ptx::name(space), address);
    return {};
  }
  return found;
}

bool is_written(const Step& step, std::initializer_list<std::string_view> words) {
  const std::vector<std::string>& modifiers = step.source->modifiers;
  size_t count = 0;
  for (const std::string_view word : words) {
    if (word.empty()) continue;
    if (!step.source->has_modifier(word)) return false;
    ++count;
  }
  return modifiers.size() - count ==
         static_cast<size_t>(std::count_if(
             modifiers.begin(), modifiers.end(),
             [](const std::string& modifier) { return ptx::scalar_type(modifier).has_value(); }));
}

bool choose_action(Step& step) {
  return choose_flow(step) || choose_memory(step) || choose_meeting(step) ||
         choose_arithmetic(step);
}

Status run(const Code& code, const Launch& launch, GlobalMemory& memory) {
  Machine machine{
      .code = code, .global = memory, .parameters = {}, .grid = launch.grid, .block = launch.block};
  machine.parameters.assign(launch.parameters.begin(), launch.parameters.end());
  uint64_t steps_left = launch.most_steps;
  for (uint64_t block = 0; block < launch.grid.count(); ++block) {
    start_block(machine, block);
    if (Status status = run_block(machine, launch, steps_left); !status) return status;
  }
  return {};
}

}  // namespace sluice::interpreter
