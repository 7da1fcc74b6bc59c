// The LLVM passes that the analysis runs, and Polly. Internal to the analysis.
#pragma once

#include <memory>
#include <string>

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>

#include "analysis/rewrite/exit_values.hpp"
#include "relation/budget.hpp"

namespace polly {
class Scop;
}

namespace sluice::analysis {

// inline_calls() inlines every call of a function that the module defines. False where some stay:
// the functions call themselves, or would make the kernel too long to analyse.
bool inline_calls(llvm::Function& kernel);

// Passes owns the analysis managers. Not thread-safe; distinct objects are independent.
class Passes {
 public:
  Passes();
  ~Passes();

  // reduce() removes dead code, dead loops and branches that decide nothing.
  void reduce(llvm::Function& function);

  // fold() folds constants and the branches that they decide.
  void fold(llvm::Function& function);

  // specialise() folds constants and brings loops and comparisons into the form that scalar
  // evolution and Polly read best, using the `range` attributes of the arguments.
  void specialise(llvm::Function& function);

  // scop() is Polly's model of the whole function, or nullptr where it has none or would take more
  // than the budget has left. It lives until clear(); where there is none, results of other
  // analyses may be gone.
  polly::Scop* scop(llvm::Function& function, Budget& budget);

  // refusal() is why scop() is none, in Polly's own words.
  std::string refusal(llvm::Function& function);

  llvm::ScalarEvolution& scalar_evolution(llvm::Function& function);

  void clear();

 private:
  LoopFacts loop_facts(llvm::Function& function);

  struct Managers;
  std::unique_ptr<Managers> managers_;
  bool gave_up_ = false;  // the last scop()
};

}  // namespace sluice::analysis
