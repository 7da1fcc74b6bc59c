#include "hostcuda/jit/object/optimiser.hpp"

#include <string>

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCContext.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Transforms/AggressiveInstCombine/AggressiveInstCombine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "hostcuda/jit/lowering/thread_function.hpp"
#include "hostcuda/jit/object/thread_switches.hpp"
#include "hostcuda/jit/stretches/first_loads.hpp"
#include "hostcuda/jit/stretches/idle_stretches.hpp"
#include "hostcuda/jit/stretches/one_lane.hpp"
#include "hostcuda/jit/stretches/row_stretches.hpp"
#include "hostcuda/jit/stretches/stepped_threads.hpp"
#include "hostcuda/jit/stretches/thread_stretches.hpp"
#include "hostcuda/jit/threads/left_values.hpp"
#include "hostcuda/jit/vectors/idle_masks.hpp"
#include "hostcuda/jit/vectors/narrow_masks.hpp"
#include "hostcuda/jit/vectors/vector_divisions.hpp"
#include "hostcuda/jit/vectors/whole_vectors.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// PassManagers holds LLVM's analysis managers, wired to each other.
struct PassManagers {
  explicit PassManagers(TargetMachine& target) : builder(&target) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder;
};

// A thread's number in the grid is a sum again where the passes have made an `or` of it, since the
// first of its block has none of its bits. Later ones forget why it is no other, and then nothing
// is known of how it grows from thread to thread. Who takes bits of it, as of a warp's number, sees
// through the `or` alone.
void restore_sums(Function& function) {
  Argument* tid = function.getArg(ThreadFunction::tid);
  for (User* user : make_early_inc_range(tid->users())) {
    auto* disjoint = dyn_cast<PossiblyDisjointInst>(user);
    const auto takes_bits = [](const User* of) {
      const auto* operation = dyn_cast<BinaryOperator>(of);
      return operation && (operation->isBitwiseLogicOp() || operation->isShift());
    };
    if (!disjoint || !disjoint->isDisjoint() || any_of(disjoint->users(), takes_bits)) continue;
    IRBuilder<> ir(disjoint);
    Value* sum = ir.CreateAdd(disjoint->getOperand(0), disjoint->getOperand(1), "", true, true);
    sum->takeName(disjoint);
    disjoint->replaceAllUsesWith(sum);
    disjoint->eraseFromParent();
  }
}

// What costs little and saves most.
void add_first_passes(FunctionPassManager& passes) {
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());
}

}  // namespace

void simplify(Function& function, TargetMachine& target) {
  PassManagers managers(target);
  FunctionPassManager passes;
  add_first_passes(passes);
  passes.addPass(CorrelatedValuePropagationPass());
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(EarlyCSEPass(true));
  // The bytes by which a packed structure is read become one access. It needs addresses with one
  // base, as the passes above leave them, and drops the marks of loops, which come later.
  passes.addPass(AggressiveInstCombinePass());
  passes.addPass(ADCEPass());
  passes.run(function, managers.functions);
  restore_sums(function);
}

void optimise(Module& module, TargetMachine& target) {
  PassManagers managers(target);
  managers.builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager& passes, OptimizationLevel) {
        passes.addPass(LeftValuesPass());
        passes.addPass(IdleMasksPass());
        passes.addPass(ThreadSwitchesPass());
        passes.addPass(OneLanePass());
        passes.addPass(LoopSimplifyPass());
        passes.addPass(LCSSAPass());
        passes.addPass(FirstLoadsPass());
        passes.addPass(SteppedThreadsPass());
        passes.addPass(RowStretchesPass());
        passes.addPass(LoopSimplifyPass());
        passes.addPass(ThreadStretchesPass());
        passes.addPass(LoopSimplifyPass());
        passes.addPass(IdleStretchesPass());
        passes.addPass(LoopSimplifyPass());
        passes.addPass(WholeVectorsPass());
        passes.addPass(LoopSimplifyPass());
        passes.addPass(VectorDivisionsPass());
        passes.addPass(EarlyCSEPass());
      });
  managers.builder.registerOptimizerLastEPCallback(
      [](ModulePassManager& passes, OptimizationLevel) {
        passes.addPass(createModuleToFunctionPassAdaptor(NarrowMasksPass()));
      });
  managers.builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3)
      .run(module, managers.modules);
}

// Its instructions are chosen one by one and its registers block by block: of the time that a good
// form takes, that is half.
void optimise_quickly(Module& module, TargetMachine& target) {
  PassManagers managers(target);
  FunctionPassManager passes;
  add_first_passes(passes);
  ModulePassManager all;
  all.addPass(GlobalDCEPass());
  all.addPass(AlwaysInlinerPass());
  all.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, managers.modules);
  target.setOptLevel(CodeGenOptLevel::None);
}

Result<std::unique_ptr<MemoryBuffer>> compile(Module& module, TargetMachine& target) {
  SmallVector<char, 0> bytes;
  {
    raw_svector_ostream stream(bytes);
    legacy::PassManager passes;
    MCContext* context = nullptr;
    if (target.addPassesToEmitMC(passes, context, stream)) {
      return system_error("LLVM can't write object code for this machine");
    }
    passes.run(module);
  }
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(bytes), "sluice-kernel", false);
}

Status verify(const Module& module, const char* stage) {
  std::string complaint;
  raw_string_ostream stream(complaint);
  if (!verifyModule(module, &stream)) return {};
  for (char& character : complaint) {
    if (character == '\n') character = ' ';
  }
  return system_error(fmt::format("internal error: invalid code after {}: {}", stage, complaint));
}

}  // namespace sluice::hostcuda::jit
