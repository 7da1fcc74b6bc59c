// Loads, stores, atomic operations, and addresses.
#include "interpreter/machine.hpp"

namespace sluice::interpreter {
namespace {

using ptx::StateSpace;

constexpr std::pair<std::string_view, StateSpace> spaces[] = {{"global", StateSpace::global},
                                                              {"shared", StateSpace::shared},
                                                              {"local", StateSpace::local},
                                                              {"param", StateSpace::param}};

// The arguments that a step loads to or stores from: a register, or several for a vector.
std::vector<Argument> elements(const Argument& argument) {
  if (argument.kind != Argument::Kind::registers) return {argument};
  std::vector<Argument> all;
  for (const uint32_t number : argument.registers) {
    Argument element;
    element.kind = Argument::Kind::reg;
    element.number = number;
    all.push_back(element);
  }
  return all;
}

void access(Machine& machine, const Step& step, bool loads) {
  const std::vector<Argument> all = elements(step.arguments[loads ? 0 : 1]);
  const uint64_t bytes = ptx::size_in_bytes(step.type);
  const auto space = static_cast<StateSpace>(step.detail);
  std::span<std::byte> memory =
      machine.place(step.arguments[loads ? 1 : 0], space, bytes * all.size());
  if (memory.empty()) return;
  for (const Argument& element : all) {
    if (loads) {
      machine.write(element, widened(load_word(memory.first(bytes)), step.type));
    } else {
      store_word(memory.first(bytes), machine.read(element, step.type));
    }
    memory = memory.subspan(bytes);
  }
}

// atom d, [a], b and red [a], b: of integers, results that don't depend on the order of threads.
void add_to_memory(Machine& machine, const Step& step) {
  const bool gives_old = step.source->opcode_name() == "atom";
  const uint64_t bytes = ptx::size_in_bytes(step.type);
  const auto space = static_cast<StateSpace>(step.detail);
  const std::span<std::byte> memory = machine.place(step.arguments[gives_old], space, bytes);
  if (memory.empty()) return;
  const uint64_t old = load_word(memory);
  store_word(memory, old + machine.read(step.arguments[gives_old + 1], step.type));
  if (gives_old) machine.write(step.arguments[0], old);
}

// Generic addresses of global memory are its own; shared memory has a window.
void cvta(Machine& machine, const Step& step) {
  const uint64_t window =
      static_cast<StateSpace>(step.detail) == StateSpace::shared ? shared_window : 0;
  const uint64_t value = machine.read(step.arguments[1], step.type);
  machine.write(step.arguments[0],
                step.source->has_modifier("to") ? value - window : value + window);
}

std::string_view vector_word(const Step& step) {
  for (const std::string_view width : {"v2", "v4"}) {
    if (step.source->has_modifier(width)) return width;
  }
  return {};
}

}  // namespace

bool choose_memory(Step& step) {
  const ptx::Instruction& source = *step.source;
  std::string_view space;
  for (const auto& [word, value] : spaces) {
    if (!source.has_modifier(word)) continue;
    space = word;
    step.detail = static_cast<uint32_t>(value);
  }
  const bool is_plain = is_integer(step.type) || is_float(step.type);
  if (!is_plain) return false;
  const std::string_view vector = vector_word(step);
  if (source.opcode_name() == "ld" && is_written(step, {space, vector})) {
    step.action = [](Machine& machine, const Step& at) { access(machine, at, true); };
  } else if (source.opcode_name() == "st" && is_written(step, {space, vector})) {
    step.action = [](Machine& machine, const Step& at) { access(machine, at, false); };
  } else if ((source.opcode_name() == "atom" || source.opcode_name() == "red") &&
             is_integer(step.type) && is_written(step, {space, "add"})) {
    step.action = add_to_memory;
  } else if (source.opcode_name() == "cvta" && (space == "global" || space == "shared") &&
             (is_written(step, {space}) || is_written(step, {space, "to"}))) {
    step.action = cvta;
  } else {
    return false;
  }
  return true;
}

}  // namespace sluice::interpreter
