#include "megakernel/cuda/rewrite/operand_rewriter.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "megakernel/cuda/rewrite/statements.hpp"
#include "megakernel/cuda/worker_memory.h"
#include "ptx/visit.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Block;
using ptx::Identifier;
using ptx::Instruction;
using ptx::Operand;

// Registers that mean the launch or the hardware's view of it, which a task does not have.
constexpr std::string_view refused_registers[] = {"%gridid",
                                                  "%nwarpid",
                                                  "%total_smem_size",
                                                  "%aggr_smem_size",
                                                  "%is_explicit_cluster",
                                                  "%reserved_smem_offset_begin",
                                                  "%cluster_ctaid",
                                                  "%clusterid"};

bool is_refused(std::string_view name) {
  return std::find(std::begin(refused_registers), std::end(refused_registers), name) !=
             std::end(refused_registers) ||
         name.starts_with("%envreg") || name.starts_with("%cluster") ||
         name.starts_with("%ncluster") || name.starts_with("%pm");
}

}  // namespace

std::string OperandRewriter::temporary(Block& out, const char* type) {
  std::string name = fmt::format("%sl_{}", temporaries_++);
  append(out, fmt::format(".reg .{} {};", type, name));
  return name;
}

void OperandRewriter::rewrite(Instruction& instruction, Block& out) {
  for (Operand& operand : instruction.operands) {
    ptx::for_each_operand(operand, [&](Operand& leaf) {
      if (auto* name = std::get_if<Identifier>(&leaf.value)) {
        rewrite_name(*name, instruction, leaf, out);
      } else if (auto* address = std::get_if<ptx::Address>(&leaf.value)) {
        rewrite_address(*address, instruction, out);
      } else if (auto* offset = std::get_if<ptx::Offset>(&leaf.value)) {
        rewrite_offset(*offset, instruction, leaf, out);
      }
    });
  }
}

void OperandRewriter::rewrite_name(const Identifier& name, const Instruction& instruction,
                                   Operand& leaf, Block& out) {
  if (name.name.starts_with("%")) return rewrite_register(name, leaf, out);
  if (const auto offset = context_.places.pool_offset(name.name, is_entry_)) {
    leaf = is_moved(name.name) ? own_place(*offset, instruction, out)
                               : Operand{ptx::Offset{SLUICE_POOL, *offset}};
  } else if (context_.places.address_offset(name.name)) {
    leaf = Operand{Identifier{load_address(name.name, out), {}}};
  } else if (const ptx::Function* function = context_.module.find_function(name.name);
             function != nullptr && function->is_definition) {
    throw Refusal{"it takes the address of a function"};
  }
}

bool OperandRewriter::is_moved(const std::string& name) const {
  return context_.group.is_moved() && !(is_entry_ && context_.places.is_parameter(name));
}

// Addresses of shared memory have 32 bits, and stand in registers of 64 too.
Operand OperandRewriter::own_place(int64_t offset, const Instruction& instruction, Block& out) {
  std::string place = temporary(out, "b32");
  append(out, fmt::format("add.u32 {}, {}, {};", place, context_.group.pool(), offset));
  if (instruction.has_modifier("u64") || instruction.has_modifier("s64") ||
      instruction.has_modifier("b64")) {
    const std::string wide = temporary(out, "b64");
    append(out, fmt::format("cvt.u64.u32 {}, {};", wide, place));
    place = wide;
  }
  return Operand{Identifier{place, {}}};
}

void OperandRewriter::rewrite_offset(const ptx::Offset& offset, const Instruction& instruction,
                                     Operand& leaf, Block& out) {
  if (const auto place = context_.places.pool_offset(offset.name, is_entry_)) {
    ptx::Offset moved = offset;
    moved.name = SLUICE_POOL;
    moved.bytes += *place;
    leaf = is_moved(offset.name) ? own_place(moved.bytes, instruction, out) : Operand{moved};
  } else if (context_.places.address_offset(offset.name)) {
    const std::string base = load_address(offset.name, out);
    append(out, fmt::format("add.s64 {0}, {0}, {1};", base, offset.bytes));
    leaf = Operand{Identifier{base, {}}};
  }
}

void OperandRewriter::rewrite_address(ptx::Address& address, const Instruction& instruction,
                                      Block& out) {
  const bool is_register = address.base.starts_with("%");
  if (is_register) return;
  if (const auto place = context_.places.pool_offset(address.base, is_entry_)) {
    if (context_.places.is_parameter(address.base) && instruction.opcode != ptx::Opcode::ld) {
      throw Refusal{"it writes to a parameter"};
    }
    address.base = is_moved(address.base) ? context_.group.pool() : SLUICE_POOL;
    address.bytes += *place;
  } else if (context_.places.address_offset(address.base)) {
    address.base = load_address(address.base, out);
  }
}

std::string OperandRewriter::load_address(const std::string& variable, Block& out) {
  std::string name = temporary(out, "b64");
  append(out, fmt::format("ld.shared.u64 {}, [" SLUICE_POOL "+{}];", name,
                          *context_.places.address_offset(variable)));
  return name;
}

void OperandRewriter::rewrite_register(const Identifier& name, Operand& leaf, Block& out) {
  const bool is_extent = name.name == "%ntid" || name.name == "%nctaid";
  const bool is_place = name.name == "%tid" || name.name == "%ctaid";
  if (is_extent || is_place) {
    if (name.component != "x" && name.component != "y" && name.component != "z") {
      throw Refusal{"it reads " + name.name + " as a vector"};
    }
    leaf = Operand{Identifier{position(name.name, name.component, out), {}}};
  } else if (name.name == "%dynamic_smem_size") {
    leaf = Operand{Identifier{load_control(SLUICE_CONTROL_DYNAMIC_SHARED, out), {}}};
  } else if (is_refused(name.name)) {
    throw Refusal{"it reads " + name.name};
  }
}

std::string OperandRewriter::load_control(uint32_t offset, Block& out) {
  std::string name = temporary(out, "b32");
  append(out, fmt::format("ld.shared.u32 {}, [" SLUICE_POOL "+{}];", name, offset));
  return name;
}

std::string OperandRewriter::position(std::string_view what, const std::string& component,
                                      Block& out) {
  const uint32_t axis = static_cast<uint32_t>(component[0] - 'x');
  const uint32_t extents[] = {context_.block.x, context_.block.y, context_.block.z};
  if (what == "%nctaid") return load_control(SLUICE_CONTROL_NCTAID + 4 * axis, out);
  if (what == "%ctaid" && is_entry_) return "%sl_ctaid_" + component;
  if (what == "%ctaid") throw Refusal{"a function that it calls reads %ctaid"};
  std::string name = temporary(out, "b32");
  if (what == "%ntid") {
    append(out, fmt::format("mov.u32 {}, {};", name, extents[axis]));
    return name;
  }
  // The threads of a worker are numbered linearly, x fastest, as those of a block.
  append(out, context_.group.thread(name));
  const uint64_t below = axis == 0 ? 1 : axis == 1 ? extents[0] : uint64_t{extents[0]} * extents[1];
  if (below > 1) append(out, divide(name, below));
  if (below * extents[axis] < context_.block.count()) append(out, remainder(name, extents[axis]));
  return name;
}

}  // namespace sluice::megakernel
