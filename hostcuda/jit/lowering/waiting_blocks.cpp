#include "hostcuda/jit/lowering/waiting_blocks.hpp"

#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "hostcuda/jit/library/device_library.hpp"
#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

using namespace llvm;

void let_others_run(Function& function) {
  if (function.getArg(ThreadFunction::grid_workspace)->use_empty()) return;
  std::vector<LoadInst*> waits;
  for (Instruction& instruction : instructions(function)) {
    auto* load = dyn_cast<LoadInst>(&instruction);
    if (load && (load->isAtomic() || load->isVolatile())) waits.push_back(load);
  }
  for (LoadInst* load : waits) {
    IRBuilder<> ir(load);
    FunctionCallee yield = function.getParent()->getOrInsertFunction(
        find_device_function("nanosleep")->symbol, FunctionType::get(ir.getVoidTy(), false));
    cast<Function>(yield.getCallee())->setDoesNotThrow();
    ir.CreateCall(yield);
  }
}

}  // namespace sluice::hostcuda::jit
