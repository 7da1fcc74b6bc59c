#include "hostcuda/jit/watch/data_oblivious.hpp"

#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "hostcuda/jit/watch/thread_watch.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// is_parameter() is true of a load of the launch's parameters.
bool is_parameter(const LoadInst& load, const ThreadFunction& thread) {
  const auto* from = dyn_cast<Argument>(getUnderlyingObject(load.getPointerOperand()));
  if (from == nullptr || from->getArgNo() < ThreadFunction::first_parameter) return false;
  return thread.bytes_by_value[from->getArgNo() - ThreadFunction::first_parameter] != 0;
}

// is_data() is true of what only memory, a clock or other threads know.
bool is_data(const Instruction& instruction, const ThreadFunction& thread) {
  if (instruction.getType()->isVoidTy()) return false;
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) return !is_parameter(*load, thread);
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction)) return true;
  const auto* call = dyn_cast<CallBase>(&instruction);
  return call != nullptr && !(isa<IntrinsicInst>(call) && call->doesNotAccessMemory());
}

bool tells(const Instruction& instruction, const char* symbol) {
  const auto* call = dyn_cast<CallBase>(&instruction);
  const Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  return callee != nullptr && callee->getName() == symbol;
}

// decides() is true of an operand by which the thread takes its way, or tells where it is.
bool decides(const Use& use) {
  const auto* user = cast<Instruction>(use.getUser());
  return user->isTerminator() || tells(*user, thread_accesses_symbol) ||
         tells(*user, thread_meets_symbol);
}

}  // namespace

bool is_data_oblivious(const ThreadFunction& thread) {
  std::vector<const Instruction*> left;
  SmallPtrSet<const Instruction*, 32> seen;
  const auto add = [&](const Instruction& instruction) {
    if (seen.insert(&instruction).second) left.push_back(&instruction);
  };
  for (const Instruction& instruction : instructions(*thread.function))
    if (is_data(instruction, thread)) add(instruction);
  while (!left.empty()) {
    const Instruction* const data = left.back();
    left.pop_back();
    for (const Use& use : data->uses()) {
      if (decides(use)) return false;
      add(*cast<Instruction>(use.getUser()));
    }
  }
  return true;
}

void tell_data_oblivious(const ThreadFunction& thread) {
  constexpr unsigned number = 1;  // of thread_meets' arguments
  BasicBlock& entry = thread.function->getEntryBlock();
  // Nothing is told before that.
  const auto begin =
      find_if(entry, [](const Instruction& each) { return tells(each, thread_meets_symbol); });
  if (begin == entry.end() || !is_data_oblivious(thread)) return;
  auto& call = cast<CallBase>(*begin);
  call.setArgOperand(number, ConstantInt::get(call.getArgOperand(number)->getType(), 1));
}

}  // namespace sluice::hostcuda::jit
