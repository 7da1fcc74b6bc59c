#include "megakernel/cuda/function_rewriter.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "megakernel/cuda/flow.hpp"
#include "megakernel/cuda/lane_meeting.hpp"
#include "megakernel/cuda/operands.hpp"
#include "megakernel/cuda/statements.hpp"
#include "megakernel/cuda/worker_memory.h"
#include "ptx/instruction_table.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Block;
using ptx::Identifier;
using ptx::Instruction;
using ptx::Operand;
using ptx::Statement;

constexpr const char* end_label = "$sluice_end";
constexpr const char* drain_label = "$sluice_drain";

// Refusal is thrown inside this file only.
struct Refusal {
  std::string reason;
};

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Registers that mean the same in a worker, whose threads are numbered as the block's are.
constexpr std::array<std::string_view, 15> kept_registers = {
    "%laneid",      "%smid",        "%nsmid",          "%lanemask_eq",    "%lanemask_le",
    "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",    "%clock",          "%clock_hi",
    "%clock64",     "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%warpid"};

// Registers that mean the launch or the hardware's view of it, which a task does not have.
constexpr std::array<std::string_view, 8> refused_registers = {"%gridid",
                                                               "%nwarpid",
                                                               "%total_smem_size",
                                                               "%aggr_smem_size",
                                                               "%is_explicit_cluster",
                                                               "%reserved_smem_offset_begin",
                                                               "%cluster_ctaid",
                                                               "%clusterid"};

// Instructions of the table, and those that move data without naming anything of the launch.
constexpr std::array<std::string_view, 8> known_beyond_table = {
    "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix", "prefetchu", "fns", "vabsdiff4"};

class Rewriter {
 public:
  Rewriter(const RewriteContext& context, const ptx::Function& function)
      : context_(context), source_(function), meeting_(context.places.lane_states()) {}

  ptx::Function run() {
    ptx::Function result = source_;
    result.is_entry = false;
    result.linkage = "";
    result.name = context_.prefix + source_.name;
    check_attributes();
    result.attributes.clear();
    result.body.statements.clear();
    if (meets_lanes()) LaneMeeting::declare(result.body);
    if (source_.is_entry) open_body(result);
    rewrite_block(source_.body, result.body);
    if (source_.is_entry) close_body(result.body);
    return result;
  }

 private:
  void check_attributes() const {
    for (const ptx::Directive& attribute : source_.attributes) {
      if (attribute.name.find("cluster") != std::string::npos) {
        throw Refusal{"it runs in clusters of blocks"};
      }
    }
  }

  uint64_t threads() const { return context_.block.count(); }
  uint64_t whole_warps() const { return (threads() + 31) / 32 * 32; }

  bool meets_lanes() const { return !context_.exchanges_past_ends.empty(); }

  // Threads beyond the block's skip the body: at once, or by way of the drain loop where they
  // share a warp with threads that meet at barriers.
  void open_body(ptx::Function& body) {
    body.parameters.clear();
    for (const char* axis : {"x", "y", "z"}) {
      ptx::Variable parameter;
      parameter.space = ptx::StateSpace::param;
      parameter.type = ptx::ScalarType::b32;
      parameter.name = fmt::format("sluice_ctaid_{}", axis);
      body.parameters.push_back(std::move(parameter));
      append(body.body, fmt::format(".reg .b32 %sl_ctaid_{};", axis));
      append(body.body, fmt::format("ld.param.u32 %sl_ctaid_{0}, [sluice_ctaid_{0}];", axis));
    }
    append(body.body, ".reg .b32 %sl_thread;");
    append(body.body, ".reg .pred %sl_beyond;");
    append(body.body, ".reg .pred %sl_alive;");
    append(body.body, "mov.u32 %sl_thread, %tid.x;");
    if ((context_.drains || meets_lanes()) && whole_warps() != threads()) {
      append(body.body, fmt::format("setp.ge.u32 %sl_beyond, %sl_thread, {};", whole_warps()));
      append(body.body, "@%sl_beyond ret;");
    }
    append(body.body, fmt::format("setp.ge.u32 %sl_beyond, %sl_thread, {};", threads()));
    if (meets_lanes() && whole_warps() == threads()) append(body.body, "@%sl_beyond ret;");
    if (meets_lanes()) meeting_.open(body.body, threads());
    if (meets_lanes() && whole_warps() == threads()) return;
    if (context_.drains) {
      append(body.body, fmt::format("@%sl_beyond bra {};", end_label));
    } else {
      append(body.body, "@%sl_beyond ret;");
    }
  }

  void close_body(Block& out) {
    out.statements.emplace_back(ptx::Label{end_label, {}});
    if (meets_lanes()) meeting_.close(out);
    if (context_.drains) out.statements.emplace_back(ptx::Label{drain_label, {}});
    if (uses_async_copies_) append(out, "cp.async.wait_all;");
    if (context_.drains) {
      append(out, "setp.ne.u32 %sl_beyond, %sl_thread, %sl_thread;");
      append(out, fmt::format("barrier.red.or.pred %sl_alive, 1, {}, %sl_beyond;", whole_warps()));
      append(out, fmt::format("@%sl_alive bra {};", drain_label));
    }
    append(out, "ret;");
  }

  void rewrite_block(const Block& in, Block& out) {
    for (const Statement& statement : in.statements) {
      if (const auto* inner = std::get_if<Block>(&statement)) {
        Block nested;
        rewrite_block(*inner, nested);
        out.statements.emplace_back(std::move(nested));
      } else if (const auto* variable = std::get_if<ptx::Variable>(&statement)) {
        if (variable->space != ptx::StateSpace::shared) out.statements.push_back(statement);
      } else if (const auto* directive = std::get_if<ptx::Directive>(&statement)) {
        if (directive->name != "loc") out.statements.push_back(statement);
      } else if (const auto* instruction = std::get_if<Instruction>(&statement)) {
        try {
          rewrite_instruction(*instruction, context_.exchanges_past_ends.contains(instruction),
                              out);
        } catch (Refusal& refusal) {
          refusal.reason += fmt::format(" (PTX line {})", instruction->location.line);
          throw;
        }
      } else {
        out.statements.push_back(statement);
      }
    }
  }

  void rewrite_instruction(Instruction instruction, bool is_past_ends, Block& out) {
    check_known(instruction);
    if (is_block_barrier(instruction)) return rewrite_barrier(std::move(instruction), out);
    if (instruction.opcode == "exit" && !source_.is_entry) {
      throw Refusal{"a function that it calls ends the thread"};
    }
    if (source_.is_entry && (instruction.opcode == "ret" || instruction.opcode == "exit")) {
      instruction.opcode = "bra";
      instruction.modifiers.clear();
      instruction.operands = {Operand{Identifier{end_label, {}}}};
      out.statements.emplace_back(std::move(instruction));
      return;
    }
    if (instruction.opcode == "cp") uses_async_copies_ = true;
    if (instruction.opcode == "call") rename_callee(instruction);
    rewrite_operands(instruction, out);
    rewrite_spaces(instruction);
    if (is_past_ends) return meeting_.meet(out, std::move(instruction));
    out.statements.emplace_back(std::move(instruction));
  }

  void check_known(const Instruction& instruction) const {
    if (instruction.opcode == "cp") {
      const bool plain = instruction.has_modifier("async") && !instruction.has_modifier("bulk") &&
                         !instruction.has_modifier("mbarrier");
      if (plain) return;
    } else if (ptx::find_instruction(instruction.opcode) != nullptr ||
               is_one_of(instruction.opcode, known_beyond_table)) {
      return;
    }
    throw Refusal{"instruction " + instruction.opcode + " is not known to the rewriter"};
  }

  // Barrier k of the block becomes barrier k + 1: the scheduler's own is 0, at which the worker's
  // other warps wait already.
  void rewrite_barrier(Instruction barrier, Block& out) {
    const bool reduces = barrier.has_modifier("red");
    const bool arrives = barrier.has_modifier("arrive");
    const size_t id_at = reduces ? 1 : 0;
    const auto* id = barrier.operands.size() > id_at
                         ? std::get_if<ptx::IntegerLiteral>(&barrier.operands[id_at].value)
                         : nullptr;
    if (id == nullptr) throw Refusal{"it has a barrier whose number is in a register"};
    if (id->bits >= 15) throw Refusal{"it uses all 16 barriers, one of which is the scheduler's"};
    const size_t plain_operands = reduces ? 3 : 1;
    const bool counted = barrier.operands.size() > plain_operands;
    if (context_.drains) {
      if (reduces || arrives || counted || id->bits != 0 || barrier.guard) {
        throw Refusal{"threads end before a barrier that counts, reduces or is not the first"};
      }
      append(out, "setp.eq.u32 %sl_alive, %sl_thread, %sl_thread;");
      append(out, fmt::format("barrier.red.or.pred %sl_alive, 1, {}, %sl_alive;", whole_warps()));
      return;
    }
    barrier.operands[id_at] = Operand{ptx::IntegerLiteral{id->bits + 1, false}};
    if (!counted) {
      barrier.operands.insert(barrier.operands.begin() + static_cast<std::ptrdiff_t>(id_at) + 1,
                              Operand{ptx::IntegerLiteral{whole_warps(), false}});
    }
    out.statements.emplace_back(std::move(barrier));
  }

  void rename_callee(Instruction& call) const {
    const std::string name(called_function(call));
    const ptx::Function* callee = name.empty() ? nullptr : context_.module.find_function(name);
    if (callee == nullptr) throw Refusal{"it calls a function through a pointer"};
    if (!callee->is_definition) return;
    for (Operand& operand : call.operands) {
      auto* identifier = std::get_if<Identifier>(&operand.value);
      if (identifier == nullptr) continue;
      identifier->name = context_.prefix + name;
      return;
    }
  }

  std::string temporary(Block& out, const char* type) {
    std::string name = fmt::format("%sl_{}", temporaries_++);
    append(out, fmt::format(".reg .{} {};", type, name));
    return name;
  }

  void rewrite_operands(Instruction& instruction, Block& out) {
    for (Operand& operand : instruction.operands) {
      for_each_operand(operand, [&](Operand& leaf) {
        if (auto* name = std::get_if<Identifier>(&leaf.value)) {
          rewrite_name(*name, leaf, out);
        } else if (auto* address = std::get_if<ptx::Address>(&leaf.value)) {
          rewrite_address(*address, instruction, out);
        } else if (auto* offset = std::get_if<ptx::Offset>(&leaf.value)) {
          rewrite_offset(*offset, leaf, out);
        }
      });
    }
  }

  void rewrite_name(const Identifier& name, Operand& leaf, Block& out) {
    if (name.name.starts_with("%")) return rewrite_register(name, leaf, out);
    if (const auto offset = context_.places.pool_offset(name.name, source_.is_entry)) {
      leaf = Operand{ptx::Offset{SLUICE_POOL, *offset}};
    } else if (context_.places.address_offset(name.name)) {
      leaf = Operand{Identifier{load_address(name.name, out), {}}};
    } else if (const ptx::Function* function = context_.module.find_function(name.name);
               function != nullptr && function->is_definition) {
      throw Refusal{"it takes the address of a function"};
    }
  }

  void rewrite_offset(ptx::Offset& offset, Operand& leaf, Block& out) {
    if (const auto place = context_.places.pool_offset(offset.name, source_.is_entry)) {
      offset.name = SLUICE_POOL;
      offset.bytes += *place;
    } else if (context_.places.address_offset(offset.name)) {
      const std::string base = load_address(offset.name, out);
      append(out, fmt::format("add.s64 {0}, {0}, {1};", base, offset.bytes));
      leaf = Operand{Identifier{base, {}}};
    }
  }

  void rewrite_address(ptx::Address& address, const Instruction& instruction, Block& out) {
    const bool is_register = address.base.starts_with("%");
    if (is_register) return;
    if (const auto place = context_.places.pool_offset(address.base, source_.is_entry)) {
      if (context_.places.is_parameter(address.base) && instruction.opcode != "ld") {
        throw Refusal{"it writes to a parameter"};
      }
      address.base = SLUICE_POOL;
      address.bytes += *place;
    } else if (context_.places.address_offset(address.base)) {
      address.base = load_address(address.base, out);
    }
  }

  std::string load_address(const std::string& variable, Block& out) {
    std::string name = temporary(out, "b64");
    append(out, fmt::format("ld.shared.u64 {}, [" SLUICE_POOL "+{}];", name,
                            *context_.places.address_offset(variable)));
    return name;
  }

  void rewrite_register(const Identifier& name, Operand& leaf, Block& out) {
    const bool is_extent = name.name == "%ntid" || name.name == "%nctaid";
    const bool is_place = name.name == "%tid" || name.name == "%ctaid";
    if (is_extent || is_place) {
      if (name.component != "x" && name.component != "y" && name.component != "z") {
        throw Refusal{"it reads " + name.name + " as a vector"};
      }
      leaf = Operand{Identifier{position(name.name, name.component, out), {}}};
    } else if (name.name == "%dynamic_smem_size") {
      leaf = Operand{Identifier{load_control(SLUICE_CONTROL_DYNAMIC_SHARED, out), {}}};
    } else if (is_one_of(name.name, refused_registers) || name.name.starts_with("%envreg") ||
               name.name.starts_with("%cluster") || name.name.starts_with("%pm")) {
      throw Refusal{"it reads " + name.name};
    }
  }

  std::string load_control(uint32_t offset, Block& out) {
    std::string name = temporary(out, "b32");
    append(out, fmt::format("ld.shared.u32 {}, [" SLUICE_POOL "+{}];", name, offset));
    return name;
  }

  std::string position(std::string_view what, const std::string& component, Block& out) {
    const uint32_t axis = static_cast<uint32_t>(component[0] - 'x');
    const uint32_t extents[] = {context_.block.x, context_.block.y, context_.block.z};
    if (what == "%nctaid") return load_control(SLUICE_CONTROL_NCTAID + 4 * axis, out);
    if (what == "%ctaid" && source_.is_entry) return "%sl_ctaid_" + component;
    if (what == "%ctaid") throw Refusal{"a function that it calls reads %ctaid"};
    std::string name = temporary(out, "b32");
    if (what == "%ntid") {
      append(out, fmt::format("mov.u32 {}, {};", name, extents[axis]));
      return name;
    }
    // The threads of a worker are numbered linearly, x fastest, as those of a block.
    append(out, fmt::format("mov.u32 {}, %tid.x;", name));
    const uint64_t below = axis == 0   ? 1
                           : axis == 1 ? extents[0]
                                       : uint64_t{extents[0]} * extents[1];
    if (below > 1) append(out, fmt::format("div.u32 {0}, {0}, {1};", name, below));
    if (below * extents[axis] < threads()) {
      append(out, fmt::format("rem.u32 {0}, {0}, {1};", name, extents[axis]));
    }
    return name;
  }

  // Parameters of the kernel now lie in shared memory, constants at their global addresses, and
  // nothing that a task of the same launch may have written is read as non-coherent.
  void rewrite_spaces(Instruction& instruction) const {
    auto& modifiers = instruction.modifiers;
    const auto replace = [&](std::string_view from, const char* to) {
      for (std::string& modifier : modifiers) {
        if (modifier == from) modifier = to;
      }
    };
    if (instruction.opcode == "ldu") instruction.opcode = "ld";
    if (instruction.opcode == "ld") std::erase(modifiers, "nc");
    if (instruction.opcode == "ld" && source_.is_entry && reads_parameter(instruction)) {
      replace("param", "shared");
      replace("param::entry", "shared");
    }
    if (instruction.opcode == "cvta" &&
        (instruction.has_modifier("const") || instruction.has_modifier("global"))) {
      instruction.opcode = "mov";
      modifiers = {"b64"};
    } else if (instruction.opcode == "cvta" && instruction.has_modifier("param")) {
      replace("param", "shared");
    } else if (instruction.opcode == "isspacep" &&
               (instruction.has_modifier("const") || instruction.has_modifier("param"))) {
      throw Refusal{"it asks whether an address is a constant's or a parameter's"};
    } else if (instruction.opcode == "ld" || instruction.opcode == "prefetch") {
      replace("const", "global");
    }
  }

  static bool reads_parameter(const Instruction& load) {
    const auto* address = std::get_if<ptx::Address>(&load.operands.at(1).value);
    return address != nullptr && (address->base == SLUICE_POOL || address->base.starts_with("%"));
  }

  const RewriteContext& context_;
  const ptx::Function& source_;
  LaneMeeting meeting_;
  unsigned temporaries_ = 0;
  bool uses_async_copies_ = false;
};

}  // namespace

Result<ptx::Function> rewrite_function(const RewriteContext& context,
                                       const ptx::Function& function) {
  try {
    return Rewriter(context, function).run();
  } catch (const Refusal& refusal) {
    return unsupported(refusal.reason, "kernel code " + function.name,
                       "its launches run as they would without Sluice");
  }
}

}  // namespace sluice::megakernel
