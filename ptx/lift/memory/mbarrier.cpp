// mbarrier and cp.async.mbarrier.arrive.
#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"
#include "ptx/mbarrier_call.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// A barrier's generic address; it lies in shared memory.
llvm::Value* barrier_address(InstructionLifter& lifter, size_t operand, StateSpace space) {
  if (space != StateSpace::none && space != StateSpace::shared) {
    lifter.refuse_unsupported("only barriers in .shared::cta are");
  }
  llvm::IRBuilder<>& ir = lifter.ir();
  const MemoryPlace place = find_place(lifter, lifter.operand(operand), space);
  llvm::Value* pointer = pointer_at(lifter, place, 0);
  if (place.space != address_space::generic) {
    pointer = ir.CreateAddrSpaceCast(pointer, ir.getPtrTy(address_space::generic));
  }
  return ir.CreatePtrToInt(pointer, ir.getInt64Ty());
}

void lift_arrive(InstructionLifter& lifter, StateSpace space, bool drops) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* count =
      lifter.operand_count() > 2 ? lifter.read(2, ScalarType::u32) : ir.getInt32(1);
  llvm::Value* state =
      tagged_call(lifter, mbarrier_call::arrive, ir.getInt64Ty(),
                  {barrier_address(lifter, 1, space), count, ir.getInt32(drops ? 1 : 0)});
  lifter.write(0, state, ScalarType::b64);
}

void lift_test(InstructionLifter& lifter, StateSpace space, bool by_parity) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::CallInst* turn = tagged_call(lifter, mbarrier_call::yield, ir.getVoidTy(), {});
  turn->getCalledFunction()->addFnAttr(llvm::Attribute::Convergent);
  llvm::Value* address = barrier_address(lifter, 1, space);
  llvm::Value* over = by_parity ? tagged_call(lifter, mbarrier_call::test_parity, ir.getInt32Ty(),
                                              {address, lifter.read(2, ScalarType::u32)})
                                : tagged_call(lifter, mbarrier_call::test, ir.getInt32Ty(),
                                              {address, lifter.read(2, ScalarType::b64)});
  lifter.write(0, ir.CreateICmpNE(over, ir.getInt32(0)), ScalarType::pred);
}

}  // namespace

void lift_copy_arrival(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  if (!modifiers.take("arrive")) lifter.refuse_invalid("it needs .arrive");
  const bool counts = modifiers.take("noinc");
  const StateSpace space = take_space(lifter);
  if (lifter.take_type() != ScalarType::b64) lifter.refuse_invalid("it needs .b64");
  llvm::IRBuilder<>& ir = lifter.ir();
  // Without .noinc the barrier expects one arrival more, which then comes: nothing changes.
  if (!counts) return;
  tagged_call(lifter, mbarrier_call::arrive, ir.getInt64Ty(),
              {barrier_address(lifter, 0, space), ir.getInt32(1), ir.getInt32(0)});
}

void lift_mbarrier(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  llvm::IRBuilder<>& ir = lifter.ir();
  const auto operation =
      modifiers.take_any({"init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait",
                          "pending_count", "complete_tx", "expect_tx"});
  if (!operation) lifter.refuse_invalid("its operation is missing");
  const bool by_parity = modifiers.take("parity");
  // One block's threads see each other's writes in order, whatever the scope asks for.
  modifiers.take_any({"release", "acquire", "relaxed"});
  modifiers.take_any({"cta", "cluster"});
  if (*operation == "expect_tx" || *operation == "complete_tx" || modifiers.take("expect_tx")) {
    lifter.refuse_unsupported("transactions need sm_90");
  }
  // Says that this arrival does not end the phase, which it then does not.
  modifiers.take("noComplete");
  const StateSpace space = take_space(lifter);
  if (lifter.take_type() != ScalarType::b64) lifter.refuse_invalid("it needs .b64");
  if (*operation == "init") {
    tagged_call(lifter, mbarrier_call::init, ir.getVoidTy(),
                {barrier_address(lifter, 0, space), lifter.read(1, ScalarType::u32)});
  } else if (*operation == "arrive" || *operation == "arrive_drop") {
    lift_arrive(lifter, space, *operation == "arrive_drop");
  } else if (*operation == "test_wait" || *operation == "try_wait") {
    lift_test(lifter, space, by_parity);
  } else if (*operation == "pending_count") {
    llvm::Value* state = lifter.read(1, ScalarType::b64);
    llvm::Value* missing = ir.CreateAnd(state, ir.getInt64(mbarrier_call::count_mask));
    lifter.write(0, ir.CreateTrunc(missing, ir.getInt32Ty()), ScalarType::u32);
  }
}

}  // namespace sluice::ptx::lift_detail
