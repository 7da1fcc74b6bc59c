#include "hostcuda/jit/lowering/address_lowering.hpp"

#include <vector>

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>

#include "hostcuda/jit/lowering/outside_address.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

class AddressLowering {
 public:
  AddressLowering(Function& function, const KernelContext& context)
      : function_(function), context_(context), entry_(function.getContext()) {}

  Result<SharedMemory> run() {
    drop_other_functions();
    expand_constants();
    entry_.SetInsertPoint(&*function_.getEntryBlock().getFirstInsertionPt());
    origin_ = entry_.CreateCall(declare_origin(), {}, "origin");
    place_shared_variables();
    if (Status status = replace_variables(); !status) return tl::unexpected(status.error());
    if (Status status = replace_function_addresses(); !status) {
      return tl::unexpected(status.error());
    }
    collect_casts();
    retype();
    lower_casts();
    return shared_;
  }

 private:
  FunctionCallee declare_origin() {
    LLVMContext& context = function_.getContext();
    FunctionCallee origin = function_.getParent()->getOrInsertFunction(
        origin_function_name, FunctionType::get(PointerType::get(context, 0), false));
    auto* declaration = cast<Function>(origin.getCallee());
    declaration->setDoesNotAccessMemory();
    declaration->setDoesNotThrow();
    declaration->setWillReturn();
    declaration->setSpeculatable();
    return origin;
  }

  // Nothing calls them any more, and their uses of variables would stand in the way.
  void drop_other_functions() {
    for (Function& other : *function_.getParent()) {
      if (&other != &function_ && !other.isDeclaration()) other.deleteBody();
    }
  }

  void expand_constants() {
    std::vector<Instruction*> pending;
    for (Instruction& instruction : instructions(function_))
      pending.push_back(&instruction);
    while (!pending.empty()) {
      Instruction* instruction = pending.back();
      pending.pop_back();
      for (Use& use : instruction->operands()) {
        auto* expression = dyn_cast<ConstantExpr>(use.get());
        if (!expression) continue;
        Instruction* expanded = expression->getAsInstruction();
        if (auto* phi = dyn_cast<PHINode>(instruction)) {
          // A block may appear several times among the incoming ones and must bring one value.
          BasicBlock* block = phi->getIncomingBlock(use);
          expanded->insertBefore(block->getTerminator()->getIterator());
          for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
            if (phi->getIncomingBlock(i) == block) phi->setIncomingValue(i, expanded);
          }
        } else {
          expanded->insertBefore(instruction->getIterator());
          use.set(expanded);
        }
        pending.push_back(expanded);
      }
    }
  }

  void place_shared_variables() {
    const DataLayout& layout = function_.getParent()->getDataLayout();
    for (GlobalVariable& variable : function_.getParent()->globals()) {
      if (variable.getAddressSpace() != shared_space || variable.isDeclaration()) continue;
      if (!is_used(variable)) continue;
      const Align alignment = layout.getPreferredAlign(&variable);
      shared_.static_bytes = alignTo(shared_.static_bytes, alignment);
      shared_offsets_[&variable] = shared_.static_bytes;
      shared_.static_bytes += layout.getTypeAllocSize(variable.getValueType());
    }
    shared_.named_bytes = shared_.static_bytes;
    shared_.static_bytes = alignTo(shared_.static_bytes, 16);
  }

  bool is_used(const GlobalVariable& variable) {
    return any_of(variable.users(), [](const User* user) { return isa<Instruction>(user); });
  }

  Status replace_variables() {
    for (GlobalVariable& variable : function_.getParent()->globals()) {
      // The symbols that this loop makes are not the program's.
      if (!is_used(variable) || variable.getName().starts_with(address_prefix)) continue;
      Value* address = nullptr;
      if (variable.getAddressSpace() == shared_space) {
        // The dynamic pool, an external array, follows the static variables.
        auto found = shared_offsets_.find(&variable);
        shared_.is_dynamic |= found == shared_offsets_.end();
        const uint64_t offset =
            found == shared_offsets_.end() ? shared_.static_bytes : found->second;
        address = entry_.CreateConstInBoundsGEP1_64(entry_.getInt8Ty(), shared_argument(), offset);
      } else {
        Result<uint64_t> storage = context_.variable_address(variable.getName().str());
        if (!storage) return tl::unexpected(storage.error());
        address =
            entry_.CreateGEP(entry_.getInt8Ty(), origin_,
                             outside_address(*function_.getParent(), variable.getName().str()));
      }
      address->setName(variable.getName());
      replace_uses(variable, address);
    }
    return {};
  }

  // A device function has one address in all kernels, at which nothing lies.
  Status replace_function_addresses() {
    for (Function& callee : *function_.getParent()) {
      for (Use& use : make_early_inc_range(callee.uses())) {
        auto* user = dyn_cast<Instruction>(use.getUser());
        auto* call = dyn_cast_or_null<CallBase>(user);
        if (!user || (call && call->isCallee(&use))) continue;
        Result<uint64_t> address = context_.variable_address(callee.getName().str());
        if (!address) return tl::unexpected(address.error());
        use.set(entry_.CreateGEP(entry_.getInt8Ty(), origin_,
                                 outside_address(*function_.getParent(), callee.getName().str())));
      }
    }
    return {};
  }

  void replace_uses(GlobalVariable& variable, Value* address) {
    for (Use& use : make_early_inc_range(variable.uses())) {
      auto* user = dyn_cast<Instruction>(use.getUser());
      if (!user) continue;
      // Casts are decided by the space that a pointer had, which the new value has lost.
      if (variable.getAddressSpace() == shared_space) {
        if (isa<PtrToIntInst>(user)) shared_to_integer_.push_back(cast<PtrToIntInst>(user));
        if (isa<AddrSpaceCastInst>(user)) shared_.escapes = true;
      }
      use.set(address);
    }
  }

  void collect_casts() {
    for (Instruction& instruction : instructions(function_)) {
      if (auto* cast = dyn_cast<IntToPtrInst>(&instruction)) {
        integer_to_pointer_.push_back({cast, cast->getAddressSpace()});
      } else if (auto* cast = dyn_cast<PtrToIntInst>(&instruction)) {
        if (cast->getPointerAddressSpace() == shared_space) shared_to_integer_.push_back(cast);
      } else if (auto* cast = dyn_cast<AddrSpaceCastInst>(&instruction)) {
        if (cast->getSrcAddressSpace() == shared_space) shared_.escapes = true;
        space_casts_.push_back(cast);
      }
    }
  }

  // Gives every pointer the host's address space, and every constant pointer its host value.
  void retype() {
    Type* pointer = PointerType::get(function_.getContext(), 0);
    for (Instruction& instruction : instructions(function_)) {
      for (Use& use : instruction.operands()) {
        auto* type = dyn_cast<PointerType>(use->getType());
        if (!type || type->getAddressSpace() == 0 || !isa<Constant>(use.get())) continue;
        const bool is_null = isa<ConstantPointerNull>(use.get());
        if (is_null && type->getAddressSpace() == shared_space) {
          use.set(shared_argument());
        } else {
          use.set(is_null
                      ? static_cast<Value*>(ConstantPointerNull::get(cast<PointerType>(pointer)))
                      : PoisonValue::get(pointer));
        }
      }
      auto* type = dyn_cast<PointerType>(instruction.getType());
      if (type && type->getAddressSpace() != 0) instruction.mutateType(pointer);
    }
  }

  void lower_casts() {
    for (AddrSpaceCastInst* cast : space_casts_) {
      cast->replaceAllUsesWith(cast->getOperand(0));
      cast->eraseFromParent();
    }
    for (PtrToIntInst* cast : shared_to_integer_) {
      IRBuilder<> ir(cast);
      Value* address = ir.CreatePtrToInt(cast->getOperand(0), ir.getInt64Ty());
      Value* offset = ir.CreateSub(address, ir.CreatePtrToInt(shared_argument(), ir.getInt64Ty()));
      if (Value* constant = constant_offset(cast->getOperand(0), ir)) offset = constant;
      cast->replaceAllUsesWith(ir.CreateZExtOrTrunc(offset, cast->getType()));
      cast->eraseFromParent();
    }
    for (auto [cast, space] : integer_to_pointer_) {
      IRBuilder<> ir(cast);
      Value* integer = ir.CreateZExtOrTrunc(cast->getOperand(0), ir.getInt64Ty());
      cast->replaceAllUsesWith(pointer_of(integer, space, ir));
      cast->eraseFromParent();
    }
  }

  Value* constant_offset(Value* pointer, IRBuilder<>& ir) {
    const DataLayout& layout = function_.getParent()->getDataLayout();
    APInt offset(64, 0);
    Value* base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
    return base == shared_argument() ? ir.getInt64(offset.getSExtValue()) : nullptr;
  }

  Value* pointer_of(Value* integer, unsigned space, IRBuilder<>& ir) {
    if (space == shared_space) return ir.CreateGEP(ir.getInt8Ty(), shared_argument(), integer);
    Value* rest = nullptr;
    if (Value* base = pointer_leaf(integer, rest, ir)) {
      return rest ? ir.CreateGEP(ir.getInt8Ty(), base, rest) : base;
    }
    return ir.CreateGEP(ir.getInt8Ty(), origin_, integer);
  }

  // Finds p in p' + a + b, where p' is p as an integer: such sums are addresses in p's object.
  Value* pointer_leaf(Value* integer, Value*& rest, IRBuilder<>& ir) {
    if (auto* cast = dyn_cast<PtrToIntInst>(integer)) return cast->getOperand(0);
    auto* add = dyn_cast<BinaryOperator>(integer);
    if (!add || add->getOpcode() != Instruction::Add) return nullptr;
    for (unsigned side = 0; side < 2; ++side) {
      if (Value* base = pointer_leaf(add->getOperand(side), rest, ir)) {
        Value* other = add->getOperand(1 - side);
        rest = rest ? ir.CreateAdd(rest, other) : other;
        return base;
      }
    }
    return nullptr;
  }

  Argument* shared_argument() { return function_.getArg(ThreadFunction::shared); }

  Function& function_;
  const KernelContext& context_;
  IRBuilder<> entry_;
  Value* origin_ = nullptr;
  SharedMemory shared_;
  DenseMap<GlobalVariable*, uint64_t> shared_offsets_;
  std::vector<PtrToIntInst*> shared_to_integer_;
  std::vector<AddrSpaceCastInst*> space_casts_;
  std::vector<std::pair<IntToPtrInst*, unsigned>> integer_to_pointer_;
};

}  // namespace

Result<SharedMemory> lower_addresses(Function& function, const KernelContext& context) {
  return AddressLowering(function, context).run();
}

}  // namespace sluice::hostcuda::jit
