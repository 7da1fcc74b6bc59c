// alloca, stacksave and stackrestore: memory of a function's frame, taken while it runs.
#include <algorithm>
#include <bit>

#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// Bytes for each call of a function with alloca. A GPU's threads have 1 KiB for all their frames
// unless the program asks for more.
constexpr uint64_t stack_bytes = uint64_t{16} << 10U;
constexpr uint64_t usual_alignment = 8;
constexpr uint64_t most_alignment = uint64_t{1} << 23U;

// Stack is where a function's free bytes begin and end, as addresses of local memory.
struct Stack {
  llvm::Value* next;  // where it is kept
  llvm::Value* end;
};

Stack stack_of(InstructionLifter& lifter) {
  FunctionFrame& frame = lifter.function().frame();
  // No name in PTX has a space.
  Symbol& symbol = frame.scopes().of_function("the stack");
  Symbol& end = frame.scopes().of_function("the stack's end");
  if (symbol.pointer == nullptr) {
    auto* bytes = llvm::ArrayType::get(lifter.ir().getInt8Ty(), stack_bytes);
    llvm::Value* memory = frame.make_storage(bytes, 16, "stack");
    symbol.pointer = frame.make_storage(lifter.ir().getInt64Ty(), 0, "stack_pointer");
    llvm::IRBuilder<> entry(frame.entry()->getTerminator());
    memory = entry.CreateAddrSpaceCast(memory, entry.getPtrTy(address_space::local));
    llvm::Value* begin = entry.CreatePtrToInt(memory, entry.getInt64Ty());
    entry.CreateStore(begin, symbol.pointer);
    end.pointer = entry.CreateAdd(begin, entry.getInt64(stack_bytes));
  }
  return {symbol.pointer, end.pointer};
}

// 32 bits don't hold an address of local memory here.
void take_address_type(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (type == ScalarType::u32) lifter.refuse_unsupported("addresses have 64 bits here");
  if (type != ScalarType::u64) lifter.refuse_invalid("it needs .u64");
}

uint64_t take_alignment(InstructionLifter& lifter) {
  if (lifter.operand_count() < 3) return usual_alignment;
  const auto* literal = std::get_if<IntegerLiteral>(&lifter.operand(2).value);
  if (literal == nullptr || !std::has_single_bit(literal->bits) || literal->bits > most_alignment) {
    lifter.refuse_invalid("its alignment is no power of 2 up to 2^23");
  }
  return std::max(literal->bits, usual_alignment);
}

}  // namespace

void lift_alloca(InstructionLifter& lifter) {
  take_address_type(lifter);
  llvm::IRBuilder<>& ir = lifter.ir();
  const uint64_t alignment = take_alignment(lifter);
  llvm::Value* bytes = lifter.read(1, ScalarType::u64);
  const Stack stack = stack_of(lifter);
  llvm::Value* next = ir.CreateLoad(ir.getInt64Ty(), stack.next);
  llvm::Value* begin =
      ir.CreateAnd(ir.CreateAdd(next, ir.getInt64(alignment - 1)), ~(alignment - 1));
  llvm::Value* is_left = ir.CreateICmpULE(begin, stack.end);
  llvm::Value* fits = ir.CreateICmpULE(bytes, ir.CreateSub(stack.end, begin));
  // Where a GPU's stack overflows anything may happen; here the kernel ends.
  llvm::BasicBlock* overflow = lifter.function().new_block("overflow");
  llvm::BasicBlock* allocated = lifter.function().new_block("allocated");
  ir.CreateCondBr(ir.CreateAnd(is_left, fits), allocated, overflow);
  lifter.function().start(overflow);
  tagged_intrinsic(lifter, llvm::Intrinsic::trap, {});
  ir.CreateUnreachable();
  lifter.function().start(allocated);
  ir.CreateStore(ir.CreateAdd(begin, bytes), stack.next);
  lifter.write(0, begin, ScalarType::u64);
}

void lift_stacksave(InstructionLifter& lifter) {
  take_address_type(lifter);
  lifter.write(0, lifter.ir().CreateLoad(lifter.ir().getInt64Ty(), stack_of(lifter).next),
               ScalarType::u64);
}

void lift_stackrestore(InstructionLifter& lifter) {
  take_address_type(lifter);
  lifter.ir().CreateStore(lifter.read(0, ScalarType::u64), stack_of(lifter).next);
}

}  // namespace sluice::ptx::lift_detail
