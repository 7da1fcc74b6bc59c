// Which integer registers hold one value in all threads of every block, whatever the launch gives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/dim3.hpp"
#include "megakernel/cuda/flow/flow_graph.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// computes_integers() says whether an instruction's type is an integer's of 32 or 64 bits, or bits.
bool computes_integers(const ptx::Instruction& instruction);

// RegisterConstants follows literals and the extents of the block through moves, sums and products.
// The extents are known, so sums with an index of zero are found to be no sums. Values beyond 31
// bits are not followed.
class RegisterConstants {
 public:
  RegisterConstants(const FlowGraph& graph, const Dim3& block);

  // operand() is the value of an instruction's operand; nothing where there is none or it has not
  // one value.
  std::optional<uint64_t> operand(const ptx::Instruction& instruction, size_t index) const;

  // product_is_zero() says whether the low half of a `mul` or of a `mad`'s product is always zero.
  bool product_is_zero(const ptx::Instruction& instruction) const;

 private:
  // What is known of a register: nothing yet, one value, or that it has several.
  enum class Knowledge { none, constant, varying };
  struct Known {
    Knowledge knowledge = Knowledge::none;
    uint64_t value = 0;
    bool is(uint64_t number) const { return knowledge == Knowledge::constant && value == number; }
  };
  static Known constant(uint64_t value);
  static Known sum(const Known& a, const Known& b);
  static Known product(const Known& a, const Known& b);

  Known known(const ptx::Instruction& instruction, size_t index) const;
  Known computed(const ptx::Instruction& instruction) const;
  void define(const ptx::Instruction& instruction);
  void note(const std::string& name, Known after);

  const Dim3 block_;
  std::map<std::string, Known> constants_;
  bool changed_ = false;
};

}  // namespace sluice::megakernel
