#include "hostcuda/jit/stretches/shared_loads.hpp"

#include <algorithm>
#include <optional>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

int64_t bytes_of(const LoadInst& load) {
  return static_cast<int64_t>(load.getType()->getPrimitiveSizeInBits().getFixedValue() / 8);
}

// runs_whole() holds where each round comes to all of the loop.
bool runs_whole(const CountedLoop& loop) {
  return all_of(loop.loop->blocks(), [&](const BasicBlock* block) {
    return block == loop.latch || block->getSingleSuccessor() != nullptr;
  });
}

// Neighbour is a load of which each round reads right behind the round before.
struct Neighbour {
  LoadInst* load = nullptr;
  const SCEV* start = nullptr;
};

std::optional<Neighbour> neighbour(LoadInst& load, const CountedLoop& loop,
                                   ScalarEvolution& evolution) {
  if (!load.isSimple()) return std::nullopt;
  const SCEV* start = loop.start_of(load.getPointerOperand(), bytes_of(load), evolution);
  if (start == nullptr) return std::nullopt;
  return Neighbour{&load, start};
}

// elements_ahead() is by how many elements `a` reads ahead of `b`, where that is known.
std::optional<int64_t> elements_ahead(const Neighbour& a, const Neighbour& b,
                                      ScalarEvolution& evolution) {
  if (a.load->getType() != b.load->getType()) return std::nullopt;
  const auto* bytes = dyn_cast<SCEVConstant>(evolution.getMinusSCEV(a.start, b.start));
  if (bytes == nullptr) return std::nullopt;
  const int64_t ahead = bytes->getAPInt().getSExtValue();
  if (ahead % bytes_of(*a.load) != 0) return std::nullopt;
  return ahead / bytes_of(*a.load);
}

// An address left over would keep the vectoriser from computing those it shares terms with once.
void replace(LoadInst& load, Instruction& by) {
  by.takeName(&load);
  load.replaceAllUsesWith(&by);
  RecursivelyDeleteTriviallyDeadInstructions(&load);
}

}  // namespace

SharedLoads::SharedLoads(const CountedLoop& loop, ScalarEvolution& evolution) {
  if (!runs_whole(loop)) return;
  SmallVector<Neighbour, 8> all;
  for (BasicBlock* block : loop.loop->blocks()) {
    for (Instruction& instruction : *block) {
      auto* load = dyn_cast<LoadInst>(&instruction);
      if (load == nullptr) continue;
      if (const auto found = neighbour(*load, loop, evolution)) all.push_back(*found);
    }
  }
  const auto is_ahead_of_all = [&](const Neighbour& each) {
    return none_of(all, [&](const Neighbour& other) {
      return elements_ahead(other, each, evolution).value_or(0) == 1;
    });
  };
  SmallPtrSet<LoadInst*, 8> taken;
  for (const Neighbour& first : all) {
    if (!is_ahead_of_all(first)) continue;
    Chain chain{first.start, nullptr, {first.load}};
    for (const Neighbour* last = &first; last != nullptr;) {
      const auto* next = find_if(all, [&](const Neighbour& other) {
        return !taken.contains(other.load) && elements_ahead(*last, other, evolution) == 1;
      });
      last = next == all.end() ? nullptr : next;
      if (last == nullptr) continue;
      taken.insert(last->load);
      chain.loads.push_back(last->load);
    }
    if (chain.loads.size() > 1) chains_.push_back(std::move(chain));
  }
}

void SharedLoads::expand(ScalarEvolution& evolution, Instruction* place) {
  SCEVExpander expander(evolution, place->getDataLayout(), "shared");
  for (Chain& chain : chains_) {
    chain.place = expander.expandCodeFor(chain.start, chain.start->getType(), place);
  }
}

void SharedLoads::take_over(const CountedLoop& loop, BasicBlock* before, Value* first,
                            Value* index_at_0) const {
  for (const Chain& chain : chains_) {
    // At the beginning of its round: what the next round takes over must not be used before it is
    // there, or the vectoriser does not know it.
    IRBuilder<> ir(loop.header, loop.header->getFirstNonPHIIt());
    LoadInst* old = chain.loads.front();
    Type* type = old->getType();
    Value* round = ir.CreateZExtOrTrunc(ir.CreateSub(loop.index, index_at_0), ir.getInt64Ty());
    LoadInst* ahead =
        ir.CreateAlignedLoad(type, ir.CreateGEP(type, chain.place, round), old->getAlign());
    ahead->copyMetadata(*old);
    replace(*old, *ahead);
    Value* loaded_before = ahead;
    for (size_t behind = 1; behind < chain.loads.size(); ++behind) {
      LoadInst* load = chain.loads[behind];
      ir.SetInsertPoint(before->getTerminator());
      Value* element = ir.CreateSub(first, ir.getInt64(behind));
      Value* at_first =
          ir.CreateAlignedLoad(type, ir.CreateGEP(type, chain.place, element), load->getAlign());
      ir.SetInsertPoint(loop.header, loop.header->begin());
      PHINode* taken = ir.CreatePHI(type, 2);
      taken->addIncoming(at_first, before);
      taken->addIncoming(loaded_before, loop.latch);
      replace(*load, *taken);
      loaded_before = taken;
    }
  }
}

}  // namespace sluice::hostcuda::jit
