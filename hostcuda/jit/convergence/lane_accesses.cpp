#include "hostcuda/jit/convergence/lane_accesses.hpp"

#include <algorithm>
#include <map>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

#include "hostcuda/jit/convergence/doubling_reach.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Memory of the thread alone, and memory that nothing writes.
bool is_private(const Instruction& access, const Value* pointer) {
  if (access.hasMetadata(LLVMContext::MD_invariant_load)) return true;
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects);
  return all_of(objects, [](const Value* object) {
    auto* argument = dyn_cast<Argument>(object);
    return isa<AllocaInst>(object) ||
           (argument && argument->getArgNo() >= ThreadFunction::first_parameter);
  });
}

// Touch is what an instruction does to memory that other lanes may touch too.
struct Touch {
  const Value* pointer = nullptr;
  Type* type = nullptr;
};

Touch touch_of(const Instruction& instruction) {
  if (auto* load = dyn_cast<LoadInst>(&instruction)) {
    return {load->getPointerOperand(), load->getType()};
  }
  if (auto* store = dyn_cast<StoreInst>(&instruction)) {
    return {store->getPointerOperand(), store->getValueOperand()->getType()};
  }
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    return {update->getPointerOperand(), update->getType()};
  }
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    return {exchange->getPointerOperand(), exchange->getCompareOperand()->getType()};
  }
  return {};
}

int64_t number_of(const void* pointer) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer));
}

void append_terms(const LaneAddress& address, std::vector<int64_t>& key) {
  for (const AddressTerm& term : address.terms) {
    key.push_back(number_of(term.value));
    key.insert(key.end(), term.factor.begin(), term.factor.end());
  }
}

// Elsewhere than in shared memory only what is certain counts, and nothing is where a thread has a
// part of the address from elsewhere.
bool is_never_certain(const LaneAddress& address) {
  return !address.shared && any_of(address.terms, [](const AddressTerm& term) {
    return !term.uniform || !is_equal_in_warps(term.factor);
  });
}

// What is added alone and is as wide as a pointer may be one.
std::vector<const Value*> bases_of(const LaneAddress& address) {
  std::vector<const Value*> bases;
  if (address.shared) return bases;
  for (const AddressTerm& term : address.terms) {
    const Type& type = *term.value->getType();
    if (!term.uniform || !(type.isPointerTy() || type.isIntegerTy(64))) continue;
    if (all_of(term.factor, [](int64_t factor) { return factor == 1; }))
      bases.push_back(term.value);
  }
  return bases;
}

std::vector<LaneAccess::Span> spans_of(const LaneAccess& access) {
  std::vector<LaneAccess::Span> spans;
  for (size_t thread = 0; thread < access.runs.size(); ++thread) {
    if (thread % warp_size == 0) spans.emplace_back();
    if (!access.runs[thread]) continue;
    const int64_t offset = access.address.offset[thread];
    LaneAccess::Span& span = spans.back();
    span.first = span.is_empty ? offset : std::min(span.first, offset);
    span.last = span.is_empty ? offset : std::max(span.last, offset);
    span.is_empty = false;
  }
  return spans;
}

// add_guard() adds a condition with the value that it has, or both of those that make it so: of
// two the one may be known of a lane where the other never is.
void add_guard(LaneAccess& access, const Value* condition, bool holds) {
  using namespace PatternMatch;
  const Value* first = nullptr;
  const Value* second = nullptr;
  if (match(condition, m_Not(m_Value(first)))) return add_guard(access, first, !holds);
  const bool are_both = holds ? match(condition, m_LogicalAnd(m_Value(first), m_Value(second)))
                              : match(condition, m_LogicalOr(m_Value(first), m_Value(second)));
  if (!are_both) return access.guards.push_back({condition, holds});
  add_guard(access, first, holds);
  add_guard(access, second, holds);
}

}  // namespace

bool exchange(const LaneAccess& first, const LaneAccess& second) {
  return (first.doubles || second.doubles) &&
         any_of(first.bases, [&](const Value* base) { return is_contained(second.bases, base); });
}

LaneAccesses::LaneAccesses(Function& function, const Dim3& block, const DominatorTree& dominators,
                           const LoopInfo& loops)
    : function_(function),
      dominators_(dominators),
      loops_(loops),
      uniformity_(function, {}),
      values_(function, block),
      warp_uniformity_(Uniformity::of_warps(function, [this](const Instruction& instruction) {
        const LaneValues::Lanes* lanes = values_.of(&instruction);
        return lanes && is_equal_in_warps(*lanes);
      })) {
  unsigned number = 0;
  for (const Loop* loop : const_cast<LoopInfo&>(loops).getLoopsInPreorder())
    loop_numbers_[loop] = std::min(number++, 63U);
  LaneAddresses addresses(function, values_, warp_uniformity_, loops);
  find_exchanged(addresses);
  for (Instruction& instruction : instructions(function))
    find(instruction, addresses);
}

uint64_t LaneAccesses::loops_around(const BasicBlock& block) const {
  uint64_t bits = 0;
  for (const Loop* loop = loops_.getLoopFor(&block); loop; loop = loop->getParentLoop())
    bits |= number_of_loop(*loop);
  return bits;
}

// Of a buffer in which lanes exchange every access counts, wherever a thread has its address from.
void LaneAccesses::find_exchanged(LaneAddresses& addresses) {
  const DoublingVariables variables = doubling_variables(loops_, warp_uniformity_);
  if (variables.empty()) return;
  for (Instruction& instruction : instructions(function_)) {
    const Touch touch = touch_of(instruction);
    if (!touch.pointer || is_private(instruction, touch.pointer)) continue;
    if (!reaches_by(*touch.pointer, variables)) continue;
    doubling_.insert(&instruction);
    for (const Value* base : bases_of(addresses.of(touch.pointer)))
      exchanged_.insert(base);
  }
}

void LaneAccesses::find(Instruction& instruction, LaneAddresses& addresses) {
  const Touch touch = touch_of(instruction);
  if (!touch.pointer || is_private(instruction, touch.pointer)) return;
  LaneAccess access;
  access.address = addresses.of(touch.pointer);
  access.bases = bases_of(access.address);
  const bool is_exchanged =
      any_of(access.bases, [&](const Value* base) { return exchanged_.contains(base); });
  if (is_never_certain(access.address) && !is_exchanged) return;
  access.doubles = doubling_.contains(&instruction);
  access.instruction = &instruction;
  access.is_atomic = isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction);
  access.reads = !isa<StoreInst>(instruction);
  access.writes = !isa<LoadInst>(instruction);
  access.is_volatile = instruction.isVolatile();
  const DataLayout& layout = function_.getParent()->getDataLayout();
  access.bytes = layout.getTypeStoreSize(touch.type).getFixedValue();
  find_guards(access);
  find_threads(access, values_);
  access.pattern = pattern_of(access);
  access.family = family_of(access);
  accesses_.push_back(std::move(access));
}

void LaneAccesses::find_guards(LaneAccess& access) const {
  const BasicBlock* block = access.instruction->getParent();
  const auto* node = dominators_.getNode(block);
  if (!node) return;
  for (node = node->getIDom(); node; node = node->getIDom()) {
    auto* branch = dyn_cast<BranchInst>(node->getBlock()->getTerminator());
    if (!branch || !branch->isConditional()) continue;
    if (branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    for (unsigned side = 0; side < 2; ++side) {
      const BasicBlockEdge edge(node->getBlock(), branch->getSuccessor(side));
      if (!dominators_.dominates(edge, block)) continue;
      add_guard(access, branch->getCondition(), side == 0);
    }
  }
}

void LaneAccesses::find_threads(LaneAccess& access, LaneValues& values) {
  access.runs.assign(values.threads(), true);
  for (const auto& [condition, holds] : access.guards) {
    const LaneValues::Lanes* lanes = values.of(condition);
    for (size_t thread = 0; lanes && thread < access.runs.size(); ++thread) {
      if (((*lanes)[thread] != 0) != holds) access.runs[thread] = false;
    }
  }
  access.spans = spans_of(access);
}

LaneAccess LaneAccesses::assuming(const LaneAccess& access, LaneValues& values) const {
  LaneAccess result = access;
  result.address = LaneAddresses(function_, values, warp_uniformity_, loops_)
                       .of(touch_of(*access.instruction).pointer, access.chosen);
  find_threads(result, values);
  return result;
}

// Branches matter by which threads they let through, and where a part of the address is not known
// by themselves.
unsigned LaneAccesses::pattern_of(const LaneAccess& access) {
  std::vector<int64_t> key = {static_cast<int64_t>(access.bytes), access.address.shared};
  for (size_t thread = 0; thread < access.runs.size(); ++thread) {
    const int64_t offset = access.address.offset[thread] - access.address.offset.front();
    key.push_back(2 * offset + (access.runs[thread] ? 1 : 0));
  }
  if (!access.address.terms.empty()) {
    append_terms(access.address, key);
    key.push_back(number_of(access.instruction->getParent()));
  }
  return patterns_.try_emplace(std::move(key), patterns_.size()).first->second;
}

unsigned LaneAccesses::family_of(const LaneAccess& access) {
  if (access.address.shared) return 0;
  std::vector<int64_t> key;
  append_terms(access.address, key);
  return families_.try_emplace(std::move(key), families_.size() + 1).first->second;
}

std::vector<std::vector<unsigned>> LaneAccesses::rivals() const {
  std::map<unsigned, std::vector<unsigned>> members;
  for (unsigned i = 0; i < accesses_.size(); ++i)
    members[accesses_[i].family].push_back(i);
  std::vector<std::vector<unsigned>> result(accesses_.size());
  for (unsigned i = 0; i < accesses_.size(); ++i) {
    const LaneAccess& access = accesses_[i];
    const auto add = [&](unsigned other) {
      const LaneAccess& first = accesses_[other];
      const bool written = first.writes || access.writes;
      if (written && (!first.is_atomic || !access.is_atomic)) result[i].push_back(other);
    };
    for (unsigned other : members[access.family])
      add(other);
    for (unsigned other = 0; !exchanged_.empty() && other < accesses_.size(); ++other) {
      if (accesses_[other].family != access.family && exchange(accesses_[other], access))
        add(other);
    }
  }
  return result;
}

bool LaneAccesses::diverges(const BasicBlock& block) {
  return !warp_uniformity_.has_uniform_branch(block);
}

}  // namespace sluice::hostcuda::jit
