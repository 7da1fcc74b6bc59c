#include "analysis/kernel/address_bases.hpp"

#include <algorithm>

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include "ptx/lift.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

// NVVM's address spaces.
constexpr unsigned global_space = 1, constant_space = 4;

bool is_candidate(const SlotValue& slot) {
  return slot.slot.size == 8 && slot.value->getType()->isIntegerTy(64);
}

bool is_definite(const Root& root) {
  return root.kind != Root::Kind::loaded;
}

// carries_addresses() is true of the types that lifted code computes addresses in. Through a value
// of another type, such as the double of a pair of registers, no address is followed.
bool carries_addresses(const Value& value) {
  return value.getType()->isIntegerTy(64) || value.getType()->isPointerTy();
}

// offset_opcode() is the operation of an expression that moves a pointer, 0 for any other.
unsigned moving_opcode(Value* value) {
  auto* user = dyn_cast<Operator>(value);
  if (user == nullptr) return 0;
  switch (user->getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::PHI:
    case Instruction::Select:
    case Instruction::Freeze:
      return user->getOpcode();
    case Instruction::Or:
      return cast<PossiblyDisjointInst>(user)->isDisjoint() ? Instruction::Add : 0;
    default:
      return 0;
  }
}

Root root_of_variable(const GlobalVariable& variable) {
  const unsigned space = variable.getAddressSpace();
  if (space == constant_space || variable.isConstant()) return {Root::Kind::constant_space, 0, {}};
  if (space > global_space) return {Root::Kind::block_private, 0, {}};
  return {Root::Kind::module_variable, 0, variable.getName().str()};
}

}  // namespace

llvm::Value* strip_address_casts(llvm::Value* address) {
  while (auto* user = dyn_cast<Operator>(address)) {
    const unsigned opcode = user->getOpcode();
    if (opcode != Instruction::IntToPtr && opcode != Instruction::PtrToInt &&
        opcode != Instruction::AddrSpaceCast && opcode != Instruction::BitCast) {
      break;
    }
    address = user->getOperand(0);
  }
  return address;
}

AddressBases::AddressBases(llvm::Function& kernel, const std::vector<SlotValue>& slots)
    : slots_(slots) {
  for (uint32_t i = 0; i < slots.size(); ++i) {
    if (is_candidate(slots[i])) slot_of_[slots[i].value] = i;
  }
  ReversePostOrderTraversal<Function*> order(&kernel);
  bool changed = true;
  while (changed) {
    changed = false;
    for (BasicBlock* block : order) {
      for (Instruction& instruction : *block) {
        if (!carries_addresses(instruction)) continue;
        Roots now = evaluate(&instruction);
        Roots& before = roots_[&instruction];
        // Sets only grow, so that the fixed point is reached.
        now.insert(before.begin(), before.end());
        if (now != before) {
          before = std::move(now);
          changed = true;
        }
      }
    }
  }
}

Roots AddressBases::roots(llvm::Value* address) const {
  address = strip_address_casts(address);
  if (isa<Constant>(address) && !isa<GlobalValue>(address) && moving_opcode(address) == 0) {
    return {Root{Root::Kind::absolute, 0, {}}};
  }
  Roots found = evaluate(address);
  if (found.empty()) found.insert({Root::Kind::ambiguous, 0, {}});
  return found;
}

Roots AddressBases::sum(llvm::Value* a, llvm::Value* b) const {
  Roots left = known(a), right = known(b);
  if (left.empty()) return right;
  if (right.empty()) return left;
  // Both may be addresses, or one is a size or a loaded index: the PTX may have said which.
  if (is_pointer(left) && !is_certainly_address(right)) return left;
  if (is_pointer(right) && !is_certainly_address(left)) return right;
  const auto all_loaded = [](const Roots& roots) { return none_of(roots, is_definite); };
  const bool both_loaded = all_loaded(left) && all_loaded(right);
  left.merge(right);
  if (!both_loaded) left.insert({Root::Kind::ambiguous, 0, {}});
  return left;
}

// is_pointer() is true of what cannot be a mere number.
bool AddressBases::is_pointer(const Roots& roots) const {
  return all_of(roots, [&](const Root& root) {
    return root.kind == Root::Kind::slot ? slots_[root.number].known_pointer
                                         : root.kind != Root::Kind::loaded;
  });
}

// is_certainly_address() is true where one of the roots is not a parameter of unknown meaning or
// a loaded value.
bool AddressBases::is_certainly_address(const Roots& roots) const {
  return any_of(roots, [&](const Root& root) {
    return root.kind == Root::Kind::slot ? slots_[root.number].known_pointer
                                         : root.kind != Root::Kind::loaded;
  });
}

Roots AddressBases::known(llvm::Value* value) const {
  // While the fixed point is being found, instructions answer with what is known so far.
  if (!isa<Instruction>(value) || !carries_addresses(*value)) return evaluate(value);
  const auto found = roots_.find(value);
  return found == roots_.end() ? Roots{} : found->second;
}

Roots AddressBases::evaluate(llvm::Value* value) const {
  if (auto slot = slot_of_.find(value); slot != slot_of_.end()) {
    return {Root{Root::Kind::slot, slot->second, {}}};
  }
  Value* stripped = strip_address_casts(value);
  if (auto* variable = dyn_cast<GlobalVariable>(stripped)) return {root_of_variable(*variable)};
  if (isa<AllocaInst>(stripped)) return {Root{Root::Kind::block_private, 0, {}}};
  if (auto* argument = dyn_cast<Argument>(stripped); argument && argument->hasByValAttr()) {
    return {Root{Root::Kind::block_private, 0, {}}};
  }
  if (stripped != value) return known(stripped);
  if (auto* phi = dyn_cast<PHINode>(value); phi && !carries_addresses(*phi)) {
    return {Root{Root::Kind::loaded, ptx::source_line(*phi), {}}};
  }
  auto* user = dyn_cast<Operator>(value);
  if (user == nullptr) return {};
  switch (moving_opcode(value)) {
    case Instruction::Add:
      return sum(user->getOperand(0), user->getOperand(1));
    case Instruction::Sub: {
      Roots left = known(user->getOperand(0));
      const Roots right = known(user->getOperand(1));
      if (std::any_of(right.begin(), right.end(), is_definite)) return {};
      return left;
    }
    case Instruction::PHI: {
      Roots all;
      for (Value* incoming : cast<PHINode>(user)->incoming_values())
        all.merge(known(incoming));
      return all;
    }
    case Instruction::Select: {
      Roots all = known(user->getOperand(1));
      all.merge(known(user->getOperand(2)));
      return all;
    }
    case Instruction::Freeze:
      return known(user->getOperand(0));
    default:
      break;
  }
  if (auto* gep = dyn_cast<GEPOperator>(user)) return known(gep->getPointerOperand());
  auto* instruction = dyn_cast<Instruction>(value);
  if (instruction == nullptr) return {};
  // The smaller of two numbers is one of them.
  if (auto* minmax = dyn_cast<MinMaxIntrinsic>(instruction)) {
    Roots all = known(minmax->getLHS());
    all.merge(known(minmax->getRHS()));
    return all;
  }
  auto* intrinsic = dyn_cast<IntrinsicInst>(instruction);
  if (intrinsic != nullptr && intrinsic->getIntrinsicID() == Intrinsic::abs &&
      known(intrinsic->getArgOperand(0)).empty()) {
    return {};
  }
  // An address may also have been loaded in halves and put together.
  if (instruction->mayReadFromMemory() || isa<CallBase>(instruction) ||
      isa<ExtractValueInst>(instruction) || instruction->getOpcode() == Instruction::Or) {
    return {Root{Root::Kind::loaded, ptx::source_line(*instruction), {}}};
  }
  return {};
}

bool AddressBases::has_slot(llvm::Value* value, uint32_t slot) const {
  const Roots found = evaluate(value);
  return found.contains({Root::Kind::slot, slot, {}});
}

std::optional<llvm::Value*> AddressBases::offset(llvm::Value* address, uint32_t slot) {
  if (broken_.contains(slot)) return std::nullopt;
  Value* result = offset_of(strip_address_casts(address), slot);
  if (result != nullptr) return result;
  // Half-built offsets may lie about: nothing more is built for this slot.
  broken_.insert(slot);
  return std::nullopt;
}

llvm::Value* AddressBases::offset_of(llvm::Value* value, uint32_t slot) {
  value = strip_address_casts(value);
  auto& context = value->getContext();
  if (auto found = slot_of_.find(value); found != slot_of_.end() && found->second == slot) {
    return ConstantInt::get(Type::getInt64Ty(context), 0);
  }
  if (isa<UndefValue>(value)) return PoisonValue::get(Type::getInt64Ty(context));
  auto* instruction = dyn_cast<Instruction>(value);
  if (instruction == nullptr || !has_slot(value, slot)) return nullptr;
  if (auto found = offsets_.find({value, slot}); found != offsets_.end()) return found->second;
  IRBuilder<> builder(instruction->getNextNode());
  Value* result = nullptr;
  switch (moving_opcode(value)) {
    case Instruction::PHI:
      return offset_of_phi(cast<PHINode>(instruction), slot);
    case Instruction::Add: {
      const bool first = has_slot(instruction->getOperand(0), slot);
      Value* base = offset_of(instruction->getOperand(first ? 0 : 1), slot);
      if (base != nullptr) result = builder.CreateAdd(base, instruction->getOperand(first ? 1 : 0));
      break;
    }
    case Instruction::Sub:
      if (Value* base = offset_of(instruction->getOperand(0), slot)) {
        result = builder.CreateSub(base, instruction->getOperand(1));
      }
      break;
    case Instruction::Select: {
      Value* yes = offset_of(instruction->getOperand(1), slot);
      Value* no = offset_of(instruction->getOperand(2), slot);
      if (yes && no) result = builder.CreateSelect(instruction->getOperand(0), yes, no);
      break;
    }
    case Instruction::Freeze:
      result = offset_of(instruction->getOperand(0), slot);
      break;
    default:
      break;
  }
  offsets_[{value, slot}] = result;
  return result;
}

llvm::Value* AddressBases::offset_of_phi(llvm::PHINode* phi, uint32_t slot) {
  IRBuilder<> builder(phi);
  PHINode* offset = builder.CreatePHI(phi->getType(), phi->getNumIncomingValues());
  // The new phi stands for the old one before its inputs are known: loops refer back to it.
  offsets_[{phi, slot}] = offset;
  bool complete = true;
  for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
    Value* incoming = offset_of(phi->getIncomingValue(i), slot);
    complete = complete && incoming != nullptr;
    if (incoming == nullptr) incoming = PoisonValue::get(phi->getType());
    offset->addIncoming(incoming, phi->getIncomingBlock(i));
  }
  if (!complete) {
    offsets_[{phi, slot}] = nullptr;
    return nullptr;
  }
  return offset;
}

}  // namespace sluice::analysis
