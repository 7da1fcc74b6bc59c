#include "megakernel/cuda/rewrite/function_rewriter.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "megakernel/cuda/flow/flow.hpp"
#include "megakernel/cuda/rewrite/block_loop.hpp"
#include "megakernel/cuda/rewrite/body_end.hpp"
#include "megakernel/cuda/rewrite/lane_meeting.hpp"
#include "megakernel/cuda/rewrite/operand_rewriter.hpp"
#include "megakernel/cuda/rewrite/statements.hpp"
#include "megakernel/cuda/worker_memory.h"

namespace sluice::megakernel {
namespace {

using ptx::Block;
using ptx::Identifier;
using ptx::Instruction;
using ptx::Meeting;
using ptx::Opcode;
using ptx::Operand;
using ptx::Statement;

class Rewriter {
 public:
  Rewriter(const RewriteContext& context, const ptx::Function& function)
      : context_(context),
        source_(function),
        operands_(context, function.is_entry),
        meeting_(context),
        end_(context, function.body) {}

  ptx::Function run() {
    ptx::Function result = source_;
    result.is_entry = false;
    result.linkage = "";
    result.name = context_.prefix + source_.name;
    check_attributes();
    result.attributes.clear();
    result.body.statements.clear();
    context_.group.open(result.body);
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
  uint64_t whole_warps() const { return context_.whole_warps(); }

  bool meets_lanes() const { return !context_.exchanges_past_ends.empty(); }

  // Threads beyond the block's skip the body. Those that share a warp with threads of the block
  // are there while it opens.
  void open_body(ptx::Function& body) {
    body.parameters.clear();
    for (const char* axis : {"x", "y", "z"}) {
      ptx::Variable parameter;
      parameter.space = ptx::StateSpace::param;
      parameter.type = ptx::ScalarType::b32;
      parameter.name = fmt::format("sluice_ctaid_{}", axis);
      body.parameters.push_back(std::move(parameter));
    }
    append(body.body, read_place());
    append(body.body, ".reg .b32 %sl_thread;");
    append(body.body, ".reg .pred %sl_beyond;");
    append(body.body, context_.group.thread("%sl_thread"));
    if ((context_.drops_out || meets_lanes()) && whole_warps() != threads()) {
      append(body.body, fmt::format("setp.ge.u32 %sl_beyond, %sl_thread, {};", whole_warps()));
      append(body.body, "@%sl_beyond ret;");
    }
    append(body.body, fmt::format("setp.ge.u32 %sl_beyond, %sl_thread, {};", threads()));
    if (whole_warps() == threads()) append(body.body, "@%sl_beyond ret;");
    if (meets_lanes()) meeting_.open(body.body, threads());
    end_.open(body.body);
    if (whole_warps() != threads()) append(body.body, "@%sl_beyond ret;");
    if (context_.loops) append(body.body, open_blocks(context_.group.threads_apart()));
  }

  void close_body(Block& body) const {
    if (context_.loops) {
      append(body, close_blocks(context_.group.threads_apart(), ""));
    } else {
      end_.write(body, std::nullopt);
    }
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
    if (instruction.meeting() == Meeting::block)
      return rewrite_barrier(std::move(instruction), out);
    if (instruction.opcode == Opcode::exit && !source_.is_entry) {
      throw Refusal{"a function that it calls ends the thread"};
    }
    if (source_.is_entry && end_.is_end(instruction)) return end_.write(out, instruction.guard);
    if (instruction.opcode == Opcode::call) rename_callee(instruction);
    operands_.rewrite(instruction, out);
    rewrite_spaces(instruction);
    if (is_past_ends) return meeting_.meet(out, std::move(instruction));
    out.statements.emplace_back(std::move(instruction));
  }

  void check_known(const Instruction& instruction) const {
    if (instruction.info().meeting != instruction.meeting() &&
        instruction.meeting() == Meeting::none) {
      throw Refusal{"its lanes exchange values without .sync"};
    }
    const bool is_plain_copy = instruction.has_modifier("async") &&
                               !instruction.has_modifier("bulk") &&
                               !instruction.has_modifier("mbarrier");
    if (instruction.opcode != Opcode::unknown &&
        (instruction.opcode != Opcode::cp || is_plain_copy)) {
      return;
    }
    throw Refusal{
        fmt::format("instruction {} is not known to the rewriter", instruction.opcode_name())};
  }

  // Barrier k of a block that has the worker for itself becomes barrier k + 1: the scheduler's own
  // is 0, at which the worker's other warps wait already.
  void rewrite_barrier(Instruction barrier, Block& out) {
    const bool reduces = barrier.has_modifier("red");
    const bool arrives = barrier.has_modifier("arrive");
    const ptx::IntegerLiteral* const id = barrier_id(barrier);
    if (id == nullptr) throw Refusal{"it has a barrier whose number is in a register"};
    if (id->bits >= 15) throw Refusal{"it uses all 16 barriers, one of which is the scheduler's"};
    const size_t plain_operands = reduces ? 3 : 1;
    const bool counted = barrier.operands.size() > plain_operands;
    if (context_.drops_out) {
      if (reduces || arrives || counted || id->bits != 0 || barrier.guard) {
        throw Refusal{"threads end before a barrier that counts, reduces or is not the first"};
      }
      end_.meet(out);
      return;
    }
    if (!counted) {
      const auto behind_id = static_cast<std::ptrdiff_t>(place_of_barrier_id(barrier)) + 1;
      barrier.operands.insert(barrier.operands.begin() + behind_id,
                              Operand{ptx::IntegerLiteral{whole_warps(), false}});
    }
    context_.group.meet(std::move(barrier), out);
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

  // Parameters of the kernel now lie in shared memory, constants at their global addresses, and
  // nothing that a task of the same launch may have written is read as non-coherent.
  void rewrite_spaces(Instruction& instruction) const {
    auto& modifiers = instruction.modifiers;
    const auto replace = [&](std::string_view from, const char* to) {
      for (std::string& modifier : modifiers) {
        if (modifier == from) modifier = to;
      }
    };
    if (instruction.opcode == Opcode::ldu) instruction.opcode = Opcode::ld;
    if (instruction.opcode == Opcode::ld) std::erase(modifiers, "nc");
    if (instruction.opcode == Opcode::ld && source_.is_entry && reads_parameter(instruction)) {
      replace("param", "shared");
      replace("param::entry", "shared");
    }
    if (instruction.opcode == Opcode::cvta &&
        (instruction.has_modifier("const") || instruction.has_modifier("global"))) {
      instruction.opcode = Opcode::mov;
      modifiers = {"b64"};
    } else if (instruction.opcode == Opcode::cvta && instruction.has_modifier("param")) {
      replace("param", "shared");
    } else if (instruction.opcode == Opcode::isspacep &&
               (instruction.has_modifier("const") || instruction.has_modifier("param"))) {
      throw Refusal{"it asks whether an address is a constant's or a parameter's"};
    } else if (instruction.opcode == Opcode::ld || instruction.opcode == Opcode::prefetch) {
      replace("const", "global");
    }
  }

  static bool reads_parameter(const Instruction& load) {
    const auto* address = std::get_if<ptx::Address>(&load.operands.at(1).value);
    return address != nullptr && (address->base == SLUICE_POOL || address->base.starts_with("%"));
  }

  const RewriteContext& context_;
  const ptx::Function& source_;
  OperandRewriter operands_;
  LaneMeeting meeting_;
  BodyEnd end_;
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
