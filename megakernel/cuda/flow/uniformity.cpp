#include "megakernel/cuda/flow/uniformity.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "megakernel/cuda/flow/definitions.hpp"
#include "megakernel/cuda/flow/register_constants.hpp"
#include "ptx/visit.hpp"

namespace sluice::megakernel {
namespace {

using ptx::Instruction;
using ptx::Opcode;

// Level says where a value may differ. `linear` is the thread's place in its block, or a bound on
// it that steps at multiples of 32 can be compared with.
enum class Level : uint8_t { same, by_warp, linear, by_thread };

Level join(Level a, Level b) {
  return std::max(a, b);
}

Level seen_by_warps(Level level) {
  return level == Level::linear ? Level::by_thread : level;
}

std::string key_of(const ptx::Identifier& name) {
  return name.component.empty() ? name.name : name.name + "." + name.component;
}

class Analysis {
 public:
  Analysis(const FlowGraph& graph, const ptx::Function& function, const Dim3& block,
           const std::vector<bool>& taken_alike)
      : graph_(graph),
        function_(function),
        block_(block),
        taken_alike_(taken_alike),
        definitions_(graph),
        constants_(graph, block),
        region_(graph.nodes.size(), Level::same),
        at_entry_(graph.nodes.size()) {}

  Divergence run() {
    for (changed_ = true; changed_;) {
      changed_ = false;
      for (size_t node = 0; node < graph_.nodes.size(); ++node) {
        const Level level = pass(node);
        if (level != Level::same) spread(node, level);
      }
    }
    Divergence divergence;
    for (size_t node = 0; node < graph_.nodes.size(); ++node) {
      // Whether threads come here at all may differ, too.
      const Level level = join(pass(node), region_[node]);
      divergence.in_block.push_back(level != Level::same);
      divergence.in_warp.push_back(level == Level::by_thread);
    }
    return divergence;
  }

 private:
  // Levels of registers at one place, by their numbers.
  using Levels = std::vector<Level>;

  // pass() follows the registers through a node to those after it, and returns how threads may
  // differ in the way that they take at its end.
  Level pass(size_t node) {
    levels_ = at_entry_[node];
    levels_.resize(numbers_.size(), Level::same);
    for (const Instruction* instruction : graph_.nodes[node].instructions)
      define(*instruction, region_[node]);
    for (const size_t next : graph_.nodes[node].successors) {
      Levels& known = at_entry_[next];
      known.resize(std::max(known.size(), levels_.size()), Level::same);
      for (size_t i = 0; i < levels_.size(); ++i) {
        if (join(known[i], levels_[i]) == known[i]) continue;
        known[i] = join(known[i], levels_[i]);
        changed_ = true;
      }
    }
    return branch_level(node);
  }

  Level special(const ptx::Identifier& name) const {
    static constexpr std::string_view uniform[] = {"%ntid",  "%ctaid",  "%nctaid", "%smid",
                                                   "%nsmid", "%gridid", "WARP_SZ"};
    for (const std::string_view known : uniform) {
      if (name.name == known) return Level::same;
    }
    if (name.name == "%warpid") return Level::by_warp;
    if (name.name != "%tid") return Level::by_thread;
    const uint32_t extents[] = {block_.x, block_.y, block_.z};
    const size_t axis = name.component == "x" ? 0 : name.component == "y" ? 1 : 2;
    if (extents[axis] == 1) return Level::same;
    if (axis == 0) return block_.y == 1 && block_.z == 1 ? Level::linear : Level::by_thread;
    const uint64_t below = axis == 1 ? block_.x : uint64_t{block_.x} * block_.y;
    return below % 32 == 0 ? Level::by_warp : Level::by_thread;
  }

  Level of_name(const ptx::Identifier& name) const {
    const auto found = numbers_.find(key_of(name));
    if (found != numbers_.end()) {
      return found->second < levels_.size() ? levels_[found->second] : Level::same;
    }
    static constexpr std::string_view registers[] = {"%tid",   "%laneid",      "%lanemask",
                                                     "%clock", "%globaltimer", "%warpid"};
    for (const std::string_view known : registers) {
      if (name.name.starts_with(known)) return special(name);
    }
    return Level::same;  // not defined yet, or a name of a variable
  }

  Level of_operand(const ptx::Operand& operand) const {
    Level level = Level::same;
    ptx::for_each_operand(operand, [&](const ptx::Operand& leaf) {
      if (const auto* name = std::get_if<ptx::Identifier>(&leaf.value)) {
        level = join(level, of_name(*name));
      } else if (const auto* negated = std::get_if<ptx::NotOperand>(&leaf.value)) {
        level = join(level, of_name(negated->predicate));
      } else if (const auto* address = std::get_if<ptx::Address>(&leaf.value)) {
        level = join(level, of_name({address->base, {}}));
      }
    });
    return level;
  }

  // keeps_place() says whether the result is the one operand that is the thread's place.
  bool keeps_place(const Instruction& instruction) const {
    if (!computes_integers(instruction)) return false;
    const auto place = [&](size_t index) {
      return of_operand(instruction.operands[index]) == Level::linear;
    };
    if (instruction.opcode == Opcode::add) {
      return (place(1) && constants_.operand(instruction, 2) == 0u) ||
             (place(2) && constants_.operand(instruction, 1) == 0u);
    }
    return instruction.opcode == Opcode::mad && place(3) && constants_.product_is_zero(instruction);
  }

  // A comparison of the thread's place with a bound between two warps is the same in each warp.
  bool splits_between_warps(const Instruction& setp) const {
    const std::optional<uint64_t> bound = constants_.operand(setp, 2);
    if (!bound) return false;
    const bool below = setp.has_modifier("lt") || setp.has_modifier("ge") ||
                       setp.has_modifier("lo") || setp.has_modifier("hs");
    const bool up_to = setp.has_modifier("le") || setp.has_modifier("gt") ||
                       setp.has_modifier("ls") || setp.has_modifier("hi");
    return (below && *bound % 32 == 0) || (up_to && (*bound + 1) % 32 == 0);
  }

  // Parameters of the kernel are alike in all threads; results of calls lie in the same space.
  bool reads_parameter(const Instruction& load) const {
    const auto* address = load.opcode == Opcode::ld && function_.is_entry
                              ? std::get_if<ptx::Address>(&load.operands.at(1).value)
                              : nullptr;
    if (address == nullptr || !(load.has_modifier("param") || load.has_modifier("param::entry"))) {
      return false;
    }
    const auto& parameters = function_.parameters;
    return address->base.starts_with("%") ||
           std::any_of(parameters.begin(), parameters.end(), [&](const ptx::Variable& parameter) {
             return parameter.name == address->base;
           });
  }

  // Votes and reductions of the whole warp, and what one lane gives to all.
  bool gives_warp_one_value(const Instruction& exchange) const {
    if (exchange.meeting() != ptx::Meeting::lanes ||
        !is_full_mask(exchange.operands.back(), definitions_)) {
      return false;
    }
    if (exchange.info().gives == ptx::Gives::alike) return true;
    return exchange.opcode == Opcode::shfl && exchange.has_modifier("idx") &&
           std::holds_alternative<ptx::Identifier>(exchange.operands[0].value) &&
           seen_by_warps(of_operand(exchange.operands[2])) != Level::by_thread &&
           constants_.operand(exchange, 3) == 31;
  }

  Level of_result(const Instruction& instruction) const {
    const bool is_pure = instruction.info().effect == ptx::Effect::none;
    if (gives_warp_one_value(instruction)) return Level::by_warp;
    if (!is_pure && !reads_parameter(instruction)) return Level::by_thread;
    Level level = Level::same;
    for (size_t i = 1; i < instruction.operands.size(); ++i)
      level = join(level, of_operand(instruction.operands[i]));
    if (instruction.guard) level = join(level, of_name({instruction.guard->predicate, {}}));
    if (level != Level::linear) return level;
    if (instruction.opcode == Opcode::mov || instruction.opcode == Opcode::cvt) return level;
    if (keeps_place(instruction)) return level;
    if (instruction.opcode == Opcode::setp && splits_between_warps(instruction))
      return Level::by_warp;
    if (instruction.opcode == Opcode::shr && constants_.operand(instruction, 2).value_or(0) >= 5) {
      return Level::by_warp;
    }
    if (instruction.opcode == Opcode::and_ &&
        constants_.operand(instruction, 2).value_or(1) % 32 == 0) {
      return Level::by_warp;
    }
    return Level::by_thread;
  }

  // set() gives a register its level; under a guard it may keep what it had.
  void set(const std::string& name, Level level, bool is_guarded) {
    const size_t number = numbers_.emplace(name, numbers_.size()).first->second;
    if (number >= levels_.size()) levels_.resize(number + 1, Level::same);
    levels_[number] = is_guarded ? join(levels_[number], level) : level;
  }

  // define() sets the levels of what the instruction writes. Local memory of calls (st.param) is
  // not followed: results of calls count as divergent.
  void define(const Instruction& instruction, Level region) {
    const Level level = join(of_result(instruction), seen_by_warps(region));
    ptx::for_each_destination(instruction, [&](const std::string& name) {
      set(name, level, instruction.guard.has_value());
    });
  }

  Level branch_level(size_t node) const {
    const auto& here = graph_.nodes[node];
    if (here.successors.size() < 2) return Level::same;
    if (!taken_alike_.empty() && taken_alike_[node]) return Level::same;
    const Instruction& last = *here.instructions.back();
    Level level = Level::same;
    if (last.guard) level = join(level, of_name({last.guard->predicate, {}}));
    if (last.opcode == Opcode::brx) level = join(level, of_operand(last.operands[0]));
    return seen_by_warps(level);
  }

  // spread() marks the nodes that threads may reach apart: those between a divergent branch and
  // where its ways meet again.
  void spread(size_t node, Level level) {
    std::vector<size_t> pending = graph_.nodes[node].successors;
    const size_t stop = graph_.nodes[node].rejoin;
    std::vector<bool> seen(graph_.nodes.size(), false);
    while (!pending.empty()) {
      const size_t current = pending.back();
      pending.pop_back();
      if (current == stop || seen[current]) continue;
      seen[current] = true;
      if (join(region_[current], level) != region_[current]) {
        region_[current] = join(region_[current], level);
        changed_ = true;
      }
      const auto& next = graph_.nodes[current].successors;
      pending.insert(pending.end(), next.begin(), next.end());
    }
  }

  const FlowGraph& graph_;
  const ptx::Function& function_;
  const Dim3 block_;
  const std::vector<bool>& taken_alike_;
  const Definitions definitions_;
  const RegisterConstants constants_;
  std::vector<Level> region_;
  std::map<std::string, size_t> numbers_;  // of registers, as they are met
  std::vector<Levels> at_entry_;           // of the nodes
  Levels levels_;                          // where pass() is
  bool changed_ = false;
};

}  // namespace

Divergence find_divergence(const FlowGraph& graph, const ptx::Function& function, const Dim3& block,
                           const std::vector<bool>& taken_alike) {
  return Analysis(graph, function, block, taken_alike).run();
}

}  // namespace sluice::megakernel
