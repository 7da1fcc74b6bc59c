#include "hostcuda/jit/threads/row_threads.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// RowPlaces finds the sums ctaid.x * block.x + tid.x, in 32 or in 64 bits.
class RowPlaces {
 public:
  RowPlaces(Function& thread, const Dim3& block)
      : tid_(thread.getArg(ThreadFunction::tid)),
        ctaid_(thread.getArg(ThreadFunction::ctaid)),
        block_x_(block.x) {}

  // find() says whether nothing else uses either index.
  bool find() { return take_sums(*tid_) && !sums_.empty() && ends_in_sums(*ctaid_); }
  ArrayRef<BinaryOperator*> sums() const { return sums_.getArrayRef(); }

 private:
  bool take_sums(Value& index) {
    for (User* user : index.users()) {
      if (auto* wide = dyn_cast<ZExtInst>(user)) {
        if (!take_sums(*wide)) return false;
        continue;
      }
      auto* sum = dyn_cast<BinaryOperator>(user);
      if (sum == nullptr || !adds(*sum)) return false;
      if (!is_row_start(sum->getOperand(sum->getOperand(0) == &index ? 1 : 0))) return false;
      sums_.insert(sum);
    }
    return true;
  }

  bool ends_in_sums(Value& index) {
    return all_of(index.users(), [&](User* user) {
      if (isa<ZExtInst>(user)) return ends_in_sums(*user);
      return is_row_start(user) && all_of(user->users(), [&](User* sum) {
               return sums_.contains(dyn_cast<BinaryOperator>(sum));
             });
    });
  }

  static bool adds(const BinaryOperator& operation) {
    if (operation.getOpcode() == Instruction::Add) return true;
    const auto* disjoint = dyn_cast<PossiblyDisjointInst>(&operation);
    return disjoint != nullptr && disjoint->isDisjoint();
  }

  bool is_row_start(const Value* value) const {
    const auto* product = dyn_cast<BinaryOperator>(value);
    if (product == nullptr) return false;
    const Value* index = product->getOperand(0);
    if (const auto* wide = dyn_cast<ZExtInst>(index)) index = wide->getOperand(0);
    const auto* factor = dyn_cast<ConstantInt>(product->getOperand(1));
    if (index != ctaid_ || factor == nullptr) return false;
    if (product->getOpcode() == Instruction::Mul) return factor->getValue() == block_x_;
    return product->getOpcode() == Instruction::Shl && factor->getValue().ult(32) &&
           uint64_t{1} << factor->getZExtValue() == block_x_;
  }

  Argument* tid_;
  Argument* ctaid_;
  uint32_t block_x_;
  SmallSetVector<BinaryOperator*, 4> sums_;
};

}  // namespace

bool number_threads_by_row(Function& thread, const Dim3& block) {
  RowPlaces places(thread, block);
  if (!places.find()) return false;
  for (BinaryOperator* sum : places.sums()) {
    // Without flags: what held of one block's threads need not hold of the first block's index and
    // another's threads.
    IRBuilder<> ir(sum);
    Value* plain = ir.CreateAdd(sum->getOperand(0), sum->getOperand(1));
    sum->replaceAllUsesWith(plain);
    plain->takeName(sum);
    sum->eraseFromParent();
  }
  return true;
}

}  // namespace sluice::hostcuda::jit
