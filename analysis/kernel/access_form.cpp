#include "analysis/kernel/access_form.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "analysis/kernel/address_bases.hpp"
#include "analysis/kernel/grid_communication.hpp"
#include "analysis/kernel/memory_uses.hpp"
#include "analysis/kernel/parameter_slots.hpp"
#include "analysis/rewrite/passes.hpp"
#include "ptx/lift.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

class Reducer {
 public:
  explicit Reducer(KernelSource source) : source_(std::move(source)) {}

  Result<AccessForm> run() {
    Function* kernel = source_.module->getFunction(source_.kernel);
    if (kernel == nullptr || kernel->isDeclaration()) {
      return invalid_input("no kernel of that name in the lifted module", source_.kernel);
    }
    form_.signature.kernel = source_.kernel;
    form_.signature.parameters = source_.parameters;
    form_.signature.parameter_bytes = source_.parameter_bytes;
    if (kernel->arg_size() != source_.parameters.size()) {
      return invalid_input("the lifted kernel has other parameters than its PTX", source_.kernel);
    }
    WideningReason reason;
    if (!inline_calls(*kernel)) reason.why = Widening::deep_calls;
    KernelSlots separated = separate_slots(*kernel, source_.parameters, source_.known_pointers);
    kernel = form_.function = separated.kernel;
    slots_ = std::move(separated.slots);
    if (reason.empty()) reason = grid_communication(*kernel);
    if (reason.empty()) {
      found_ = find_memory_uses(*kernel);
      reason = found_.opaque_reason;
    }
    if (reason.empty()) reason = resolve(*kernel);
    if (!reason.empty()) {
      form_.opaque_reason = std::move(reason);
      form_.touches.clear();
      form_.unknowns.clear();
    } else {
      simplify(*kernel);
    }
    form_.module = std::move(source_.module);
    return std::move(form_);
  }

 private:
  // resolve() finds the pointer behind every use of memory and puts touches in their places.
  WideningReason resolve(Function& kernel) {
    AddressBases bases(kernel, slots_);
    std::vector<Roots> roots;
    for (const MemoryUse& use : found_.uses) {
      roots.push_back(roots_of(bases, use));
      for (const Root& root : roots.back()) {
        if (WideningReason reason = refuse(root, use); !reason.empty()) return reason;
        if (root.kind == Root::Kind::slot) pointer_slots_.push_back(root.number);
      }
    }
    number_pointers();
    std::vector<Value*> offsets;
    for (size_t i = 0; i < found_.uses.size(); ++i) {
      offsets.push_back(nullptr);
      if (roots[i].size() != 1 || roots[i].begin()->kind != Root::Kind::slot) continue;
      auto offset = bases.offset(found_.uses[i].address, roots[i].begin()->number);
      if (!offset) {
        return {Widening::plain_number, found_.uses[i].touch.line};
      }
      offsets.back() = *offset;
    }
    compare_offsets(kernel, bases);
    for (size_t i = 0; i < found_.uses.size(); ++i)
      replace(found_.uses[i], roots[i], offsets[i]);
    for (Instruction* fence : found_.fences)
      fence->eraseFromParent();
    for (CallBase* call : found_.exchanges)
      replace_by_unknown(*call, Widening::exchanged_value);
    return {};
  }

  // compare_offsets() lets `p != end` compare offsets where both start from one pointer.
  void compare_offsets(Function& kernel, AddressBases& bases) {
    for (Instruction& instruction : instructions(kernel)) {
      auto* compare = dyn_cast<ICmpInst>(&instruction);
      if (compare == nullptr || !compare->isEquality()) continue;
      Value *a = compare->getOperand(0), *b = compare->getOperand(1);
      if (!a->getType()->isIntegerTy(64)) continue;
      const Roots roots = bases.roots(a);
      if (roots.size() != 1 || roots.begin()->kind != Root::Kind::slot) continue;
      const uint32_t slot = roots.begin()->number;
      if (bases.roots(b) != roots || !is_pointer(slot)) continue;
      const auto left = bases.offset(a, slot), right = bases.offset(b, slot);
      if (!left || !right) continue;
      compare->setOperand(0, *left);
      compare->setOperand(1, *right);
    }
  }

  bool is_pointer(uint32_t slot) const {
    return std::binary_search(pointer_slots_.begin(), pointer_slots_.end(), slot);
  }

  static Roots roots_of(const AddressBases& bases, const MemoryUse& use) {
    const unsigned space = use.address->getType()->getPointerAddressSpace();
    if (space > 1) return {Root{Root::Kind::block_private, 0, {}}};
    return bases.roots(use.address);
  }

  static WideningReason refuse(const Root& root, const MemoryUse& use) {
    const uint32_t line = use.touch.line;
    switch (root.kind) {
      case Root::Kind::slot:
      case Root::Kind::block_private:
        return {};
      case Root::Kind::constant_space:
        if (!use.touch.writes) return {};
        return {Widening::constant_write, line};
      case Root::Kind::loaded:
        return {Widening::loaded_pointer, root.number};
      case Root::Kind::module_variable:
        return {.why = Widening::module_variable, .line = line, .name = root.name};
      case Root::Kind::absolute:
        return {Widening::plain_number, line};
      case Root::Kind::ambiguous:
        break;
    }
    return {Widening::no_base, line};
  }

  void number_pointers() {
    std::sort(pointer_slots_.begin(), pointer_slots_.end());
    pointer_slots_.erase(std::unique(pointer_slots_.begin(), pointer_slots_.end()),
                         pointer_slots_.end());
    for (uint32_t slot : pointer_slots_)
      form_.signature.pointers.push_back(slots_[slot].slot);
  }

  void replace(MemoryUse& use, const Roots& roots, Value* offset) {
    for (const Root& root : roots) {
      if (root.kind != Root::Kind::slot) continue;
      Touch touch = use.touch;
      const auto at = std::lower_bound(pointer_slots_.begin(), pointer_slots_.end(), root.number);
      touch.slot = uint32_t(at - pointer_slots_.begin());
      touch.any_byte = offset == nullptr;
      IRBuilder<> builder(use.instruction);
      Value* place = offset != nullptr ? offset : builder.getInt64(0);
      builder.CreateCall(touch_function(),
                         {place, builder.getInt32(uint32_t(form_.touches.size()))});
      form_.touches.push_back(touch);
    }
    replace_by_unknown(*use.instruction, Widening::loaded_value);
  }

  FunctionCallee touch_function() {
    LLVMContext& context = source_.module->getContext();
    auto callee = source_.module->getOrInsertFunction(
        touch_name, Type::getVoidTy(context), Type::getInt64Ty(context), Type::getInt32Ty(context));
    auto* function = cast<Function>(callee.getCallee());
    function->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
    function->setDoesNotThrow();
    function->setWillReturn();
    return callee;
  }

  // unknown() is a value that nobody knows before the kernel runs. It seems to read memory, so
  // that no pass moves it out of a loop.
  Value* unknown(IRBuilder<>& builder, Type* type, UnknownValue value) {
    std::string name = unknown_prefix;
    raw_string_ostream(name) << *type;
    auto callee = source_.module->getOrInsertFunction(name, type, builder.getInt32Ty());
    auto* function = cast<Function>(callee.getCallee());
    function->setMemoryEffects(MemoryEffects::inaccessibleMemOnly(ModRefInfo::Ref));
    function->setDoesNotThrow();
    function->setWillReturn();
    form_.unknowns.push_back(std::move(value));
    return builder.CreateCall(callee, {builder.getInt32(uint32_t(form_.unknowns.size() - 1))});
  }

  void replace_by_unknown(Instruction& instruction, Widening source) {
    if (!instruction.getType()->isVoidTy() && !instruction.use_empty()) {
      IRBuilder<> builder(&instruction);
      instruction.replaceAllUsesWith(
          unknown(builder, instruction.getType(), {source, ptx::source_line(instruction)}));
    }
    instruction.eraseFromParent();
  }

  // simplify() removes all that no address and no branch around one depends on. What is then
  // left of the scalars are the shape scalars.
  void simplify(Function& kernel) {
    for (BasicBlock& block : kernel) {
      if (!isa<UnreachableInst>(block.getTerminator())) continue;
      // What comes before a trap has happened: the way there must not be taken for impossible.
      block.getTerminator()->eraseFromParent();
      ReturnInst::Create(kernel.getContext(), &block);
    }
    Passes passes;
    passes.reduce(kernel);
    for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
      Argument* pointer = slots_[slot].value;
      const bool is_address = is_pointer(slot) || slots_[slot].slot.is_variable;
      if (!is_address || pointer->use_empty()) continue;
      IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
      pointer->replaceAllUsesWith(unknown(builder, pointer->getType(),
                                          {Widening::pointer_value, 0, slots_[slot].slot.name}));
    }
    passes.reduce(kernel);
    for (const SlotValue& slot : slots_) {
      if (slot.value->use_empty()) continue;
      form_.signature.shape_scalars.push_back(slot.slot);
      form_.scalar_arguments.push_back(slot.value->getArgNo());
    }
  }

  KernelSource source_;
  AccessForm form_;
  std::vector<SlotValue> slots_;
  MemoryUses found_;
  std::vector<uint32_t> pointer_slots_;
};

}  // namespace

Result<AccessForm> reduce(KernelSource source) {
  return Reducer(std::move(source)).run();
}

}  // namespace sluice::analysis
