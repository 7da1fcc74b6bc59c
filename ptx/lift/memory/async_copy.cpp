// cp.async: copies from global to shared memory that PTX lets happen at any time until they are
// waited for. Here they happen at once, so that what waits for them has nothing to do; it is marked
// for those who look for races.
#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"
#include "ptx/mbarrier_call.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// mark() says in metadata that a store is one of such a copy, or where a thread commits its copies
// (more than any number) or waits for all but some of the groups that it has committed.
template <class T>
T* mark(T* instruction, const char* what, uint32_t number = 0) {
  llvm::LLVMContext& context = instruction->getContext();
  auto* value = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), number);
  instruction->setMetadata(what, llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(value)));
  return instruction;
}

struct Copy {
  MemoryPlace to;
  MemoryPlace from;
  unsigned bytes = 0;  // 4, 8 or 16
};

// The whole copy, word by word: each place is aligned to the size of the copy.
void copy_whole(InstructionLifter& lifter, const Copy& copy) {
  llvm::IRBuilder<>& ir = lifter.ir();
  std::vector<llvm::Value*> words;
  const auto alignment = [&](unsigned at) {
    return llvm::commonAlignment(llvm::Align(copy.bytes), at);
  };
  for (unsigned at = 0; at < copy.bytes; at += 4) {
    words.push_back(tag(
        lifter,
        ir.CreateAlignedLoad(ir.getInt32Ty(), pointer_at(lifter, copy.from, at), alignment(at))));
  }
  for (unsigned at = 0; at < copy.bytes; at += 4) {
    mark(tag(lifter,
             ir.CreateAlignedStore(words[at / 4], pointer_at(lifter, copy.to, at), alignment(at))),
         async_copy::store);
  }
}

void fill_with_zeros(InstructionLifter& lifter, const Copy& copy) {
  llvm::IRBuilder<>& ir = lifter.ir();
  for (unsigned at = 0; at < copy.bytes; at += 4) {
    mark(tag(lifter, ir.CreateAlignedStore(ir.getInt32(0), pointer_at(lifter, copy.to, at),
                                           llvm::commonAlignment(llvm::Align(copy.bytes), at))),
         async_copy::store);
  }
}

// The first `source_bytes` bytes, each for itself.
void copy_some(InstructionLifter& lifter, const Copy& copy, llvm::Value* source_bytes) {
  llvm::IRBuilder<>& ir = lifter.ir();
  for (unsigned at = 0; at + 1 < copy.bytes; ++at) {
    llvm::BasicBlock* one = lifter.function().new_block("byte");
    llvm::BasicBlock* next = lifter.function().new_block("byte.after");
    tag(lifter, ir.CreateCondBr(ir.CreateICmpULT(ir.getInt32(at), source_bytes), one, next));
    lifter.function().start(one);
    llvm::Value* byte = tag(
        lifter,
        ir.CreateAlignedLoad(ir.getInt8Ty(), pointer_at(lifter, copy.from, at), llvm::Align(1)));
    mark(tag(lifter, ir.CreateAlignedStore(byte, pointer_at(lifter, copy.to, at), llvm::Align(1))),
         async_copy::store);
    tag(lifter, ir.CreateBr(next));
    lifter.function().start(next);
  }
}

// Bytes that the source lacks are zeros. Nearly always the source has all or none.
void copy_with_size(InstructionLifter& lifter, const Copy& copy, llvm::Value* source_bytes) {
  llvm::IRBuilder<>& ir = lifter.ir();
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(source_bytes)) {
    if (constant->uge(copy.bytes)) return copy_whole(lifter, copy);
  }
  llvm::BasicBlock* whole = lifter.function().new_block("whole");
  llvm::BasicBlock* less = lifter.function().new_block("less");
  llvm::BasicBlock* next = lifter.function().new_block("copied");
  llvm::Value* has_all = ir.CreateICmpUGE(source_bytes, ir.getInt32(copy.bytes));
  tag(lifter, ir.CreateCondBr(has_all, whole, less));
  lifter.function().start(whole);
  copy_whole(lifter, copy);
  tag(lifter, ir.CreateBr(next));
  lifter.function().start(less);
  fill_with_zeros(lifter, copy);
  copy_some(lifter, copy, source_bytes);
  tag(lifter, ir.CreateBr(next));
  lifter.function().start(next);
}

// cp.async.ca.shared.global [to], [from], size{, source size or predicate}{, policy}
void lift_copy(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  if (!modifiers.take_any({"ca", "cg"})) lifter.refuse_invalid("it needs .ca or .cg");
  if (!modifiers.take_any({"shared", "shared::cta"}) || !modifiers.take("global")) {
    lifter.refuse_unsupported("only copies from .global to .shared are");
  }
  const bool has_policy = modifiers.take("L2::cache_hint");
  modifiers.take_prefixed("L2::");
  Copy copy;
  copy.to = find_place(lifter, lifter.operand(0), StateSpace::shared);
  copy.from = find_place(lifter, lifter.operand(1), StateSpace::global);
  const auto* bytes = std::get_if<IntegerLiteral>(&lifter.operand(2).value);
  if (bytes == nullptr || (bytes->bits != 4 && bytes->bits != 8 && bytes->bits != 16)) {
    lifter.refuse_invalid("its size is not 4, 8 or 16");
  }
  copy.bytes = static_cast<unsigned>(bytes->bits);
  const size_t count = lifter.operand_count() - (has_policy ? 1 : 0);
  if (count == 3) return copy_whole(lifter, copy);
  if (count != 4) lifter.refuse_invalid("it has an operand too many or too few");
  const bool is_negated = std::holds_alternative<NotOperand>(lifter.operand(3).value);
  if (is_negated || declared_type(lifter, lifter.operand(3)) == ScalarType::pred) {
    // A predicate says that the source is to be ignored.
    llvm::Value* ignored = lifter.read(3, ScalarType::pred);
    llvm::IRBuilder<>& ir = lifter.ir();
    return copy_with_size(lifter, copy,
                          ir.CreateSelect(ignored, ir.getInt32(0), ir.getInt32(copy.bytes)));
  }
  copy_with_size(lifter, copy, lifter.read(3, ScalarType::u32));
}

}  // namespace

void lift_copy_async(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  if (!modifiers.take("async")) lifter.refuse_unsupported("only cp.async is");
  if (modifiers.take("bulk")) lifter.refuse_unsupported("bulk copies need sm_90");
  const auto note = [&](const char* what, uint32_t number) {
    mark(tagged_intrinsic(lifter, llvm::Intrinsic::donothing, {}), what, number);
  };
  if (modifiers.take("commit_group")) return note(async_copy::commit, 0);
  if (modifiers.take("wait_all")) {
    note(async_copy::commit, 0);
    return note(async_copy::wait, 0);
  }
  if (modifiers.take("wait_group")) {
    if (lifter.operand_count() != 1) lifter.refuse_invalid("its number is missing");
    const auto* groups = std::get_if<IntegerLiteral>(&lifter.operand(0).value);
    return note(async_copy::wait, groups != nullptr ? static_cast<uint32_t>(groups->bits) : 0);
  }
  if (modifiers.take("mbarrier")) {
    // Who waits at the barrier waits for the copies: here they are done where they arrive.
    note(async_copy::commit, 0);
    note(async_copy::wait, 0);
    return lift_copy_arrival(lifter);
  }
  lift_copy(lifter);
}

}  // namespace sluice::ptx::lift_detail
