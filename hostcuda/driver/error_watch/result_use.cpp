#include "hostcuda/driver/error_watch/result_use.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

namespace sluice::hostcuda {
namespace {

using namespace llvm;

// Instructions; who has not looked by then keeps the value, or the code is followed wrongly.
constexpr size_t most_steps = 1024;

// Step is what one instruction does to the result.
struct Step {
  enum class To { go_on, reads, drops, returns };
  To to = To::go_on;
  uint64_t size = 0;
  std::optional<uint64_t> branches_to = {};  // it may go on there
  bool falls_through = true;                 // it may go on behind itself
};

// X86 takes instructions apart. Not thread-safe.
class X86 {
 public:
  X86();
  // step() is nothing where no instruction begins.
  std::optional<Step> step(uint64_t address);

 private:
  bool is_result(MCRegister reg) const {
    return reg.isValid() && registers_->regsOverlap(reg, result_);
  }
  bool is_result(const MCOperand& operand) const {
    return operand.isReg() && is_result(operand.getReg());
  }
  bool reads(const MCInst& instruction, StringRef name) const;
  bool writes(const MCInst& instruction) const;
  Step branch(const MCInst& instruction, uint64_t address, uint64_t size) const;

  std::unique_ptr<MCRegisterInfo> registers_;
  std::unique_ptr<MCAsmInfo> assembly_;
  std::unique_ptr<MCSubtargetInfo> processor_;
  std::unique_ptr<MCInstrInfo> instructions_;
  std::unique_ptr<MCInstrAnalysis> branches_;
  std::unique_ptr<MCContext> context_;
  std::unique_ptr<MCDisassembler> disassembler_;
  MCRegister result_;
};

X86::X86() {
  InitializeNativeTarget();
  InitializeNativeTargetDisassembler();
  const Triple triple(sys::getProcessTriple());
  std::string error;
  const Target* const target = TargetRegistry::lookupTarget(triple.str(), error);
  if (target == nullptr || triple.getArch() != Triple::x86_64) return;
  registers_.reset(target->createMCRegInfo(triple.str()));
  assembly_.reset(target->createMCAsmInfo(*registers_, triple.str(), {}));
  processor_.reset(target->createMCSubtargetInfo(triple.str(), "", ""));
  instructions_.reset(target->createMCInstrInfo());
  branches_.reset(target->createMCInstrAnalysis(instructions_.get()));
  context_ =
      std::make_unique<MCContext>(triple, assembly_.get(), registers_.get(), processor_.get());
  disassembler_.reset(target->createMCDisassembler(*processor_, *context_));
  for (unsigned number = 1; number < registers_->getNumRegs(); ++number)
    if (StringRef(registers_->getName(number)) == "RAX") result_ = number;
}

// readable_from() is the code from an address to the end of its program or library.
ArrayRef<uint8_t> readable_from(uint64_t address) {
  constexpr uint64_t longest = 15;                          // bytes of an instruction
  auto* const place = reinterpret_cast<uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
  dl_find_object found = {};
  if (_dl_find_object(place, &found) != 0) return {};
  const auto* const end = static_cast<const uint8_t*>(found.dlfo_map_end);
  return {place, std::min<size_t>(end - place, longest)};
}

bool X86::reads(const MCInst& instruction, StringRef name) const {
  const MCInstrDesc& form = instructions_->get(instruction.getOpcode());
  // What only fills up, keeps the stack aligned, or makes zero whatever was there.
  if (name.starts_with("NOOP") || name == "PUSH64r") return false;
  const unsigned count = instruction.getNumOperands();
  const bool is_zero = (name.starts_with("XOR") || name.starts_with("SUB")) && count == 3 &&
                       instruction.getOperand(2).isReg() &&
                       instruction.getOperand(1).getReg() == instruction.getOperand(2).getReg();
  if (is_zero) return false;
  for (unsigned i = form.getNumDefs(); i < count; ++i)
    if (is_result(instruction.getOperand(i))) return true;
  return any_of(form.implicit_uses(), [&](MCPhysReg reg) { return is_result(MCRegister(reg)); });
}

bool X86::writes(const MCInst& instruction) const {
  const MCInstrDesc& form = instructions_->get(instruction.getOpcode());
  for (unsigned i = 0; i < form.getNumDefs(); ++i)
    if (is_result(instruction.getOperand(i))) return true;
  return any_of(form.implicit_defs(), [&](MCPhysReg reg) { return is_result(MCRegister(reg)); });
}

Step X86::branch(const MCInst& instruction, uint64_t address, uint64_t size) const {
  const MCInstrDesc& form = instructions_->get(instruction.getOpcode());
  Step step{.size = size, .falls_through = form.isConditionalBranch()};
  uint64_t target = 0;
  if (!form.isIndirectBranch() && branches_->evaluateBranch(instruction, address, size, target)) {
    step.branches_to = target;
  } else {
    // Through a table of addresses beside the code another function begins; else it is a switch.
    const bool is_other =
        branches_->evaluateMemoryOperandAddress(instruction, processor_.get(), address, size)
            .has_value();
    step.to = is_other ? Step::To::drops : Step::To::reads;
  }
  return step;
}

std::optional<Step> X86::step(uint64_t address) {
  if (disassembler_ == nullptr) return std::nullopt;
  MCInst instruction;
  uint64_t size = 0;
  const ArrayRef<uint8_t> code = readable_from(address);
  if (disassembler_->getInstruction(instruction, size, code, address, nulls()) !=
      MCDisassembler::Success)
    return std::nullopt;
  const MCInstrDesc& form = instructions_->get(instruction.getOpcode());
  if (reads(instruction, instructions_->getName(instruction.getOpcode())))
    return Step{.to = Step::To::reads};
  if (form.isReturn()) return Step{.to = Step::To::returns};
  if (form.isCall() || form.isTrap() || writes(instruction)) return Step{.to = Step::To::drops};
  if (form.isBranch()) return branch(instruction, address, size);
  return Step{.size = size};
}

// Place is an instruction, and how many of those who called have been returned to.
using Place = std::pair<uint64_t, size_t>;

}  // namespace

bool is_result_dropped(std::span<void* const> returns) {
  static auto* const one_at_a_time = new std::mutex;
  const std::lock_guard lock(*one_at_a_time);
  static auto* const x86 = new X86;
  std::set<Place> seen;
  std::vector<Place> to_come;
  const auto returned_to = [&](size_t caller) {
    if (caller >= returns.size()) return false;
    to_come.emplace_back(reinterpret_cast<uint64_t>(returns[caller]), caller);
    return true;
  };
  if (!returned_to(0)) return false;
  while (!to_come.empty()) {
    const auto [address, caller] = to_come.back();
    to_come.pop_back();
    if (!seen.insert({address, caller}).second) continue;
    const std::optional<Step> step = seen.size() > most_steps ? std::nullopt : x86->step(address);
    if (!step || step->to == Step::To::reads) return false;
    if (step->to == Step::To::returns && !returned_to(caller + 1)) return false;
    if (step->to != Step::To::go_on) continue;
    if (step->branches_to) to_come.emplace_back(*step->branches_to, caller);
    if (step->falls_through) to_come.emplace_back(address + step->size, caller);
  }
  return true;
}

}  // namespace sluice::hostcuda
