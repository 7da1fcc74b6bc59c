// Comparisons, choices, conversions, and where a thread goes next.
#include <iterator>

#include "interpreter/machine.hpp"

namespace sluice::interpreter {
namespace {

enum Comparison : uint32_t { eq, ne, lt, le, gt, ge };
constexpr std::string_view comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};

template <class Value>
bool holds(uint32_t comparison, Value a, Value b) {
  switch (comparison) {
    case eq:
      return a == b;
    case ne:
      return a < b || a > b;  // of NaN nothing holds, `ne` neither
    case lt:
      return a < b;
    case le:
      return a <= b;
    case gt:
      return a > b;
    default:
      return a >= b;
  }
}

void setp(Machine& machine, const Step& step) {
  const uint64_t a = machine.read(step.arguments[1], step.type);
  const uint64_t b = machine.read(step.arguments[2], step.type);
  bool result = false;
  if (step.type == ScalarType::f32) {
    result = holds(step.detail, as_float(a), as_float(b));
  } else if (step.type == ScalarType::f64) {
    result = holds(step.detail, as_double(a), as_double(b));
  } else if (is_signed(step.type)) {
    result = holds(step.detail, extended(a, bits_of(step.type)), extended(b, bits_of(step.type)));
  } else {
    result = holds(step.detail, a, b);
  }
  machine.write(step.arguments[0], result);
}

void selp(Machine& machine, const Step& step) {
  const bool first = machine.read(step.arguments[3], ScalarType::pred) != 0;
  machine.write(step.arguments[0], machine.read(step.arguments[first ? 1 : 2], step.type));
}

// cvt.d.s: `type` is what it makes, `from` what it reads.
void convert_integer(Machine& machine, const Step& step) {
  const uint64_t value = widened(machine.read(step.arguments[1], step.from), step.from);
  machine.write(step.arguments[0], widened(value, step.type));
}

void integer_to_float(Machine& machine, const Step& step) {
  const uint64_t value = widened(machine.read(step.arguments[1], step.from), step.from);
  const auto convert = [&](auto number) {
    return step.type == ScalarType::f32 ? bits_of_float(static_cast<float>(number))
                                        : bits_of_double(static_cast<double>(number));
  };
  machine.write(step.arguments[0],
                is_signed(step.from) ? convert(static_cast<int64_t>(value)) : convert(value));
}

bool choose_conversion(Step& step) {
  if (is_integer(step.type) && is_integer(step.from) && is_written(step, {})) {
    step.action = convert_integer;
  } else if (is_float(step.type) && is_integer(step.from) && is_written(step, {"rn"})) {
    step.action = integer_to_float;
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool choose_flow(Step& step) {
  const std::string_view opcode = step.source->opcode_name();
  if (opcode == "bra" && (is_written(step, {}) || is_written(step, {"uni"}))) {
    step.action = [](Machine& machine, const Step& at) { machine.thread->next = at.target; };
  } else if ((opcode == "ret" || opcode == "exit") && is_written(step, {})) {
    step.action = [](Machine& machine, const Step&) {
      machine.thread->state = Thread::State::ended;
    };
  } else if (opcode == "setp" && step.arguments.size() == 3 &&
             (is_integer(step.type) || is_float(step.type))) {
    for (uint32_t i = 0; i < std::size(comparisons); ++i) {
      if (!is_written(step, {comparisons[i]})) continue;
      step.detail = i;
      step.action = setp;
    }
  } else if (opcode == "selp" && is_written(step, {}) &&
             (is_integer(step.type) || is_float(step.type))) {
    step.action = selp;
  } else if (opcode == "cvt") {
    return choose_conversion(step);
  }
  return step.action != nullptr;
}

}  // namespace sluice::interpreter
