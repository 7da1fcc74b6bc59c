#include "hostcuda/jit/warps/warp_registers.hpp"

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "hostcuda/jit/run_kernel.hpp"

namespace sluice::hostcuda {
namespace {

// The bits of a float format with small integers alone, so nothing is rounded.
uint64_t encode_float(double value, unsigned exponent_bits, unsigned fraction_bits) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent) * 2 - 1;
  const uint64_t biased = static_cast<uint64_t>(exponent - 1 + (1 << (exponent_bits - 1)) - 1);
  const auto digits = static_cast<uint64_t>(std::ldexp(fraction, static_cast<int>(fraction_bits)));
  const uint64_t sign = value < 0 ? 1 : 0;
  return sign << (exponent_bits + fraction_bits) | biased << fraction_bits | digits;
}

double decode_float(uint64_t bits, unsigned exponent_bits, unsigned fraction_bits) {
  const uint64_t digits = bits & ((1ULL << fraction_bits) - 1);
  const uint64_t biased = bits >> fraction_bits & ((1ULL << exponent_bits) - 1);
  if (biased == 0 && digits == 0) return 0;
  const double fraction =
      1 + std::ldexp(static_cast<double>(digits), -static_cast<int>(fraction_bits));
  const double value =
      std::ldexp(fraction, static_cast<int>(biased) - ((1 << (exponent_bits - 1)) - 1));
  return bits >> (exponent_bits + fraction_bits) & 1 ? -value : value;
}

}  // namespace

ElementType::ElementType(std::string_view name) : name_(name) {
  if (name == "f64") bits_ = 64;
  if (name == "f32" || name == "tf32" || name == "s32" || name == "b32") bits_ = 32;
  if (name == "f16" || name == "bf16" || name == "b16") bits_ = 16;
  if (name == "s8" || name == "u8") bits_ = 8;
  if (name == "s4" || name == "u4") bits_ = 4;
  if (name == "b1") bits_ = 1;
}

uint64_t ElementType::encode(double value) const {
  if (name_ == "f64") return std::bit_cast<uint64_t>(value);
  if (name_ == "f32" || name_ == "tf32") return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (name_ == "f16") return encode_float(value, 5, 10);
  if (name_ == "bf16") return encode_float(value, 8, 7);
  const uint64_t mask = (1ULL << bits_) - 1;
  return static_cast<uint64_t>(static_cast<int64_t>(value)) & mask;
}

double ElementType::decode(uint64_t bits) const {
  if (name_ == "f64") return std::bit_cast<double>(bits);
  if (name_ == "f32" || name_ == "tf32") return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (name_ == "f16") return decode_float(bits, 5, 10);
  if (name_ == "bf16") return decode_float(bits, 8, 7);
  if (name_[0] != 's') return static_cast<double>(bits);
  return static_cast<double>(static_cast<int64_t>(bits << (64 - bits_)) >> (64 - bits_));
}

double ElementType::random(std::mt19937& generator) const {
  const auto between = [&](int low, int high) {
    return static_cast<double>(std::uniform_int_distribution<int>(low, high)(generator));
  };
  if (name_ == "s8") return between(-128, 127);
  if (name_ == "u8") return between(0, 255);
  if (name_ == "s4") return between(-8, 7);
  if (name_ == "u4") return between(0, 15);
  if (name_ == "b1") return between(0, 1);
  if (name_ == "b16") return between(0, 65535);
  if (name_ == "s32") return between(-100000, 100000);
  return between(-8, 8);
}

WarpRegisters::WarpRegisters(const ElementType& type, unsigned elements)
    : type_(type),
      count_((elements * type.bits() + type.register_bits() - 1) / type.register_bits()),
      words_(size_t{32} * count_) {}

void WarpRegisters::set(unsigned lane, unsigned element, double value) {
  const unsigned per_word = type_.register_bits() / type_.bits();
  uint64_t& word_of = word(lane, element / per_word);
  const unsigned shift = element % per_word * type_.bits();
  const uint64_t mask = type_.bits() == 64 ? ~0ULL : ((1ULL << type_.bits()) - 1) << shift;
  word_of = (word_of & ~mask) | (type_.encode(value) << shift & mask);
}

double WarpRegisters::get(unsigned lane, unsigned element) const {
  const unsigned per_word = type_.register_bits() / type_.bits();
  const uint64_t bits = word(lane, element / per_word) >> element % per_word * type_.bits();
  return type_.decode(type_.bits() == 64 ? bits : bits & ((1ULL << type_.bits()) - 1));
}

const std::vector<WarpPlace>& warp_places() {
  static const std::vector<WarpPlace> places = {{"alone", 32, 0}, {"among others", 96, 32}};
  return places;
}

WarpRegisters run_warp_instruction(const std::string& instruction, const WarpPlace& place,
                                   WarpRegisters out,
                                   std::initializer_list<const WarpRegisters*> in) {
  // Memory holds the words of all registers of a lane one after the other, sources first.
  unsigned words = out.count();
  for (const WarpRegisters* operand : in)
    words += operand->count();
  std::vector<uint64_t> memory(size_t{32} * words);
  std::string loads;
  std::string operands;
  unsigned next = 0;
  const auto list = [&](const WarpRegisters& registers, bool is_source) {
    std::string names;
    for (unsigned i = 0; i < registers.count(); ++i, ++next) {
      const char* kind = registers.register_bits() == 64 ? "rd" : "r";
      names += fmt::format("{}%{}{}", i == 0 ? "" : ", ", kind, next + 10);
      if (!is_source) continue;
      loads += fmt::format("ld.global.b{} %{}{}, [%rd1+{}];\n", registers.register_bits(), kind,
                           next + 10, 8 * next);
      for (unsigned lane = 0; lane < 32; ++lane)
        memory[lane * words + next] = registers.word(lane, i);
    }
    return "{" + names + "}";
  };
  for (const WarpRegisters* operand : in)
    operands += ", " + list(*operand, true);
  const unsigned first_result = next;
  operands = list(out, false) + operands;
  std::string stores;
  for (unsigned i = 0; i < out.count(); ++i) {
    stores += fmt::format("st.global.b{} [%rd1+{}], %{}{};\n", out.register_bits(),
                          8 * (first_result + i), out.register_bits() == 64 ? "rd" : "r",
                          first_result + i + 10);
  }
  const std::string text = fmt::format(
      ".version 8.5\n.target sm_90\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 memory) {{\n"
      ".reg .pred %p<3>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
      "mov.u32 %r0, %tid.x;\nsub.u32 %r1, %r0, {};\nsetp.gt.u32 %p1, %r1, 31;\n@%p1 bra DONE;\n"
      "ld.param.u64 %rd0, [memory];\nmad.wide.u32 %rd1, %r1, {}, %rd0;\n{}{} {};\n{}"
      "DONE:\nret;\n}}\n",
      place.first_thread, 8 * words, loads, instruction, operands, stores);
  Kernels kernels(compile_text(text));
  kernels.run("kernel", {1, 1, 1}, {place.threads, 1, 1}, 0, memory.data());
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < out.count(); ++i)
      out.word(lane, i) = memory[lane * words + first_result + i];
  }
  return out;
}

}  // namespace sluice::hostcuda
