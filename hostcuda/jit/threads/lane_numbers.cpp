#include "hostcuda/jit/threads/lane_numbers.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;
using namespace llvm::PatternMatch;

// LaneNumbers finds what an instruction is for the lanes of one warp.
class LaneNumbers {
 public:
  LaneNumbers(const WarpLoops& warp, const ThreadLoops& loops)
      : first_(warp.first[0]), tid_(loops.tid[0]), lane_(loops.lane) {}

  // of() is the same as `instruction`, in another form; null where there is no better one.
  Value* of(Instruction& instruction) const {
    IRBuilder<> ir(&instruction);
    Type* type = instruction.getType();
    const auto tid = m_CombineOr(m_Specific(tid_), m_ZExt(m_Specific(tid_)));
    if (match(&instruction, m_And(tid, m_SpecificInt(31)))) return ir.CreateZExt(lane_, type);
    if (match(&instruction, m_LShr(tid, m_SpecificInt(5))))
      return ir.CreateZExt(ir.CreateLShr(first_, 5), type);
    Value* rest = nullptr;
    // A shift goes over either half of a union.
    if (match(&instruction, m_LShr(m_c_Or(m_Value(rest), tid), m_SpecificInt(5))))
      return ir.CreateOr(ir.CreateLShr(rest, 5), ir.CreateZExt(ir.CreateLShr(first_, 5), type));
    // Of a sum where the other part has no lanes' bits: nothing is carried out of them.
    if (match(&instruction, m_LShr(m_c_Add(m_Value(rest), tid), m_SpecificInt(5))) &&
        has_no_lane_bits(rest, instruction)) {
      Value* first = ir.CreateZExt(first_, type);
      return ir.CreateLShr(ir.CreateAdd(rest, first), 5);
    }
    return nullptr;
  }

 private:
  static bool has_no_lane_bits(const Value* value, const Instruction& instruction) {
    const DataLayout& layout = instruction.getModule()->getDataLayout();
    return computeKnownBits(value, layout).countMinTrailingZeros() >= 5;
  }

  Value* first_;
  Value* tid_;
  Value* lane_;
};

}  // namespace

void fold_lanes(ArrayRef<BasicBlock*> blocks, const WarpLoops& warp, const ThreadLoops& loops,
                ValueToValueMapTy& map) {
  const LaneNumbers numbers(warp, loops);
  for (BasicBlock* block : blocks) {
    for (Instruction& instruction : make_early_inc_range(*cast<BasicBlock>(map.lookup(block)))) {
      Value* same = numbers.of(instruction);
      if (same == nullptr) continue;
      instruction.replaceAllUsesWith(same);
      instruction.eraseFromParent();
    }
  }
}

}  // namespace sluice::hostcuda::jit
