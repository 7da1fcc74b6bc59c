#include "hostcuda/jit/lowering/access_trace.hpp"

#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include "hostcuda/jit/lowering/outside_address.hpp"
#include "ptx/lift.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr unsigned constant_space = 4;
constexpr unsigned local_space = 5;

thread_local const SluiceAccessSink* current_sink = nullptr;

// WayBack follows a pointer back through casts and offsets to what `ends` is true of; PTX keeps
// addresses in integers, so it goes through those too. A loop's pointer leads where it begins.
class WayBack {
 public:
  explicit WayBack(function_ref<bool(const Value&)> ends) : ends_(ends) {}

  bool leads(const Value* pointer, unsigned depth = 0) {
    constexpr unsigned most_steps = 16;
    if (depth > most_steps) return false;
    if (ends_(*pointer)) return true;
    const auto* operation = dyn_cast<Operator>(pointer);
    if (!operation) return false;
    const auto leads_by = [&](unsigned operand) {
      return leads(operation->getOperand(operand), depth + 1);
    };
    switch (operation->getOpcode()) {
      case Instruction::IntToPtr:
      case Instruction::PtrToInt:
      case Instruction::AddrSpaceCast:
      case Instruction::GetElementPtr:
        return leads_by(0);
      case Instruction::Add:
        return leads_by(0) || leads_by(1);
      case Instruction::PHI: {
        if (!seen_.insert(operation).second) return true;
        const bool all_lead = all_of(operation->operand_values(),
                                     [&](const Value* value) { return leads(value, depth + 1); });
        seen_.erase(operation);
        return all_lead;
      }
      default:
        return false;
    }
  }

 private:
  function_ref<bool(const Value&)> ends_;
  SmallPtrSet<const Value*, 4> seen_;  // on the way here
};

bool leads_back(const Value* pointer, function_ref<bool(const Value&)> ends) {
  return WayBack(ends).leads(pointer);
}

bool is_in(const Value& pointer, unsigned space) {
  const auto* type = dyn_cast<PointerType>(pointer.getType());
  return type && type->getAddressSpace() == space;
}

bool leads_to_private(const Value* pointer, bool with_shared) {
  return leads_back(pointer, [&](const Value& value) {
    if (with_shared && is_in(value, shared_space)) return true;
    if (is_in(value, constant_space) || is_in(value, local_space)) return true;
    if (auto* variable = dyn_cast<GlobalVariable>(&value)) return variable->isConstant();
    const auto* argument = dyn_cast<Argument>(&value);
    return isa<AllocaInst>(value) || (argument && argument->hasByValAttr());
  });
}

bool is_private_object(const Value* pointer) {
  const Value* object = getUnderlyingObject(pointer);
  return isa<AllocaInst>(object) || (isa<Argument>(object) && object->getType()->isPointerTy());
}

// Volatile accesses count as atomic: threads talk to each other by them.
uint32_t atomic_kind(const Instruction& access) {
  return access.isAtomic() || access.isVolatile() ? SLUICE_ACCESS_ATOMIC : 0;
}

}  // namespace

std::vector<AccessPlace> access_places(Instruction& instruction) {
  const DataLayout& layout = instruction.getModule()->getDataLayout();
  const auto size = [&](Type* type) { return layout.getTypeStoreSize(type).getFixedValue(); };
  constexpr uint32_t both = SLUICE_ACCESS_READ | SLUICE_ACCESS_WRITE;
  if (auto* load = dyn_cast<LoadInst>(&instruction)) {
    return {{load->getPointerOperand(), nullptr, size(load->getType()), SLUICE_ACCESS_READ}};
  }
  if (auto* store = dyn_cast<StoreInst>(&instruction)) {
    Type* type = store->getValueOperand()->getType();
    return {{store->getPointerOperand(), nullptr, size(type), SLUICE_ACCESS_WRITE}};
  }
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    return {{update->getPointerOperand(), nullptr, size(update->getType()), both}};
  }
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    Type* type = exchange->getCompareOperand()->getType();
    return {{exchange->getPointerOperand(), nullptr, size(type), both}};
  }
  if (auto* memory = dyn_cast<AnyMemIntrinsic>(&instruction)) {
    std::vector<AccessPlace> places = {
        {memory->getRawDest(), memory->getLength(), 0, SLUICE_ACCESS_WRITE}};
    if (auto* transfer = dyn_cast<AnyMemTransferInst>(memory)) {
      places.push_back({transfer->getRawSource(), memory->getLength(), 0, SLUICE_ACCESS_READ});
    }
    return places;
  }
  return {};
}

void mark_private_accesses(Module& module, bool with_shared) {
  MDNode* mark = MDNode::get(module.getContext(), {});
  for (Function& function : module) {
    for (Instruction& instruction : instructions(function)) {
      const std::vector<AccessPlace> places = access_places(instruction);
      // A copy between two spaces stays traced; what is private of it is left out when it runs.
      const bool all_private = !places.empty() && all_of(places, [&](const AccessPlace& place) {
        return leads_to_private(place.pointer, with_shared);
      });
      if (all_private) instruction.setMetadata(private_metadata, mark);
      const bool all_shared = !places.empty() && all_of(places, [&](const AccessPlace& place) {
        return leads_back(place.pointer,
                          [](const Value& value) { return is_in(value, shared_space); });
      });
      if (all_shared) instruction.setMetadata(shared_metadata, mark);
    }
  }
}

void insert_trace(Function& function) {
  LLVMContext& context = function.getContext();
  Type* i32 = Type::getInt32Ty(context);
  Type* i64 = Type::getInt64Ty(context);
  FunctionCallee trace = function.getParent()->getOrInsertFunction(
      trace_symbol, FunctionType::get(Type::getVoidTy(context), {i64, i64, i32, i32}, false));
  cast<Function>(trace.getCallee())->setDoesNotThrow();
  std::vector<Instruction*> accesses;
  for (Instruction& instruction : instructions(function)) {
    if (!instruction.hasMetadata(private_metadata)) accesses.push_back(&instruction);
  }
  for (Instruction* access : accesses) {
    for (const AccessPlace& place : access_places(*access)) {
      if (is_private_object(place.pointer)) continue;
      IRBuilder<> ir(access);
      Value* bytes = place.bytes ? ir.CreateZExtOrTrunc(place.bytes, i64) : ir.getInt64(place.size);
      ir.CreateCall(trace, {ir.CreatePtrToInt(place.pointer, i64), bytes,
                            ir.getInt32(place.kind | atomic_kind(*access)),
                            ir.getInt32(ptx::source_line(*access))});
    }
  }
}

void set_access_sink(const SluiceAccessSink* sink) {
  current_sink = sink;
}

void sluice_jit_trace(uint64_t address, uint64_t bytes, uint32_t kind, uint32_t line) {
  const SluiceAccessSink* sink = current_sink;
  if (sink != nullptr) sink->access(sink->recorder, address, bytes, kind, line);
}

}  // namespace sluice::hostcuda::jit
