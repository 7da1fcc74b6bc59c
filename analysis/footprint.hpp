// A footprint: which bytes of each pointer argument every block of a launch reads and writes.
// Plain values, so that `dro` and the journal need neither LLVM nor an isl context of
// the analysis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/widening.hpp"
#include "base/dim3.hpp"
#include "relation/relation.hpp"

namespace sluice::analysis {

// ParameterSlot is a place in the kernel's parameter block: `offset` and `size` in bytes, laid
// out as PTX lays out .param (each parameter at its natural or written alignment). Or it is the
// address of a .global variable of the kernel's module, by its name: then it has no offset.
struct ParameterSlot {
  std::string name;
  uint32_t offset = 0;
  uint32_t size = 0;
  bool is_variable = false;
  friend bool operator==(const ParameterSlot&, const ParameterSlot&) = default;
};

// KernelSignature is what the analysis needs to know about arguments before it sees a launch.
struct KernelSignature {
  std::string kernel;
  std::vector<ParameterSlot> parameters;     // all, in order
  uint32_t parameter_bytes = 0;              // size of the parameter block
  std::vector<ParameterSlot> pointers;       // 8-byte slots used as base addresses, in order;
                                             // the module's variables last, by name
  std::vector<ParameterSlot> shape_scalars;  // slots that an address or a branch depends on
};

// LaunchShape is all that a footprint may depend on. It holds no pointer.
struct LaunchShape {
  Dim3 grid;
  Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  std::vector<uint64_t> shape_values;  // one for each shape scalar, zero-extended
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

// Precision says how near a relation is to what the kernel really does.
enum class Precision {
  exact,         // these bytes and no others
  bounded,       // a superset smaller than the buffer
  whole_buffer,  // nothing known: every byte of the buffer the argument points into
};

// Symbol is a number of a launch's shape that relations name instead of writing it out, so that
// launches which differ in it alone share their relations.
struct Symbol {
  std::string name;
  int64_t value = 0;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

// Access is one kind of access through one pointer argument. `relation` goes from blocks to byte
// offsets relative to the argument's value (may be negative), over 0 <= x < grid.x and so on; its
// parameters are the footprint's symbols. It is empty where there is no such access, and ignored
// where precision is whole_buffer.
struct Access {
  Relation relation;
  Precision precision = Precision::exact;
  WideningReason reason;  // where it is not exact

  bool present() const { return !relation.empty() || precision == Precision::whole_buffer; }
  friend bool operator==(const Access&, const Access&) = default;
};

// ArgumentFootprint is what happens through one pointer slot of the signature. Must-writes happen
// in every execution of the block, whatever the data; may-writes may not.
struct ArgumentFootprint {
  Access reads;
  Access may_writes;
  Access must_writes;
  friend bool operator==(const ArgumentFootprint&, const ArgumentFootprint&) = default;
};

struct Footprint {
  std::string kernel;
  LaunchShape shape;
  std::vector<Symbol> symbols;               // the relations' parameters, in order
  std::vector<ArgumentFootprint> arguments;  // one for each pointer slot, in order
  // Where this is set, the kernel may touch any buffer (or talks across blocks), and the launch
  // as a whole orders after all before it and before all after it.
  WideningReason opaque_reason;

  bool opaque() const { return !opaque_reason.empty(); }
  friend bool operator==(const Footprint&, const Footprint&) = default;
};

}  // namespace sluice::analysis
