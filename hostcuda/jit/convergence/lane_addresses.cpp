#include "hostcuda/jit/convergence/lane_addresses.hpp"

#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Operator.h>

#include "hostcuda/jit/convergence/loop_variable.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

constexpr unsigned most_address_steps = 64;  // of operands' operands

// known_multiple() is a number that divides the value.
uint64_t known_multiple(const Value* value, unsigned depth = 0) {
  if (auto* constant = dyn_cast<ConstantInt>(value)) {
    const APInt magnitude = constant->getValue().abs();
    return magnitude.getActiveBits() <= 32 ? magnitude.getZExtValue() : 1;
  }
  auto* operation = dyn_cast<Instruction>(value);
  if (!operation || depth > 8) return 1;
  const auto of = [&](unsigned i) { return known_multiple(operation->getOperand(i), depth + 1); };
  switch (operation->getOpcode()) {
    case Instruction::Mul:
      return of(0) * of(1) < (uint64_t{1} << 32) ? of(0) * of(1) : 1;
    case Instruction::Shl: {
      auto* amount = dyn_cast<ConstantInt>(operation->getOperand(1));
      return amount && amount->getValue().ult(24) && of(0) < (uint64_t{1} << 32)
                 ? of(0) << amount->getZExtValue()
                 : 1;
    }
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc:
    case Instruction::Freeze:
      return of(0);
    default:
      return 1;
  }
}

std::optional<int64_t> constant_number(const Value* value) {
  auto* constant = value ? dyn_cast<ConstantInt>(value) : nullptr;
  if (!constant || constant->getBitWidth() > 64) return std::nullopt;
  return constant->getSExtValue();
}

// Counter is a loop's variable, and how often another one grows by what it grows by.
struct Counter {
  const PHINode* phi = nullptr;
  int64_t times = 1;
};

// counter_of() finds the one that grows least, of those that start at a constant, so that all that
// goes round the loop with them is told by the same one.
Counter counter_of(const PHINode& phi, const LoopInfo& loops) {
  Counter found{&phi};
  const auto step = constant_number(induction_step(phi, loops));
  if (!step) return found;
  for (const PHINode& other : phi.getParent()->phis()) {
    const auto own = constant_number(induction_step(other, loops));
    if (!own || *own == 0 || *step % *own != 0 || std::abs(*step / *own) <= std::abs(found.times))
      continue;
    if (constant_number(loop_variable(other, loops)->start)) found = {&other, *step / *own};
  }
  return found;
}

}  // namespace

const Value* induction_step(const PHINode& phi, const LoopInfo& loops) {
  const std::optional<LoopVariable> variable = loop_variable(phi, loops);
  const auto* next = variable ? dyn_cast<BinaryOperator>(variable->next) : nullptr;
  if (!next || next->getOpcode() != Instruction::Add) return nullptr;
  for (unsigned side = 0; side < 2; ++side) {
    if (next->getOperand(side) == &phi) return next->getOperand(1 - side);
  }
  return nullptr;
}

LaneAddress LaneAddresses::of(const Value* pointer, const Chosen& chosen) {
  chosen_ = chosen;
  found_ = {};
  found_.offset.resize(values_.threads());
  add(pointer, Factor(values_.threads(), 1), 0);
  llvm::erase_if(found_.terms, [](const AddressTerm& term) {
    return llvm::all_of(term.factor, [](int64_t factor) { return factor == 0; });
  });
  return std::move(found_);
}

void LaneAddresses::add(const Value* value, const Factor& factor, unsigned depth) {
  if (const auto chosen = chosen_.find(value); chosen != chosen_.end()) value = chosen->second;
  if (value == function_.getArg(ThreadFunction::shared)) {
    found_.shared = true;
    return;
  }
  if (value == function_.getArg(ThreadFunction::origin)) return;
  if (const LaneValues::Lanes* lanes = values_.of(value)) {
    for (size_t thread = 0; thread < factor.size(); ++thread)
      found_.offset[thread] += factor[thread] * signed_lane((*lanes)[thread], *value->getType());
    return;
  }
  auto* instruction = dyn_cast<Instruction>(value);
  if (instruction && depth < most_address_steps && add_operation(*instruction, factor, depth + 1))
    return;
  term(value, factor).uniform = is_uniform(value);
}

// add_operation() is false where the operation is none that sums.
bool LaneAddresses::add_operation(const Instruction& operation, const Factor& factor,
                                  unsigned depth) {
  const auto negative = [&] {
    Factor result = factor;
    for (int64_t& element : result)
      element = -element;
    return result;
  };
  switch (operation.getOpcode()) {
    case Instruction::Or:
      if (!cast<PossiblyDisjointInst>(operation).isDisjoint()) return false;
      [[fallthrough]];
    case Instruction::Add:
      add(operation.getOperand(0), factor, depth);
      add(operation.getOperand(1), factor, depth);
      return true;
    case Instruction::Sub:
      add(operation.getOperand(0), factor, depth);
      add(operation.getOperand(1), negative(), depth);
      return true;
    case Instruction::Mul:
      return add_product(operation.getOperand(0), operation.getOperand(1), factor, depth) ||
             add_product(operation.getOperand(1), operation.getOperand(0), factor, depth);
    case Instruction::Shl: {
      auto* amount = dyn_cast<ConstantInt>(operation.getOperand(1));
      if (!amount || amount->getValue().uge(32)) return false;
      Factor scaled = factor;
      for (int64_t& element : scaled)
        element *= int64_t{1} << amount->getZExtValue();
      add(operation.getOperand(0), scaled, depth);
      return true;
    }
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc:
    case Instruction::Freeze:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
      add(operation.getOperand(0), factor, depth);
      return true;
    case Instruction::GetElementPtr:
      add_offsets(&operation, factor, depth);
      return true;
    case Instruction::PHI:
      return add_induction(cast<PHINode>(operation), factor, depth);
    default:
      return false;
  }
}

bool LaneAddresses::add_product(const Value* value, const Value* by, const Factor& factor,
                                unsigned depth) {
  const LaneValues::Lanes* lanes = values_.of(by);
  if (!lanes) return false;
  Factor scaled = factor;
  for (size_t thread = 0; thread < scaled.size(); ++thread)
    scaled[thread] *= signed_lane((*lanes)[thread], *by->getType());
  add(value, scaled, depth);
  return true;
}

void LaneAddresses::add_offsets(const Value* address, const Factor& factor, unsigned depth) {
  const DataLayout& layout = function_.getParent()->getDataLayout();
  const auto& gep = *cast<GEPOperator>(address);
  add(gep.getPointerOperand(), factor, depth);
  for (auto index = gep_type_begin(gep); index != gep_type_end(gep); ++index) {
    int64_t bytes = 0;
    const bool is_field = index.isStruct();
    if (is_field) {
      const auto field = cast<ConstantInt>(index.getOperand())->getZExtValue();
      bytes = static_cast<int64_t>(
          layout.getStructLayout(index.getStructType())->getElementOffset(field).getFixedValue());
      for (size_t thread = 0; thread < factor.size(); ++thread)
        found_.offset[thread] += factor[thread] * bytes;
      continue;
    }
    bytes = static_cast<int64_t>(index.getSequentialElementStride(layout).getFixedValue());
    Factor scaled = factor;
    for (int64_t& element : scaled)
      element *= bytes;
    add(index.getOperand(), scaled, depth);
  }
}

// A loop's variable is where it starts and what it has gained since.
bool LaneAddresses::add_induction(const PHINode& phi, const Factor& factor, unsigned depth) {
  const Value* step = induction_step(phi, loops_);
  if (!step) return false;
  add(loop_variable(phi, loops_)->start, factor, depth);
  const Counter counter = counter_of(phi, loops_);
  const Value* start = loop_variable(*counter.phi, loops_)->start;
  Factor scaled = factor;
  for (int64_t& element : scaled)
    element *= counter.times;
  const LaneValues::Lanes* lanes = values_.of(counter.phi);
  const LaneValues::Lanes* starts = values_.of(start);
  if (lanes && starts) {
    const Type& type = *counter.phi->getType();
    for (size_t thread = 0; thread < scaled.size(); ++thread)
      found_.offset[thread] += scaled[thread] * (signed_lane((*lanes)[thread], type) -
                                                 signed_lane((*starts)[thread], type));
    return true;
  }
  AddressTerm& gained = term(counter.phi, scaled);
  gained.uniform = is_uniform(step);
  gained.step = std::max<uint64_t>(known_multiple(induction_step(*counter.phi, loops_)), 1);
  gained.start = start;
  return true;
}

AddressTerm& LaneAddresses::term(const Value* value, const Factor& factor) {
  for (AddressTerm& known : found_.terms) {
    if (known.value != value) continue;
    for (size_t thread = 0; thread < factor.size(); ++thread)
      known.factor[thread] += factor[thread];
    return known;
  }
  AddressTerm added;
  added.value = value;
  added.factor = factor;
  found_.terms.push_back(std::move(added));
  return found_.terms.back();
}

bool LaneAddresses::is_uniform(const Value* value) const {
  if (const LaneValues::Lanes* lanes = values_.of(value)) {
    return is_equal_in_warps(*lanes);
  }
  auto* instruction = dyn_cast<Instruction>(value);
  return !instruction || uniformity_.is_uniform(*instruction);
}

}  // namespace sluice::hostcuda::jit
