#include "analysis/kernel/memory_uses.hpp"

#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "ptx/lift.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

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
      "llvm.nvvm.barrier", "llvm.nvvm.bar.",     "llvm.nvvm.membar", "llvm.nvvm.fence",
      "llvm.nvvm.active",  "llvm.nvvm.read.",    "llvm.nvvm.exit",   "llvm.trap",
      "llvm.debugtrap",    "llvm.assume",        "llvm.lifetime",    "llvm.prefetch",
      "llvm.dbg",          "llvm.nvvm.nanosleep"};
  return any_of(prefixes, [&](const char* prefix) { return name.starts_with(prefix); });
}

// is_harmless_call() is true of the lifter's own functions that do: matrices of a warp, barriers by
// number and in shared memory.
bool is_harmless_call(StringRef name) {
  static constexpr const char* prefixes[] = {"sluice.matrix.", "sluice.mbarrier.", "sluice.yield",
                                             "sluice.barrier.", "sluice.warp."};
  return any_of(prefixes, [&](const char* prefix) { return name.starts_with(prefix); });
}

class Finder {
 public:
  explicit Finder(Function& kernel)
      : kernel_(kernel), layout_(kernel.getParent()->getDataLayout()) {}

  MemoryUses run() {
    for (Instruction& instruction : instructions(kernel_)) {
      found_.opaque_reason = classify(instruction);
      if (!found_.opaque_reason.empty()) break;
    }
    return std::move(found_);
  }

 private:
  WideningReason classify(Instruction& instruction) {
    const auto bytes = [&](Type* type) { return uint32_t(layout_.getTypeStoreSize(type)); };
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
      return classify_call(*call, use);
    } else if (isa<FenceInst>(instruction)) {
      found_.fences.push_back(&instruction);
      return {};
    } else if (instruction.mayReadOrWriteMemory()) {
      return {Widening::unknown_instruction, use.touch.line};
    } else {
      return {};
    }
    if (!use.touch.reads && !use.touch.writes) {
      use.touch.reads = use.touch.writes = use.touch.may_only = true;
    }
    found_.uses.push_back(use);
    return {};
  }

  WideningReason classify_call(CallBase& call, MemoryUse use) {
    const Function* callee = call.getCalledFunction();
    const uint32_t line = use.touch.line;
    if (callee == nullptr) return {Widening::unknown_call, line};
    const StringRef name = callee->getName();
    if (is_harmless_call(name)) {
      found_.exchanges.push_back(&call);
      return {};
    }
    if (!callee->isIntrinsic()) {
      return {.why = Widening::unknown_call, .line = line, .name = name.str()};
    }
    if (is_index_register(callee->getIntrinsicID())) return {};
    if (name.starts_with("llvm.nvvm.atomic.") || name.starts_with("llvm.nvvm.ldg.") ||
        name.starts_with("llvm.nvvm.ldu.")) {
      use.address = call.getArgOperand(0);
      use.touch.bytes = uint32_t(layout_.getTypeStoreSize(call.getType()));
      use.touch.reads = true;
      use.touch.writes = use.touch.may_only = name.starts_with("llvm.nvvm.atomic.");
      found_.uses.push_back(use);
      return {};
    }
    // What lanes exchange lies in no memory that a program can name.
    const bool is_pure = call.doesNotAccessMemory();
    if (is_harmless(name) || (!is_pure && call.onlyAccessesInaccessibleMemory())) {
      found_.exchanges.push_back(&call);
      return {};
    }
    if (!is_pure) {
      return {.why = Widening::unknown_instruction, .line = line, .name = name.str()};
    }
    return {};
  }

  Function& kernel_;
  const DataLayout& layout_;
  MemoryUses found_;
};

}  // namespace

MemoryUses find_memory_uses(llvm::Function& kernel) {
  return Finder(kernel).run();
}

}  // namespace sluice::analysis
