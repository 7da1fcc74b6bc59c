#include "analysis/rewrite/passes.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include <llvm/Analysis/RegionInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <polly/ScopDetection.h>
#include <polly/ScopDetectionDiagnostic.h>
#include <polly/ScopInfo.h>

#include "analysis/rewrite/choices.hpp"
#include "analysis/rewrite/divisions.hpp"
#include "analysis/rewrite/exit_values.hpp"
#include "analysis/rewrite/isl_allowance.hpp"
#include "analysis/rewrite/legibility.hpp"
#include "analysis/rewrite/region_exits.hpp"
#include "base/assert.hpp"
#include "relation/isl_context.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

// The largest models that are built take 378,000 allocations and 930,000 numbers, and a tenth of a
// second.
constexpr IslAllowance largest_model = {.allocations = 400'000, .numbers = 2'000'000};

IslAllowance allowance_of_a_model(const Budget::Cost& left) {
  return {
      .allocations = std::min(largest_model.allocations, left.steps / IslWork::steps_of_operation),
      .numbers = largest_model.numbers,
      .bytes = left.bytes};
}

// Polly's switches are options of the command line; they are set once, without parsing one.
void set_polly_options() {
  static std::once_flag once;
  std::call_once(once, [] {
    static constexpr const char* on[] = {
        "polly-process-unprofitable",  "polly-detect-full-functions",
        "polly-allow-nonaffine",       "polly-allow-nonaffine-branches",
        "polly-allow-nonaffine-loops", "polly-allow-differing-element-types",
        "polly-detect-track-failures"};
    // Error blocks would hide the accesses of blocks that trap; delinearisation, run-time alias
    // checks and hoisted loads add assumptions; an error in isl must not end the process.
    static constexpr const char* off[] = {
        "polly-allow-error-blocks", "polly-delinearize", "polly-use-runtime-alias-checks",
        "polly-invariant-load-hoisting", "polly-on-isl-error-abort"};
    auto& options = cl::getRegisteredOptions();
    const auto set = [&](const char* name, const char* value) {
      const auto found = options.find(name);
      SLUICE_ASSERT(found != options.end());
      found->second->addOccurrence(0, name, value);
    };
    for (const char* name : on)
      set(name, "true");
    for (const char* name : off)
      set(name, "false");
    set("polly-stmt-granularity", "bb");
    // isl 0.25's bounded wrapping was seen to add points to a union of sets with divisions.
    set("polly-isl-arg", "--no-coalesce-bounded-wrapping");
  });
}

// remove_unreachable_ends() lets blocks that end in `unreachable` return: Polly takes no other end,
// and a way that is never gone may be looked at all the same.
void remove_unreachable_ends(Function& function) {
  for (BasicBlock& block : function) {
    if (!isa<UnreachableInst>(block.getTerminator())) continue;
    block.getTerminator()->eraseFromParent();
    ReturnInst::Create(function.getContext(), &block);
  }
}

// What Polly found of the whole function, nullptr where it did not look.
const polly::ScopDetection::DetectionContext* detected(Function& function,
                                                       FunctionAnalysisManager& analyses) {
  auto& detection = analyses.getResult<polly::ScopAnalysis>(function);
  auto& regions = analyses.getResult<RegionInfoAnalysis>(function);
  return detection.getDetectionContext(regions.getTopLevelRegion());
}

// Polly (19) follows a null pointer where the whole function is one part that is not affine: it has
// entered the loop around the function, which is none, among those that the part hides.
bool is_one_statement(const polly::ScopDetection::DetectionContext* found) {
  return found != nullptr && found->BoxedLoopsSet.count(nullptr) != 0;
}

}  // namespace

bool inline_calls(llvm::Function& kernel) {
  constexpr unsigned most_calls = 1000;
  constexpr unsigned most_instructions = 30'000;
  unsigned inlined = 0;
  while (true) {
    std::vector<CallBase*> calls;
    for (Instruction& instruction : instructions(kernel)) {
      auto* call = dyn_cast<CallBase>(&instruction);
      const Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
      if (callee != nullptr && !callee->isDeclaration() && callee != &kernel) calls.push_back(call);
    }
    if (calls.empty()) return true;
    unsigned size = kernel.getInstructionCount();
    for (CallBase* call : calls) {
      size += call->getCalledFunction()->getInstructionCount();
      InlineFunctionInfo information;
      if (size > most_instructions || ++inlined > most_calls ||
          !InlineFunction(*call, information).isSuccess()) {
        return false;
      }
    }
  }
}

struct Passes::Managers {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  FunctionPassManager folding;
  FunctionPassManager reduction;
  FunctionPassManager specialisation;
  FunctionPassManager counting;
  FunctionPassManager again;
  FunctionPassManager canonical;
};

Passes::Passes() : managers_(std::make_unique<Managers>()) {
  set_polly_options();
  Managers& m = *managers_;
  m.functions.registerPass([] { return polly::ScopAnalysis(); });
  m.functions.registerPass([] { return polly::ScopInfoAnalysis(); });
  PassBuilder builder;
  builder.registerModuleAnalyses(m.modules);
  builder.registerCGSCCAnalyses(m.components);
  builder.registerFunctionAnalyses(m.functions);
  builder.registerLoopAnalyses(m.loops);
  builder.crossRegisterProxies(m.loops, m.functions, m.components, m.modules);

  m.folding.addPass(InstSimplifyPass());
  m.folding.addPass(SimplifyCFGPass());
  m.folding.addPass(InstSimplifyPass());

  m.reduction.addPass(ADCEPass());
  m.reduction.addPass(SimplifyCFGPass());
  m.reduction.addPass(createFunctionToLoopPassAdaptor(LoopDeletionPass()));
  m.reduction.addPass(ADCEPass());
  m.reduction.addPass(SimplifyCFGPass());

  // No InstCombine: it folds pairs of comparisons and sums into masks and unsigned tricks that no
  // affine model can read.
  m.specialisation.addPass(InstSimplifyPass());
  m.specialisation.addPass(SimplifyCFGPass());
  m.specialisation.addPass(CorrelatedValuePropagationPass());
  m.specialisation.addPass(InstSimplifyPass());
  m.specialisation.addPass(SimplifyCFGPass());
  m.specialisation.addPass(ADCEPass());

  m.counting.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
  m.counting.addPass(createFunctionToLoopPassAdaptor(LoopDeletionPass()));
  m.counting.addPass(SimplifyCFGPass());

  m.again.addPass(InstSimplifyPass());
  m.again.addPass(SimplifyCFGPass());
  m.again.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
  m.again.addPass(SimplifyCFGPass());

  m.canonical.addPass(ADCEPass());
  m.canonical.addPass(LoopSimplifyPass());
  m.canonical.addPass(LCSSAPass());
}

Passes::~Passes() = default;

void Passes::fold(llvm::Function& function) {
  managers_->folding.run(function, managers_->functions);
  managers_->functions.clear();
}

void Passes::reduce(llvm::Function& function) {
  function.addFnAttr(Attribute::MustProgress);
  function.addFnAttr(Attribute::WillReturn);
  function.addFnAttr(Attribute::NoUnwind);
  managers_->reduction.run(function, managers_->functions);
  clear();
}

void Passes::specialise(llvm::Function& function) {
  managers_->specialisation.run(function, managers_->functions);
  clear();
  make_exits_legible(function, loop_facts(function));
  clear();
  managers_->counting.run(function, managers_->functions);
  clear();
  split_choices(function, scalar_evolution(function));
  clear();
  make_divisions_legible(function, scalar_evolution(function));
  clear();
  make_legible(function, scalar_evolution(function));
  clear();
  // What has become readable may decide a branch, and what is then left may read better still.
  managers_->again.run(function, managers_->functions);
  clear();
  make_divisions_legible(function, scalar_evolution(function));
  clear();
  make_legible(function, scalar_evolution(function));
  clear();
  separate_region_exits(function);
  managers_->canonical.run(function, managers_->functions);
  clear();
  remove_unreachable_ends(function);
}

polly::Scop* Passes::scop(llvm::Function& function, Budget& budget) {
  polly::ScopInfo* scops = nullptr;
  const IslAllowance before = isl_spent();
  gave_up_ = !run_within(allowance_of_a_model(budget.left()), [&] {
    if (!is_one_statement(detected(function, managers_->functions)))
      scops = &managers_->functions.getResult<polly::ScopInfoAnalysis>(function);
  });
  const Budget::Cost spent = cost_since(before);
  gave_up_ = !budget.take(spent.steps, spent.bytes) || gave_up_;
  if (gave_up_) {
    clear();
    return nullptr;
  }
  if (scops == nullptr) return nullptr;
  for (auto& [region, scop] : *scops) {
    if (scop && region->isTopLevelRegion()) return scop.get();
  }
  return nullptr;
}

std::string Passes::refusal(llvm::Function& function) {
  if (gave_up_) return "a model of the whole function takes too long, or meets an error of isl's";
  const auto* found = detected(function, managers_->functions);
  if (is_one_statement(found)) return "the whole function is one part that is not affine";
  if (found == nullptr || !found->Log.hasErrors()) return "no model of the whole function";
  std::string text;
  for (const auto& reason : found->Log)
    text += (text.empty() ? "" : "; ") + reason->getMessage();
  return text;
}

LoopFacts Passes::loop_facts(llvm::Function& function) {
  FunctionAnalysisManager& functions = managers_->functions;
  return {functions.getResult<ScalarEvolutionAnalysis>(function),
          functions.getResult<LoopAnalysis>(function),
          functions.getResult<DominatorTreeAnalysis>(function),
          functions.getResult<LazyValueAnalysis>(function)};
}

llvm::ScalarEvolution& Passes::scalar_evolution(llvm::Function& function) {
  return managers_->functions.getResult<ScalarEvolutionAnalysis>(function);
}

void Passes::clear() {
  managers_->loops.clear();
  managers_->functions.clear();
  managers_->components.clear();
  managers_->modules.clear();
}

}  // namespace sluice::analysis
