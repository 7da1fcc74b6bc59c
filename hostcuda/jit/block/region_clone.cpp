#include "hostcuda/jit/block/region_clone.hpp"

#include <algorithm>

#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace sluice::hostcuda::jit {

using namespace llvm;

ThreadLocals::ThreadLocals(BodyFrame& frame, ArrayRef<AllocaInst*> locals, bool synchronises)
    : frame_(frame) {
  const DataLayout& layout = frame.function->getParent()->getDataLayout();
  const uint64_t threads = frame.context.block.count();
  for (AllocaInst* local : locals) {
    Place place;
    place.local = local;
    const bool escapes = PointerMayBeCaptured(local, true, true);
    const uint64_t bytes = layout.getTypeAllocSize(local->getAllocatedType());
    if (escapes || synchronises) {
      place.stride = alignTo(bytes, local->getAlign());
      // What may be reached through a generic pointer stays out of the noalias private memory.
      place.below_shared = escapes;
      if (escapes) {
        bytes_below_shared_ += alignTo(place.stride * threads, 64);
        place.offset = bytes_below_shared_;
      } else {
        place.offset = frame.layout.reserve(place.stride * threads);
      }
    } else {
      IRBuilder<> ir(frame.entry, frame.entry->begin());
      AllocaInst* common = ir.CreateAlloca(local->getAllocatedType(), nullptr, local->getName());
      common->setAlignment(local->getAlign());
      place.common = common;
    }
    places_.push_back(place);
  }
}

void ThreadLocals::map_places(IRBuilder<>& ir, const ThreadLoops& loops,
                              ValueToValueMapTy& map) const {
  for (const Place& place : places_) {
    if (place.common) {
      map[place.local] = place.common;
    } else if (place.below_shared) {
      Value* array = ir.CreateGEP(ir.getInt8Ty(), frame_.function->getArg(2),
                                  ir.getInt64(-static_cast<int64_t>(place.offset)));
      map[place.local] =
          ir.CreateGEP(ArrayType::get(ir.getInt8Ty(), place.stride), array, loops.linear);
    } else {
      map[place.local] = frame_.element(ir, place.offset, place.stride, loops.linear);
    }
  }
}

void clone_blocks(ArrayRef<BasicBlock*> blocks, const BodyFrame& frame, ValueToValueMapTy& map) {
  const SmallPtrSet<BasicBlock*, 32> inside(blocks.begin(), blocks.end());
  for (BasicBlock* block : blocks) {
    std::vector<std::pair<AllocaInst*, Value*>> allocas;
    for (Instruction& instruction : *block) {
      if (auto* alloca = dyn_cast<AllocaInst>(&instruction)) {
        allocas.push_back({alloca, map.lookup(alloca)});
      }
    }
    BasicBlock* copy = CloneBasicBlock(block, map, "", frame.function);
    map[block] = copy;
    for (auto [alloca, place] : allocas) {
      cast<Instruction>(map.lookup(alloca))->eraseFromParent();
      map[alloca] = place;
    }
    for (PHINode& phi : copy->phis()) {
      for (unsigned i = phi.getNumIncomingValues(); i-- > 0;) {
        if (!inside.contains(phi.getIncomingBlock(i))) phi.removeIncomingValue(i, false);
      }
    }
  }
}

void remap_blocks(ArrayRef<BasicBlock*> blocks, const ThreadLoops& loops, ValueToValueMapTy& map) {
  for (BasicBlock* block : blocks) {
    auto* copy = cast<BasicBlock>(map.lookup(block));
    for (Instruction& instruction : *copy) {
      RemapInstruction(&instruction, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    }
    mark_independent(*copy, loops);
  }
}

namespace {

Value* as_integer(Value* value, IRBuilder<>& ir) {
  const unsigned width = value->getType()->getPrimitiveSizeInBits();
  Value* bits =
      value->getType()->isIntegerTy() ? value : ir.CreateBitCast(value, ir.getIntNTy(width));
  return ir.CreateZExt(bits, ir.getInt64Ty());
}

Value* from_integer(Value* integer, Type* type, IRBuilder<>& ir) {
  if (type->isIntegerTy()) return ir.CreateTrunc(integer, type);
  return ir.CreateBitCast(ir.CreateTrunc(integer, ir.getIntNTy(type->getPrimitiveSizeInBits())),
                          type);
}

// A thread's slot of a matrix operation; each slot is an array of its own.
Value* slot(IRBuilder<>& ir, const BodyFrame& frame, const ExchangePlan& layout,
            const ptx::matrix_call::Operation& operation, unsigned number, Value* thread) {
  const uint64_t bytes = ptx::matrix_call::slot_bytes(operation);
  return frame.element(ir, layout.slots + number * bytes * layout.threads, bytes, thread);
}

Value* matrix_result(IRBuilder<>& ir, ArrayType* type, const PointCode& code,
                     const BodyFrame& frame, const ExchangePlan& layout, Value* thread) {
  Value* value = PoisonValue::get(type);
  const unsigned first = ptx::matrix_call::input_slots(code.matrix);
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    Value* place = slot(ir, frame, layout, code.matrix, first + i, thread);
    value = ir.CreateInsertValue(value, ir.CreateLoad(type->getElementType(), place), i);
  }
  return value;
}

uint64_t bytes_of_slots(const ptx::matrix_call::Operation& operation) {
  using namespace ptx::matrix_call;
  return uint64_t{slot_bytes(operation)} * (input_slots(operation) + result_slots(operation));
}

}  // namespace

void emit_operands(CallInst& call, const BodyFrame& frame, const ExchangePlan& layout,
                   Value* thread) {
  IRBuilder<> ir(&call);
  const SyncOperands operands = sync_operands(call, ir);
  const auto store = [&](Value* value, uint64_t offset, uint64_t bytes) {
    if (value) ir.CreateStore(value, frame.element(ir, offset, bytes, thread));
  };
  store(operands.mask, layout.mask, 4);
  for (unsigned i = 0; i < operands.slots.size(); ++i)
    ir.CreateStore(operands.slots[i], slot(ir, frame, layout, operands.code.matrix, i, thread));
  store(operands.value ? as_integer(operands.value, ir) : nullptr, layout.value, 8);
  const bool is_barrier = is_block_wide(operands.code.operation);
  if (is_barrier && layout.has_numbered_barriers == 0) return;
  store(operands.lane, layout.lane, 4);
  store(operands.clamp, layout.clamp, 4);
}

void emit_result(CallInst& placeholder, const PointCode& code, const BodyFrame& frame,
                 const ExchangePlan& layout, Value* thread) {
  IRBuilder<> ir(&placeholder);
  if (code.operation == SyncOperation::matrix) {
    auto* type = cast<ArrayType>(placeholder.getType());
    placeholder.replaceAllUsesWith(matrix_result(ir, type, code, frame, layout, thread));
    placeholder.eraseFromParent();
    return;
  }
  Value* bits = ir.CreateLoad(ir.getInt64Ty(), frame.element(ir, layout.result, 8, thread));
  Value* value = nullptr;
  if (auto* pair = dyn_cast<StructType>(placeholder.getType())) {
    Value* predicate =
        ir.CreateLoad(ir.getInt8Ty(), frame.element(ir, layout.predicate, 1, thread));
    value = ir.CreateInsertValue(PoisonValue::get(pair),
                                 from_integer(bits, pair->getElementType(0), ir), 0);
    value = ir.CreateInsertValue(value, ir.CreateTrunc(predicate, pair->getElementType(1)), 1);
  } else {
    value = from_integer(bits, placeholder.getType(), ir);
  }
  placeholder.replaceAllUsesWith(value);
  placeholder.eraseFromParent();
}

ExchangePlan reserve_exchange(BodyFrame& frame, const std::vector<SyncPoint>& points,
                              bool with_states) {
  ExchangePlan layout;
  layout.threads = static_cast<uint32_t>(frame.context.block.count());
  bool exchanges = false;
  uint64_t slot_bytes = 0;
  for (const SyncPoint& point : points) {
    layout.codes.push_back(point.code);
    exchanges |= point.code.operation != SyncOperation::barrier &&
                 point.code.operation != SyncOperation::meeting && !point.is_lockstep;
    if (point.code.operation == SyncOperation::matrix) {
      slot_bytes = std::max(slot_bytes, bytes_of_slots(point.code.matrix));
    }
  }
  const uint64_t threads = layout.threads;
  layout.slots = frame.layout.reserve(slot_bytes * threads);
  for (const SyncPoint& point : points)
    layout.has_numbered_barriers |= static_cast<uint32_t>(point.is_numbered);
  exchanges |= layout.has_numbered_barriers != 0;
  if (with_states) layout.state = frame.layout.reserve(4 * threads);
  const auto has = [&](SyncOperation operation) {
    return std::any_of(points.begin(), points.end(),
                       [&](const SyncPoint& point) { return point.code.operation == operation; });
  };
  if (with_states && has(SyncOperation::meeting) && has(SyncOperation::yield)) {
    layout.tries = frame.layout.reserve(sizeof(WarpTries) * ((threads + 31) / 32));
  }
  if (layout.has_numbered_barriers != 0) {
    layout.arrived = frame.layout.reserve(4 * uint64_t{barriers_of_a_block});
  }
  if (exchanges) {
    layout.mask = frame.layout.reserve(4 * threads);
    layout.value = frame.layout.reserve(8 * threads);
    layout.lane = frame.layout.reserve(4 * threads);
    layout.clamp = frame.layout.reserve(4 * threads);
    layout.result = frame.layout.reserve(8 * threads);
    layout.predicate = frame.layout.reserve(threads);
  }
  return layout;
}

}  // namespace sluice::hostcuda::jit
