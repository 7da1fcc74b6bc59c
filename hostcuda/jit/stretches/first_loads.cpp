#include "hostcuda/jit/stretches/first_loads.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/stretches/counted_loop.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool take_out(const CountedLoop& loop, ScalarEvolution&) {
  Instruction* before = loop.loop->getLoopPreheader()->getTerminator();
  bool changed = false;
  for (Instruction& instruction : make_early_inc_range(*loop.header)) {
    if (instruction.mayHaveSideEffects()) break;
    auto* load = dyn_cast<LoadInst>(&instruction);
    bool moved = false;
    if (!load || !load->isSimple() ||
        !loop.loop->makeLoopInvariant(load->getPointerOperand(), moved, before))
      continue;
    load->moveBefore(before);
    load->setMetadata(LLVMContext::MD_access_group, nullptr);
    changed = true;
  }
  return changed;
}

}  // namespace

PreservedAnalyses FirstLoadsPass::run(Function& function, FunctionAnalysisManager& analyses) {
  return change_counted_loops(function, analyses, {.may_carry = true, .may_be_outer = true},
                              take_out);
}

}  // namespace sluice::hostcuda::jit
