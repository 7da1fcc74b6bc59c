#include "analysis/access_form.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Verifier.h>

#include "analysis/address_bases.hpp"
#include "analysis/grid_communication.hpp"
#include "analysis/parameter_slots.hpp"
#include "analysis/passes.hpp"
#include "ptx/lift.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

// MemoryUse is one instruction that may touch memory, taken apart.
struct MemoryUse {
  Instruction* instruction = nullptr;
  Value* address = nullptr;
  Touch touch;
};

bool is_index_register(Intrinsic::ID id) {
  switch (id) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    case Intrinsic::nvvm_read_ptx_sreg_tid_z:
    case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
    case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
    case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
      return true;
    default:
      return false;
  }
}

// is_harmless() is true of NVVM's intrinsics that synchronise or exchange within a block: which
// bytes a block touches does not depend on them.
bool is_harmless(StringRef name) {
  static constexpr const char* prefixes[] = {
      "llvm.nvvm.barrier", "llvm.nvvm.bar.",  "llvm.nvvm.membar",   "llvm.nvvm.fence",
      "llvm.nvvm.shfl",    "llvm.nvvm.vote",  "llvm.nvvm.match",    "llvm.nvvm.redux",
      "llvm.nvvm.active",  "llvm.nvvm.read.", "llvm.nvvm.elect",    "llvm.nvvm.exit",
      "llvm.trap",         "llvm.debugtrap",  "llvm.assume",        "llvm.lifetime",
      "llvm.prefetch",     "llvm.dbg",        "llvm.nvvm.nanosleep"};
  return any_of(prefixes, [&](const char* prefix) { return name.starts_with(prefix); });
}

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
    if (kernel->arg_size() != source_.parameters.size() ||
        kernel->arg_size() != source_.known_pointer.size()) {
      return invalid_input("the lifted kernel has other parameters than its PTX", source_.kernel);
    }
    const bool inlined = inline_calls(*kernel);
    KernelSlots separated = separate_slots(*kernel, source_.parameters, source_.known_pointer);
    kernel = form_.function = separated.kernel;
    slots_ = std::move(separated.slots);
    std::string reason = inlined ? grid_communication(*kernel) : "its functions call themselves";
    if (reason.empty()) reason = collect(*kernel);
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
  // collect() lists every use of memory, or says which instruction defies description.
  std::string collect(Function& kernel) {
    for (BasicBlock& block : kernel) {
      for (Instruction& instruction : block) {
        if (std::string reason = classify(instruction); !reason.empty()) return reason;
      }
    }
    return {};
  }

  std::string classify(Instruction& instruction) {
    const DataLayout& layout = source_.module->getDataLayout();
    const auto bytes = [&](Type* type) { return uint32_t(layout.getTypeStoreSize(type)); };
    MemoryUse use;
    use.instruction = &instruction;
    use.touch.line = ptx::source_line(instruction);
    if (auto* load = dyn_cast<LoadInst>(&instruction)) {
      use.address = load->getPointerOperand();
      use.touch.reads = true;
      use.touch.bytes = bytes(load->getType());
    } else if (auto* store = dyn_cast<StoreInst>(&instruction)) {
      use.address = store->getPointerOperand();
      use.touch.writes = true;
      use.touch.may_only = store->isAtomic() || store->isVolatile();
      use.touch.bytes = bytes(store->getValueOperand()->getType());
    } else if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
      use.address = update->getPointerOperand();
      use.touch.bytes = bytes(update->getType());
    } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
      use.address = exchange->getPointerOperand();
      use.touch.bytes = bytes(exchange->getCompareOperand()->getType());
    } else if (auto* call = dyn_cast<CallBase>(&instruction)) {
      return classify_call(*call, std::move(use));
    } else if (isa<FenceInst>(instruction)) {
      fences_.push_back(&instruction);
      return {};
    } else if (instruction.mayReadOrWriteMemory()) {
      return fmt::format("an instruction at PTX line {} uses memory in an unknown way",
                         use.touch.line);
    } else {
      return {};
    }
    if (!use.touch.reads && !use.touch.writes) {
      use.touch.reads = use.touch.writes = use.touch.may_only = true;
    }
    uses_.push_back(std::move(use));
    return {};
  }

  std::string classify_call(CallBase& call, MemoryUse use) {
    const Function* callee = call.getCalledFunction();
    const uint32_t line = use.touch.line;
    if (callee == nullptr) {
      return fmt::format("the call at PTX line {} has no known target", line);
    }
    const StringRef name = callee->getName();
    if (!callee->isIntrinsic()) {
      return fmt::format("the call of {} at PTX line {} cannot be looked into", name.str(), line);
    }
    if (is_index_register(callee->getIntrinsicID())) return {};
    if (name.starts_with("llvm.nvvm.atomic.") || name.starts_with("llvm.nvvm.ldg.") ||
        name.starts_with("llvm.nvvm.ldu.")) {
      use.address = call.getArgOperand(0);
      use.touch.bytes = uint32_t(source_.module->getDataLayout().getTypeStoreSize(call.getType()));
      use.touch.reads = true;
      use.touch.writes = use.touch.may_only = name.starts_with("llvm.nvvm.atomic.");
      uses_.push_back(std::move(use));
      return {};
    }
    if (is_harmless(name)) {
      exchanges_.push_back(&call);
      return {};
    }
    if (!call.doesNotAccessMemory()) {
      return fmt::format("{} at PTX line {} uses memory in an unknown way", name.str(), line);
    }
    return {};
  }

  // resolve() finds the pointer behind every use of memory and puts touches in their places.
  std::string resolve(Function& kernel) {
    AddressBases bases(kernel, slots_);
    std::vector<Roots> roots;
    for (const MemoryUse& use : uses_) {
      roots.push_back(roots_of(bases, use));
      for (const Root& root : roots.back()) {
        if (std::string reason = refuse(root, use); !reason.empty()) return reason;
        if (root.kind == Root::Kind::slot) pointer_slots_.push_back(root.number);
      }
    }
    number_pointers();
    std::vector<Value*> offsets;
    for (size_t i = 0; i < uses_.size(); ++i) {
      offsets.push_back(nullptr);
      if (roots[i].size() != 1 || roots[i].begin()->kind != Root::Kind::slot) continue;
      auto offset = bases.offset(uses_[i].address, roots[i].begin()->number);
      if (!offset) {
        return fmt::format("the address at PTX line {} may be a plain number", uses_[i].touch.line);
      }
      offsets.back() = *offset;
    }
    for (size_t i = 0; i < uses_.size(); ++i)
      replace(uses_[i], roots[i], offsets[i]);
    for (Instruction* fence : fences_)
      fence->eraseFromParent();
    for (CallBase* call : exchanges_)
      replace_by_unknown(*call, "not known before the kernel runs");
    return {};
  }

  static Roots roots_of(const AddressBases& bases, const MemoryUse& use) {
    const unsigned space = use.address->getType()->getPointerAddressSpace();
    if (space > 1) return {Root{Root::Kind::block_private, 0, {}}};
    return bases.roots(use.address);
  }

  static std::string refuse(const Root& root, const MemoryUse& use) {
    const uint32_t line = use.touch.line;
    switch (root.kind) {
      case Root::Kind::slot:
      case Root::Kind::block_private:
        return {};
      case Root::Kind::constant_space:
        if (!use.touch.writes) return {};
        return fmt::format("a constant is written at PTX line {}", line);
      case Root::Kind::loaded:
        return fmt::format("pointer loaded from memory at PTX line {}", root.number);
      case Root::Kind::module_variable:
        return fmt::format("the module variable {} is used at PTX line {}", root.name, line);
      case Root::Kind::absolute:
        return fmt::format("the address at PTX line {} may be a plain number", line);
      case Root::Kind::ambiguous:
        break;
    }
    return fmt::format("no pointer argument is found behind the address at PTX line {}", line);
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
      form_.touches.push_back(std::move(touch));
    }
    replace_by_unknown(*use.instruction, "loaded from memory");
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
  Value* unknown(IRBuilder<>& builder, Type* type, std::string source, uint32_t line) {
    std::string name = unknown_prefix;
    raw_string_ostream(name) << *type;
    auto callee = source_.module->getOrInsertFunction(name, type, builder.getInt32Ty());
    auto* function = cast<Function>(callee.getCallee());
    function->setMemoryEffects(MemoryEffects::inaccessibleMemOnly(ModRefInfo::Ref));
    function->setDoesNotThrow();
    function->setWillReturn();
    form_.unknowns.push_back({std::move(source), line});
    return builder.CreateCall(callee, {builder.getInt32(uint32_t(form_.unknowns.size() - 1))});
  }

  void replace_by_unknown(Instruction& instruction, const char* source) {
    if (!instruction.getType()->isVoidTy() && !instruction.use_empty()) {
      IRBuilder<> builder(&instruction);
      instruction.replaceAllUsesWith(
          unknown(builder, instruction.getType(), source, ptx::source_line(instruction)));
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
    for (uint32_t slot : pointer_slots_) {
      Argument* pointer = slots_[slot].value;
      if (pointer->use_empty()) continue;
      IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
      pointer->replaceAllUsesWith(unknown(builder, pointer->getType(),
                                          "the value of the pointer " + slots_[slot].slot.name, 0));
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
  std::vector<MemoryUse> uses_;
  std::vector<Instruction*> fences_;
  std::vector<CallBase*> exchanges_;
  std::vector<uint32_t> pointer_slots_;
};

}  // namespace

Result<AccessForm> reduce(KernelSource source) {
  return Reducer(std::move(source)).run();
}

}  // namespace sluice::analysis
