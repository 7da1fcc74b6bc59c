// Where the registers of a PTX function are written.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "megakernel/cuda/flow/flow_graph.hpp"

namespace sluice::megakernel {

// Definition is one instruction that writes a register: `index` is its place in its node.
struct Definition {
  const ptx::Instruction* instruction = nullptr;
  size_t node = 0;
  size_t index = 0;
};

// Definitions finds the registers that one instruction alone writes. Names count, not scopes, so
// registers of one name in several scopes are written several times. Thread-safe once made.
class Definitions {
 public:
  explicit Definitions(const FlowGraph& graph);

  // only() is that instruction, or null where none or several write the register.
  const Definition* only(const std::string& name) const;

  // has() says whether any instruction writes it: special registers are none of these.
  bool has(const std::string& name) const;

  // is_written_between() says whether the register is written in `node` after the instruction at
  // `first` and before that at `last`.
  bool is_written_between(const std::string& name, size_t node, size_t first, size_t last) const;

 private:
  std::map<std::string, std::vector<Definition>> definitions_;
};

// is_full_mask() says whether an operand is known to name all lanes of a warp.
bool is_full_mask(const ptx::Operand& operand, const Definitions& definitions);

// tell_the_same() says whether two predicates are one, or compare the same two values such that
// each tells the other.
bool tell_the_same(const std::string& a, const std::string& b, const Definitions& definitions);

}  // namespace sluice::megakernel
