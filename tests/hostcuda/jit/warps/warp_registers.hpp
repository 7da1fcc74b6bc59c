// Running one instruction of a warp on registers that a test fills lane by lane.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::hostcuda {

// ElementType is a matrix's element: its bits, and how a number stands in them. All numbers of a
// test are small integers.
class ElementType {
 public:
  explicit ElementType(std::string_view name);

  unsigned bits() const { return bits_; }
  unsigned register_bits() const { return bits_ == 64 ? 64 : 32; }
  uint64_t encode(double value) const;
  double decode(uint64_t bits) const;
  double random(std::mt19937& generator) const;

 private:
  std::string name_;
  unsigned bits_ = 0;
};

// WarpRegisters are the registers of one operand for 32 lanes.
class WarpRegisters {
 public:
  WarpRegisters(const ElementType& type, unsigned elements);

  void set(unsigned lane, unsigned element, double value);
  double get(unsigned lane, unsigned element) const;

  unsigned count() const { return count_; }  // registers of a lane
  unsigned register_bits() const { return type_.register_bits(); }
  uint64_t& word(unsigned lane, unsigned number) { return words_[lane * count_ + number]; }
  uint64_t word(unsigned lane, unsigned number) const { return words_[lane * count_ + number]; }

 private:
  ElementType type_;
  unsigned count_ = 0;
  std::vector<uint64_t> words_;
};

// WarpPlace is where the warp stands: alone, or under a condition that other warps don't meet.
struct WarpPlace {
  const char* name;
  unsigned threads;
  unsigned first_thread;
};
const std::vector<WarpPlace>& warp_places();

// run_warp_instruction() executes `instruction out, in...;` in one warp and returns the registers
// of its destination, whose kind `out` tells.
WarpRegisters run_warp_instruction(const std::string& instruction, const WarpPlace& place,
                                   WarpRegisters out,
                                   std::initializer_list<const WarpRegisters*> in);

}  // namespace sluice::hostcuda
