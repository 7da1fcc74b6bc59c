#include "hostcuda/jit/block/kept_values.hpp"

#include <set>

#include <llvm/IR/Instructions.h>

namespace sluice::hostcuda::jit {

using namespace llvm;

KeptValues::KeptValues(BodyFrame& frame, const LiveValues& live, bool by_warps,
                       ArrayRef<BasicBlock*> block_entries)
    : frame_(frame), live_(live) {
  std::set<unsigned> for_the_block;
  for (BasicBlock* entry : block_entries)
    for_the_block.insert(live_in(entry).begin(), live_in(entry).end());
  for (unsigned i = 0; i < live.slots.size(); ++i) {
    Type* type = live.slots[i].storage->getAllocatedType();
    Place place;
    if (live.slots[i].uniform) {
      IRBuilder<> ir(frame.entry, frame.entry->begin());
      place.variable = ir.CreateAlloca(type, nullptr, "uniform");
    } else {
      place.array = ThreadArray::make(frame, type, by_warps && !for_the_block.contains(i));
    }
    places_.push_back(place);
  }
}

KeptValues::UniformValues KeptValues::begin_warp(BasicBlock* entry, IRBuilder<>& before,
                                                 IRBuilder<>& start) const {
  UniformValues left(places_.size());
  for (size_t i = 0; i < places_.size(); ++i) {
    AllocaInst* variable = places_[i].variable;
    if (variable) left[i] = start.CreateLoad(variable->getAllocatedType(), variable);
  }
  for (unsigned i : live_in(entry)) {
    AllocaInst* variable = places_[i].variable;
    if (!variable) continue;
    start.CreateStore(before.CreateLoad(variable->getAllocatedType(), variable), variable);
  }
  return left;
}

void KeptValues::drop_warp(IRBuilder<>& ir, const UniformValues& values) const {
  for (size_t i = 0; i < places_.size(); ++i) {
    if (values[i]) ir.CreateStore(values[i], places_[i].variable);
  }
}

KeptValues::UniformValues KeptValues::read_uniform(IRBuilder<>& ir, BasicBlock* entry) const {
  UniformValues values(places_.size());
  for (unsigned i : live_in(entry)) {
    AllocaInst* variable = places_[i].variable;
    if (variable) values[i] = ir.CreateLoad(variable->getAllocatedType(), variable);
  }
  return values;
}

RegionSlots KeptValues::enter(const BlockSet& blocks, const UniformValues& uniform_values,
                              ValueToValueMapTy& map) {
  RegionSlots slots;
  slots.variables.resize(places_.size());
  slots.uniform_values = uniform_values;
  IRBuilder<> entry_ir(frame_.entry, frame_.entry->begin());
  for (size_t i = 0; i < places_.size(); ++i) {
    AllocaInst* storage = live_.slots[i].storage;
    const bool touched =
        blocks.contains(storage->getParent()) || any_of(storage->users(), [&](User* user) {
          return blocks.contains(cast<Instruction>(user)->getParent());
        });
    if (!touched) continue;
    slots.variables[i] = entry_ir.CreateAlloca(storage->getAllocatedType(), nullptr, "kept");
    map[storage] = slots.variables[i];
  }
  return slots;
}

void KeptValues::load(IRBuilder<>& ir, BasicBlock* entry, const RegionSlots& slots,
                      const ThreadLoops& loops) const {
  for (unsigned i : live_in(entry)) {
    AllocaInst* variable = slots.variables[i];
    if (!variable) continue;
    Value* value = slots.uniform_values[i];
    if (!value) {
      value = ir.CreateLoad(variable->getAllocatedType(), places_[i].array.element(ir, loops));
    }
    ir.CreateStore(value, variable);
  }
  mark_independent(*ir.GetInsertBlock(), loops);
}

// The slots that store() writes.
std::vector<unsigned> KeptValues::stored(const BlockSet& blocks, ArrayRef<BasicBlock*> next,
                                         const RegionSlots& slots,
                                         function_ref<bool(unsigned slot)> is_wanted) const {
  std::set<unsigned> wanted;
  for (BasicBlock* entry : next) {
    const std::vector<unsigned>& live = live_in(entry);
    wanted.insert(live.begin(), live.end());
  }
  std::vector<unsigned> found;
  for (unsigned i : wanted)
    if (slots.variables[i] && is_written(i, blocks) && is_wanted(i)) found.push_back(i);
  return found;
}

void KeptValues::forget(IRBuilder<>& ir, const BlockSet& blocks, ArrayRef<BasicBlock*> next,
                        const RegionSlots& slots,
                        function_ref<bool(unsigned slot)> is_wanted) const {
  for (unsigned i : stored(blocks, next, slots, is_wanted)) {
    AllocaInst* place = places_[i].variable;
    if (place) ir.CreateStore(UndefValue::get(place->getAllocatedType()), place);
  }
}

void KeptValues::store(IRBuilder<>& ir, const BlockSet& blocks, ArrayRef<BasicBlock*> next,
                       const RegionSlots& slots, const ThreadLoops& loops,
                       function_ref<bool(unsigned slot)> is_wanted) const {
  for (unsigned i : stored(blocks, next, slots, is_wanted)) {
    AllocaInst* variable = slots.variables[i];
    Value* value = ir.CreateLoad(variable->getAllocatedType(), variable);
    Value* place = places_[i].variable;
    if (!place) place = places_[i].array.element(ir, loops);
    ir.CreateStore(value, place);
  }
}

const std::vector<unsigned>& KeptValues::live_in(BasicBlock* entry) const {
  static const std::vector<unsigned> none;
  auto found = live_.live_in.find(entry);
  return found == live_.live_in.end() ? none : found->second;
}

bool KeptValues::is_written(unsigned slot, const BlockSet& blocks) const {
  return any_of(live_.slots[slot].storage->users(), [&](User* user) {
    return isa<StoreInst>(user) && blocks.contains(cast<Instruction>(user)->getParent());
  });
}

}  // namespace sluice::hostcuda::jit
