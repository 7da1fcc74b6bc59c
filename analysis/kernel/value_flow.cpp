#include "analysis/value_flow.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "analysis/kernel/address_bases.hpp"
#include "analysis/kernel/kernel_source.hpp"
#include "analysis/kernel/memory_uses.hpp"
#include "analysis/kernel/parameter_slots.hpp"
#include "analysis/kernel/variation.hpp"
#include "analysis/rewrite/passes.hpp"
#include "ptx/text/source_lines.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

// only_moves() is true of an operation whose result holds the bits of its operand.
bool only_moves(const User& user) {
  if (isa<PHINode>(user) || isa<BitCastInst>(user) || isa<FreezeInst>(user) ||
      isa<ExtractValueInst>(user) || isa<InsertValueInst>(user)) {
    return true;
  }
  const auto* call = dyn_cast<IntrinsicInst>(&user);
  return call != nullptr && call->getCalledFunction()->getName().starts_with("llvm.nvvm.shfl.");
}

// is_strong() is true of atomics and volatile loads.
bool is_strong(const Instruction& instruction) {
  const auto* load = dyn_cast<LoadInst>(&instruction);
  if (load != nullptr) return load->isVolatile() || load->isAtomic();
  const auto* call = dyn_cast<IntrinsicInst>(&instruction);
  return call == nullptr || call->getCalledFunction()->getName().starts_with("llvm.nvvm.atomic.");
}

// is_computed_with() is true where a loaded value reaches more than stores of it. What is chosen
// between may be left.
bool is_computed_with(const Instruction& load) {
  SmallVector<const Value*> pending{&load};
  SmallPtrSet<const Value*, 16> seen;
  while (!pending.empty()) {
    for (const User* user : pending.pop_back_val()->users()) {
      if (!seen.insert(user).second) continue;
      if (only_moves(*user)) {
        pending.push_back(user);
      } else if (!isa<StoreInst>(user) && !isa<SelectInst>(user)) {
        return true;
      }
    }
  }
  return false;
}

class Flow {
 public:
  Flow(Function& kernel, std::vector<SlotValue> slots)
      : kernel_(kernel), slots_(std::move(slots)), flow_(slots_.size()) {}

  // run() is false where an instruction defies description.
  bool run(std::span<const std::byte> parameters) {
    if (!find_uses()) return false;
    look_at_loads();
    // What is folded is not there any more: a load that nobody uses, say.
    set_scalars(parameters);
    Passes().fold(kernel_);
    if (!find_uses()) return false;
    look_at_stores();
    return true;
  }

  std::vector<SlotValues> take(const ptx::SourceLines& lines);

 private:
  struct OfSlot {
    SlotValues values;
    std::set<uint32_t> loads, stores;  // PTX lines
    bool all_are_used = true;
  };

  bool find_uses() {
    MemoryUses found = find_memory_uses(kernel_);
    if (!found.opaque_reason.empty()) return false;
    uses_ = std::move(found.uses);
    has_named_barriers_ = any_of(found.exchanges, [](const CallBase* call) {
      const StringRef name = call->getCalledFunction()->getName();
      return name.starts_with("sluice.barrier.") || name.starts_with("sluice.mbarrier.");
    });
    const AddressBases bases(kernel_, slots_);
    slots_of_.clear();
    for (const MemoryUse& use : uses_)
      slots_of_.push_back(slots_behind(bases, use));
    return true;
  }

  // set_scalars() puts the values in the place of all slots that no address starts from.
  void set_scalars(std::span<const std::byte> parameters) {
    std::set<uint32_t> pointers;
    for (const std::set<uint32_t>& behind : slots_of_)
      pointers.insert(behind.begin(), behind.end());
    for (uint32_t i = 0; i < slots_.size(); ++i) {
      const ParameterSlot& slot = slots_[i].slot;
      if (slot.is_variable || slots_[i].known_pointer || pointers.contains(i) || slot.size > 8 ||
          slot.offset + slot.size > parameters.size()) {
        continue;
      }
      uint64_t bits = 0;
      std::memcpy(&bits, parameters.data() + slot.offset, slot.size);
      Type* const type = slots_[i].value->getType();
      const unsigned width = type->getPrimitiveSizeInBits();
      if (width != 8 * slot.size || type->isVectorTy()) continue;
      Constant* value = ConstantInt::get(Type::getIntNTy(type->getContext(), width), bits);
      if (type->isFloatingPointTy()) {
        value = ConstantFP::get(type, APFloat(type->getFltSemantics(), APInt(width, bits)));
      } else if (!type->isIntegerTy()) {
        continue;
      }
      slots_[i].value->replaceAllUsesWith(value);
    }
  }

  static std::set<uint32_t> slots_behind(const AddressBases& bases, const MemoryUse& use) {
    std::set<uint32_t> slots;
    if (use.address->getType()->getPointerAddressSpace() > 1) return slots;
    for (const Root& root : bases.roots(use.address))
      if (root.kind == Root::Kind::slot) slots.insert(root.number);
    return slots;
  }

  bool is_plain_store(const MemoryUse& use) const {
    return use.touch.writes && !use.touch.reads && !use.touch.may_only;
  }

  std::set<uint32_t> written_slots() const {
    std::set<uint32_t> written;
    for (size_t i = 0; i < uses_.size(); ++i)
      if (uses_[i].touch.writes) written.insert(slots_of_[i].begin(), slots_of_[i].end());
    return written;
  }

  void look_at_stores() {
    const std::set<uint32_t> written = written_slots();
    DenseMap<const Instruction*, bool> is_written;
    for (size_t i = 0; i < uses_.size(); ++i) {
      is_written[uses_[i].instruction] =
          any_of(slots_of_[i], [&](uint32_t slot) { return written.contains(slot); });
    }
    const Variation varies(kernel_, [&](const Instruction& load) {
      const auto known = is_written.find(&load);
      return known == is_written.end() || known->second;
    });
    for (size_t i = 0; i < uses_.size(); ++i) {
      const auto* store = dyn_cast<StoreInst>(uses_[i].instruction);
      if (store == nullptr || !is_plain_store(uses_[i])) continue;
      const Varies value = varies.of(store->getValueOperand());
      // What threads alike compute alike is the same at the same place only.
      const bool differs =
          value == Varies::by_block ||
          (value == Varies::by_thread && varies.of(store->getPointerOperand()) == Varies::by_block);
      for (const uint32_t slot : slots_of_[i]) {
        flow_[slot].values.stores_differ |= differs;
        flow_[slot].stores.insert(uses_[i].touch.line);
      }
    }
  }

  void look_at_loads() {
    const DominatorTree dominators(kernel_);
    for (size_t i = 0; i < uses_.size(); ++i) {
      const Touch& touch = uses_[i].touch;
      if (!touch.reads) continue;
      const bool is_used = touch.writes || is_computed_with(*uses_[i].instruction);
      std::set<uint32_t> before;
      for (size_t j = 0; j < uses_.size(); ++j) {
        if (uses_[j].touch.writes && comes_before(j, i, dominators))
          before.insert(slots_of_[j].begin(), slots_of_[j].end());
      }
      for (const uint32_t slot : slots_of_[i]) {
        OfSlot& of = flow_[slot];
        of.all_are_used &= is_used;
        of.loads.insert(touch.line);
        of.values.has_strong_loads |= is_strong(*uses_[i].instruction);
        before.insert(of.values.written_before.begin(), of.values.written_before.end());
        of.values.written_before.assign(before.begin(), before.end());
      }
    }
  }

  // Threads of a block that meet at a barrier by its number may be on ways of their own.
  bool comes_before(size_t write, size_t read, const DominatorTree& dominators) const {
    return has_named_barriers_ ||
           isPotentiallyReachable(uses_[write].instruction, uses_[read].instruction, nullptr,
                                  &dominators, nullptr);
  }

  Function& kernel_;
  const std::vector<SlotValue> slots_;
  std::vector<MemoryUse> uses_;
  std::vector<std::set<uint32_t>> slots_of_;  // by use
  std::vector<OfSlot> flow_;                  // by slot
  bool has_named_barriers_ = false;
};

std::vector<SlotValues> Flow::take(const ptx::SourceLines& lines) {
  const auto places = [&](const std::set<uint32_t>& numbers) {
    std::vector<CodePlace> found;
    for (const uint32_t number : numbers) {
      CodePlace place{number};
      if (const auto source = lines.at(number)) {
        place.file = source->user_file();
        place.line = source->user_line();
      }
      found.push_back(std::move(place));
    }
    return found;
  };
  std::vector<SlotValues> slots;
  for (size_t i = 0; i < slots_.size(); ++i) {
    SlotValues values = std::move(flow_[i].values);
    values.slot = slots_[i].slot;
    values.loads_are_used = flow_[i].all_are_used && !flow_[i].loads.empty();
    values.loads = places(flow_[i].loads);
    values.stores = places(flow_[i].stores);
    slots.push_back(std::move(values));
  }
  return slots;
}

}  // namespace

Result<ValueFlow> value_flow(const ptx::Module& module, std::string_view kernel,
                             std::span<const std::byte> parameters) {
  const ptx::Function* const function = module.find_function(kernel);
  if (function == nullptr || !function->is_entry)
    return invalid_input("no kernel of that name in the PTX", std::string(kernel));
  LLVMContext context;
  auto source = kernel_source(context, module, *function, {});
  if (!source) return tl::unexpected(source.error());
  Function* const lifted = source->module->getFunction(source->kernel);
  if (lifted == nullptr || lifted->isDeclaration() ||
      lifted->arg_size() != source->parameters.size()) {
    return invalid_input("the lifted kernel is not that of the PTX", std::string(kernel));
  }
  inline_calls(*lifted);
  KernelSlots separated = separate_slots(*lifted, source->parameters, source->known_pointers);
  Flow flow(*separated.kernel, std::move(separated.slots));
  if (!flow.run(parameters))
    return unsupported("the kernel has instructions that cannot be followed");
  return ValueFlow{flow.take(ptx::SourceLines(module, *function))};
}

}  // namespace sluice::analysis
