// atom and red.
#include "ptx/lift/arithmetic/float_helpers.hpp"
#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"

namespace sluice::ptx::lift_detail {

namespace {

using AtomicOperation = llvm::AtomicRMWInst::BinOp;

AtomicOperation find_operation(InstructionLifter& lifter, std::string_view operation,
                               ScalarType type) {
  using B = llvm::AtomicRMWInst;
  if (operation == "exch") return B::Xchg;
  if (is_float(type)) {
    if (operation == "add") return B::FAdd;
    lifter.refuse_unimplemented("this operation on floats is not lifted yet");
  }
  if (operation == "add") return B::Add;
  if (operation == "and") return B::And;
  if (operation == "or") return B::Or;
  if (operation == "xor") return B::Xor;
  if (operation == "min") return is_signed(type) ? B::Min : B::UMin;
  if (operation == "max") return is_signed(type) ? B::Max : B::UMax;
  // PTX's inc and dec wrap at their operand exactly as LLVM's do.
  return operation == "inc" ? B::UIncWrap : B::UDecWrap;
}

llvm::AtomicOrdering take_ordering(InstructionLifter& lifter) {
  const auto order = lifter.modifiers.take_any({"relaxed", "acquire", "release", "acq_rel"});
  // Scopes are widened to the whole system.
  lifter.modifiers.take_any({"cta", "cluster", "gpu", "sys"});
  if (order == "acquire") return llvm::AtomicOrdering::Acquire;
  if (order == "release") return llvm::AtomicOrdering::Release;
  if (order == "acq_rel") return llvm::AtomicOrdering::AcquireRelease;
  return llvm::AtomicOrdering::Monotonic;
}

// add_narrow() adds f16, bf16 and packed types by comparing and swapping, since few backends know
// such an atomic addition.
llvm::Value* add_narrow(InstructionLifter& lifter, llvm::Value* pointer, llvm::Value* operand,
                        ScalarType type, llvm::AtomicOrdering ordering) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const Lanes addends = split(lifter, operand, type);
  const llvm::Align alignment(size_in_bytes(type));
  llvm::Type* bits_type = ir.getIntNTy(bit_width(type));
  llvm::LoadInst* first = tag(lifter, ir.CreateAlignedLoad(bits_type, pointer, alignment));
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  llvm::BasicBlock* before = ir.GetInsertBlock();
  llvm::BasicBlock* loop = lifter.function().new_block("add");
  llvm::BasicBlock* done = lifter.function().new_block("added");
  ir.CreateBr(loop);
  lifter.function().start(loop);
  llvm::PHINode* old = ir.CreatePHI(bits_type, 2);
  Lanes sums =
      split(lifter, from_bits(lifter.ir(), old, value_type(lifter.ir().getContext(), type)), type);
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = ir.CreateFAdd(sums[i], addends[i]);
  llvm::Value* sum = to_bits(lifter.ir(), join(lifter, sums, type));
  llvm::Value* pair =
      tag(lifter,
          ir.CreateAtomicCmpXchg(pointer, old, sum, alignment, ordering,
                                 llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering)));
  old->addIncoming(first, before);
  old->addIncoming(ir.CreateExtractValue(pair, 0), loop);
  ir.CreateCondBr(ir.CreateExtractValue(pair, 1), done, loop);
  lifter.function().start(done);
  return from_bits(lifter.ir(), old, value_type(lifter.ir().getContext(), type));
}

}  // namespace

void lift_atom(InstructionLifter& lifter) {
  const bool returns = lifter.info().opcode == Opcode::atom;
  const size_t first = returns ? 1 : 0;
  const llvm::AtomicOrdering ordering = take_ordering(lifter);
  const StateSpace space = take_space(lifter);
  const auto operation = lifter.modifiers.take_any(
      {"add", "and", "or", "xor", "exch", "cas", "min", "max", "inc", "dec"});
  lifter.modifiers.take("noftz");
  const bool has_policy = lifter.modifiers.take("L2::cache_hint");
  const ScalarType type = lifter.take_type();
  llvm::Type* value = value_type(lifter.ir().getContext(), type);
  if (!operation || value == nullptr || !lifter.modifiers.left_over().empty()) {
    lifter.refuse_unsupported("its operation or a modifier is not supported");
  }
  const bool compares = *operation == "cas";
  if (lifter.operand_count() != first + (compares ? 3 : 2) + (has_policy ? 1 : 0)) {
    lifter.refuse_invalid("the number of its operands is wrong");
  }
  llvm::IRBuilder<>& ir = lifter.ir();
  const MemoryPlace place = find_place(lifter, lifter.operand(first), space);
  llvm::Value* pointer = pointer_at(lifter, place, 0);
  const llvm::MaybeAlign alignment(size_in_bytes(type));
  llvm::Value* operand = lifter.read(first + 1, type);
  llvm::Value* result = nullptr;
  if (compares) {
    llvm::Value* replacement = to_bits(lifter.ir(), lifter.read(first + 2, type));
    llvm::Value* pair =
        tag(lifter, ir.CreateAtomicCmpXchg(
                        pointer, to_bits(lifter.ir(), operand), replacement, alignment, ordering,
                        llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering)));
    result = from_bits(lifter.ir(), ir.CreateExtractValue(pair, 0), value);
  } else if (*operation == "add" && is_float(lane_type(type)) && bit_width(type) <= 32 &&
             type != ScalarType::f32) {
    result = add_narrow(lifter, pointer, operand, type, ordering);
  } else {
    const AtomicOperation rmw = find_operation(lifter, *operation, type);
    result = tag(lifter, ir.CreateAtomicRMW(rmw, pointer, operand, alignment, ordering));
  }
  if (returns) lifter.write(0, result, type);
}

}  // namespace sluice::ptx::lift_detail
