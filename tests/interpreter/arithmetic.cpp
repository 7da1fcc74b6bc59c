// What makes one result of some operands, by plain C++.
#include <algorithm>
#include <bit>
#include <cmath>

#include "interpreter/machine.hpp"

namespace sluice::interpreter {
namespace {

enum class Types : uint8_t { integers, floats };

// Row is one form of an instruction: opcode, the word beside its types, how many operands.
struct Row {
  std::string_view opcode;
  std::string_view word;
  Types types;
  unsigned operands;
  Compute compute;
  bool wide = false;  // the result has twice the bits
};

// Of signed types when the type is: as 128 bits, so that nothing overflows.
__int128 wide(uint64_t value, ScalarType type) {
  return is_signed(type) ? static_cast<__int128>(extended(value, bits_of(type)))
                         : static_cast<__int128>(truncated(value, bits_of(type)));
}

uint64_t low_product(const uint64_t* in, ScalarType) {
  return in[0] * in[1];
}
uint64_t whole_product(const uint64_t* in, ScalarType type) {
  return static_cast<uint64_t>(wide(in[0], type) * wide(in[1], type));
}
uint64_t high_product(const uint64_t* in, ScalarType type) {
  const auto product = static_cast<unsigned __int128>(wide(in[0], type)) *
                       static_cast<unsigned __int128>(wide(in[1], type));
  return static_cast<uint64_t>(product >> bits_of(type));
}

// Division by zero gives all ones, and as remainder the dividend, as NVIDIA's GPUs do.
uint64_t quotient(const uint64_t* in, ScalarType type) {
  const __int128 divisor = wide(in[1], type);
  return divisor == 0 ? ~uint64_t{0} : static_cast<uint64_t>(wide(in[0], type) / divisor);
}
uint64_t remainder(const uint64_t* in, ScalarType type) {
  const __int128 divisor = wide(in[1], type);
  return divisor == 0 ? in[0] : static_cast<uint64_t>(wide(in[0], type) % divisor);
}

uint64_t lower(const uint64_t* in, ScalarType type) {
  return wide(in[0], type) < wide(in[1], type) ? in[0] : in[1];
}
uint64_t higher(const uint64_t* in, ScalarType type) {
  return wide(in[0], type) < wide(in[1], type) ? in[1] : in[0];
}

// Shifts take 32 bits of amount and go up to the type's width.
uint64_t left(const uint64_t* in, ScalarType type) {
  const uint64_t amount = in[1];
  return amount >= bits_of(type) ? 0 : in[0] << amount;
}
uint64_t right(const uint64_t* in, ScalarType type) {
  const uint64_t amount = std::min<uint64_t>(in[1], bits_of(type));
  return static_cast<uint64_t>(wide(in[0], type) >> amount);
}

constexpr Types integers = Types::integers, floats = Types::floats;

const Row rows[] = {
    {"mov", "", integers, 1, [](const uint64_t* in, ScalarType) { return in[0]; }},
    {"add", "", integers, 2, [](const uint64_t* in, ScalarType) { return in[0] + in[1]; }},
    {"sub", "", integers, 2, [](const uint64_t* in, ScalarType) { return in[0] - in[1]; }},
    {"neg", "", integers, 1, [](const uint64_t* in, ScalarType) { return -in[0]; }},
    {"abs", "", integers, 1,
     [](const uint64_t* in, ScalarType type) { return wide(in[0], type) < 0 ? -in[0] : in[0]; }},
    {"mul", "lo", integers, 2, low_product},
    {"mul", "hi", integers, 2, high_product},
    {"mul", "wide", integers, 2, whole_product, true},
    {"mad", "lo", integers, 3,
     [](const uint64_t* in, ScalarType type) { return low_product(in, type) + in[2]; }},
    {"mad", "hi", integers, 3,
     [](const uint64_t* in, ScalarType type) { return high_product(in, type) + in[2]; }},
    {"mad", "wide", integers, 3,
     [](const uint64_t* in, ScalarType type) { return whole_product(in, type) + in[2]; }, true},
    {"div", "", integers, 2, quotient},
    {"rem", "", integers, 2, remainder},
    {"min", "", integers, 2, lower},
    {"max", "", integers, 2, higher},
    {"shl", "", integers, 2, left},
    {"shr", "", integers, 2, right},
    {"and", "", integers, 2, [](const uint64_t* in, ScalarType) { return in[0] & in[1]; }},
    {"or", "", integers, 2, [](const uint64_t* in, ScalarType) { return in[0] | in[1]; }},
    {"xor", "", integers, 2, [](const uint64_t* in, ScalarType) { return in[0] ^ in[1]; }},
    {"not", "", integers, 1, [](const uint64_t* in, ScalarType) { return ~in[0]; }},
    {"popc", "", integers, 1,
     [](const uint64_t* in, ScalarType) { return uint64_t(std::popcount(in[0])); }},
    {"mov", "", floats, 1, [](const uint64_t* in, ScalarType) { return in[0]; }},
};

// Floating point of both widths by one function of doubles would round twice.
template <class Function>
uint64_t of_floats(const uint64_t* in, ScalarType type, Function function) {
  if (type == ScalarType::f32) {
    return bits_of_float(function(as_float(in[0]), as_float(in[1]), as_float(in[2])));
  }
  return bits_of_double(function(as_double(in[0]), as_double(in[1]), as_double(in[2])));
}

const Row float_rows[] = {
    {"add", "rn", floats, 2,
     [](const uint64_t* in, ScalarType type) {
       return of_floats(in, type, [](auto a, auto b, auto) { return a + b; });
     }},
    {"sub", "rn", floats, 2,
     [](const uint64_t* in, ScalarType type) {
       return of_floats(in, type, [](auto a, auto b, auto) { return a - b; });
     }},
    {"mul", "rn", floats, 2,
     [](const uint64_t* in, ScalarType type) {
       return of_floats(in, type, [](auto a, auto b, auto) { return a * b; });
     }},
    {"fma", "rn", floats, 3,
     [](const uint64_t* in, ScalarType type) {
       return of_floats(in, type, [](auto a, auto b, auto c) { return std::fma(a, b, c); });
     }},
};

void compute(Machine& machine, const Step& step) {
  uint64_t operands[3] = {};
  for (size_t i = 1; i < step.arguments.size(); ++i) {
    const bool is_amount = i == 2 && (step.compute == left || step.compute == right);
    operands[i - 1] = machine.read(step.arguments[i], is_amount ? ScalarType::u32 : step.type);
    if (step.flushes) operands[i - 1] = flushed(operands[i - 1]);
  }
  // Bits above the type may be anything: whoever reads a register cuts it to the type it reads.
  const uint64_t result = step.compute(operands, step.type);
  machine.write(step.arguments[0], step.flushes ? flushed(result) : result);
}

bool take(Step& step, std::span<const Row> table) {
  const bool of_floats = is_float(step.type);
  if (!of_floats && !is_integer(step.type) && step.type != ScalarType::pred) return false;
  for (const Row& row : table) {
    if (row.opcode != step.source->opcode_name() || (row.types == floats) != of_floats) continue;
    const bool flushes = step.type == ScalarType::f32 && is_written(step, {row.word, "ftz"});
    if (!flushes && !is_written(step, {row.word})) continue;
    if (step.arguments.size() != row.operands + 1) continue;
    if (row.wide && bits_of(step.type) > 32) continue;
    step.compute = row.compute;
    step.flushes = flushes;
    step.action = compute;
    return true;
  }
  return false;
}

}  // namespace

bool choose_arithmetic(Step& step) {
  return take(step, rows) || take(step, float_rows);
}

}  // namespace sluice::interpreter
