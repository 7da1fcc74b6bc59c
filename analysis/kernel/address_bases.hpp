// Which pointer an address is built on, and the rest of it as an offset in bytes. Lifted code
// computes addresses as 64-bit integers, so the pointer has to be told from the index arithmetic.
// Internal to the analysis.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>

#include "analysis/kernel/parameter_slots.hpp"

namespace sluice::analysis {

// Root is what an address may start from. Order within a set has no meaning.
struct Root {
  enum class Kind {
    slot,             // a parameter: number is the index into the slots
    loaded,           // a value read from memory or otherwise unknown: number is the PTX line
    constant_space,   // a .const variable: never written while kernels run
    block_private,    // shared, local or parameter space: no other block sees it
    module_variable,  // a .global variable: name
    absolute,         // a number
    ambiguous,        // the sum of two pointers, or nothing that we know
  };
  Kind kind = Kind::ambiguous;
  uint32_t number = 0;
  std::string name;
  friend auto operator<=>(const Root&, const Root&) = default;
};

using Roots = std::set<Root>;

class AddressBases {
 public:
  // AddressBases looks at every 64-bit integer of `kernel`, to a fixed point over its loops.
  AddressBases(llvm::Function& kernel, const std::vector<SlotValue>& slots);

  // roots() of an address (an integer or a pointer operand of a load, store or atomic).
  Roots roots(llvm::Value* address) const;

  // offset() builds, where the address is used, the i64 offset of `address` from the slot that is
  // its only root. Nothing where the address cannot be taken apart.
  std::optional<llvm::Value*> offset(llvm::Value* address, uint32_t slot);

 private:
  Roots evaluate(llvm::Value* value) const;
  Roots known(llvm::Value* value) const;
  Roots sum(llvm::Value* a, llvm::Value* b) const;
  bool is_pointer(const Roots& roots) const;
  bool is_certainly_address(const Roots& roots) const;
  bool has_slot(llvm::Value* value, uint32_t slot) const;
  llvm::Value* offset_of(llvm::Value* value, uint32_t slot);
  llvm::Value* offset_of_phi(llvm::PHINode* phi, uint32_t slot);

  const std::vector<SlotValue>& slots_;
  llvm::DenseMap<llvm::Value*, uint32_t> slot_of_;
  llvm::DenseMap<llvm::Value*, Roots> roots_;
  std::map<std::pair<llvm::Value*, uint32_t>, llvm::Value*> offsets_;
  std::set<uint32_t> broken_;
};

// strip_address_casts() looks through inttoptr, ptrtoint, addrspacecast and bitcast.
llvm::Value* strip_address_casts(llvm::Value* address);

}  // namespace sluice::analysis
