#include "hostcuda/jit/watch/thread_watch.hpp"

#include <algorithm>
#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include "hostcuda/jit/library/device_library.hpp"
#include "hostcuda/jit/lowering/access_trace.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"
#include "hostcuda/jit/waits/waiting_loops.hpp"
#include "hostcuda/jit/watch/thread_events.hpp"
#include "ptx/lift.hpp"
#include "ptx/mbarrier_call.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;
using Event = ThreadMeeting::Kind;

// The parts of `packed`.
constexpr unsigned thread_shift = 32, kind_shift = 44;
constexpr uint64_t thread_bits = 0xfff;

// A call to ask where it lies would cost each access as much as all the rest of the way there.
[[gnu::tls_model("initial-exec")]] thread_local ThreadSink* current_sink = nullptr;

uint32_t order_of(AtomicOrdering ordering) {
  return isReleaseOrStronger(ordering) ? access_kind::releases : 0;
}

// strength_of() says how the access orders others.
uint32_t strength_of(const Instruction& instruction) {
  if (const auto* update = dyn_cast<AtomicRMWInst>(&instruction))
    return access_kind::is_atomic | order_of(update->getOrdering());
  if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return access_kind::is_atomic | order_of(exchange->getSuccessOrdering());
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) {
    if (load->isAtomic()) return access_kind::is_atomic | order_of(load->getOrdering());
  } else if (const auto* store = dyn_cast<StoreInst>(&instruction)) {
    if (store->isAtomic()) return access_kind::is_atomic | order_of(store->getOrdering());
  }
  return instruction.isVolatile() ? access_kind::is_volatile : 0;
}

// alignment_of() is what the instruction asks of its address, in ThreadAccess::kind.
uint32_t alignment_of(const Instruction& instruction) {
  Align alignment;
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) {
    alignment = load->getAlign();
  } else if (const auto* store = dyn_cast<StoreInst>(&instruction)) {
    alignment = store->getAlign();
  } else if (const auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    alignment = update->getAlign();
  } else if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    alignment = exchange->getAlign();
  }
  return std::min(Log2(alignment), access_kind::alignment_bits) << access_kind::alignment_shift;
}

// is_alike() is true of values that come from constants, the launch's arguments and the thread's
// place alone: that two such values are equal is no chance of the data.
bool is_alike(const Value& value, unsigned depth = 0) {
  constexpr unsigned most_steps = 8;
  if (isa<Constant, Argument>(value)) return true;
  const auto* instruction = dyn_cast<Instruction>(&value);
  if (instruction == nullptr || depth > most_steps) return false;
  if (const auto* load = dyn_cast<LoadInst>(instruction)) {
    const auto* from = dyn_cast<Argument>(getUnderlyingObject(load->getPointerOperand()));
    return from != nullptr && from->getArgNo() >= ThreadFunction::first_parameter &&
           load->hasMetadata(LLVMContext::MD_invariant_load);
  }
  if (!isa<CastInst, BinaryOperator, InsertElementInst, ExtractElementInst>(instruction))
    return false;
  return all_of(instruction->operands(),
                [&](const Use& use) { return is_alike(*use.get(), depth + 1); });
}

// is_private() is true of a thread's own memory and of parameters.
bool is_private(const Value& pointer) {
  const Value* object = getUnderlyingObject(&pointer);
  const auto* argument = dyn_cast<Argument>(object);
  const bool is_parameter = argument != nullptr && argument->getType()->isPointerTy() &&
                            argument->getArgNo() != ThreadFunction::shared &&
                            argument->getArgNo() != ThreadFunction::origin;
  return isa<AllocaInst>(object) || is_parameter;
}

uint64_t stored_bytes(const StoreInst& store) {
  return store.getModule()->getDataLayout().getTypeStoreSize(store.getValueOperand()->getType());
}

// only_moves() is true where nothing is computed with a value of so many bytes, nor decided: it is
// stored again as it is, or not used.
bool only_moves(const Value& value, uint64_t bytes, unsigned depth = 0) {
  constexpr unsigned most_steps = 8;
  if (depth > most_steps) return false;
  return all_of(value.users(), [&](const User* user) {
    if (const auto* store = dyn_cast<StoreInst>(user))
      return store->getValueOperand() == &value && stored_bytes(*store) <= bytes;
    const bool hands_on = isa<BitCastInst, TruncInst, ZExtInst, SExtInst, PtrToIntInst, PHINode,
                              InsertElementInst, ExtractElementInst>(user);
    return hands_on && only_moves(*user, bytes, depth + 1);
  });
}

// source_of() is the load whose bytes a store stores, all of them; null where there is none.
const LoadInst* source_of(const StoreInst& store) {
  const Value* value = store.getValueOperand();
  while (isa<BitCastInst, TruncInst, ZExtInst, SExtInst>(value))
    value = cast<Instruction>(value)->getOperand(0);
  const auto* load = dyn_cast<LoadInst>(value);
  if (load == nullptr) return nullptr;
  const DataLayout& layout = store.getModule()->getDataLayout();
  const bool is_enough = layout.getTypeStoreSize(load->getType()) >= stored_bytes(store);
  return is_enough ? load : nullptr;
}

// Watch inserts the calls of one function.
class Watch {
 public:
  Watch(const ThreadFunction& thread_function, const KernelContext& context)
      : of_(thread_function), function_(*thread_function.function) {
    Function& function = function_;
    LLVMContext& llvm = function.getContext();
    Module& module = *function.getParent();
    Type* none = Type::getVoidTy(llvm);
    Type *i32 = Type::getInt32Ty(llvm), *i64 = Type::getInt64Ty(llvm);
    accesses_ = module.getOrInsertFunction(thread_accesses_symbol,
                                           FunctionType::get(none, {i64, i64, i64, i64}, false));
    meets_ = module.getOrInsertFunction(thread_meets_symbol,
                                        FunctionType::get(none, {i64, i32, i32, i64}, false));
    for (FunctionCallee callee : {accesses_, meets_})
      cast<Function>(callee.getCallee())->setDoesNotThrow();
    find_polling_reads();
    BasicBlock& entry = function.getEntryBlock();
    start_ = &*entry.getFirstNonPHIOrDbgOrAlloca();
    IRBuilder<> ir(start_);
    Value* thread = function.getArg(ThreadFunction::tid + 2);
    const auto add_row = [&](Value* rows, uint32_t width, unsigned axis) {
      return ir.CreateAdd(ir.CreateMul(rows, ir.getInt32(width)),
                          function.getArg(ThreadFunction::tid + axis));
    };
    thread = add_row(add_row(thread, context.block.y, 1), context.block.x, 0);
    thread_ = ir.CreateShl(ir.CreateZExt(thread, i64), thread_shift, "watched.thread");
  }

  void insert() {
    std::vector<Instruction*> all;
    for (Instruction& instruction : instructions(function_))
      all.push_back(&instruction);
    for (Instruction* instruction : all) {
      if (!instruction->hasMetadata(private_metadata)) tell_access(*instruction);
      tell_meeting(*instruction);
    }
    IRBuilder<> ir(start_);
    Argument* shared = function_.getArg(ThreadFunction::shared);
    // Without a dynamic pool, nothing is there that would begin at a rounded place.
    Value* dynamic = function_.getArg(ThreadFunction::dynamic_shared_bytes);
    const auto named = static_cast<uint32_t>(of_.named_shared_bytes);
    const auto rounded = static_cast<uint32_t>(of_.static_shared_bytes);
    Value* bytes = ir.CreateAdd(dynamic, ir.CreateSelect(ir.CreateICmpEQ(dynamic, ir.getInt32(0)),
                                                         ir.getInt32(named), ir.getInt32(rounded)));
    ir.CreateCall(meets_, {packed(ir, 0, static_cast<uint32_t>(Event::begin)), ir.getInt32(0),
                           bytes, ir.CreatePtrToInt(shared, ir.getInt64Ty())});
  }

 private:
  void find_polling_reads() {
    DominatorTree dominators(function_);
    LoopInfo loops(dominators);
    PostDominatorTree post_dominators(function_);
    for (const WaitingLoop& waiting : find_waiting_loops(function_, loops, post_dominators)) {
      for (BasicBlock* block : waiting.loop->blocks()) {
        for (Instruction& instruction : *block)
          if (instruction.mayReadFromMemory()) polling_.insert(&instruction);
      }
    }
  }

  Value* packed(IRBuilder<>& ir, uint32_t line, uint32_t kind) const {
    return ir.CreateOr(thread_, ir.getInt64(line | uint64_t{kind} << kind_shift));
  }

  void tell_access(Instruction& instruction) {
    for (const AccessPlace& place : access_places(instruction)) {
      if (is_private(*place.pointer)) continue;
      uint32_t kind = place.kind | strength_of(instruction) | alignment_of(instruction);
      if (instruction.hasMetadata(shared_metadata)) kind |= access_kind::is_shared;
      if (instruction.hasMetadata(ptx::async_copy::store)) kind |= access_kind::is_async;
      if (polling_.contains(&instruction)) kind |= access_kind::polls;
      const bool may_move =
          isa<LoadInst>(instruction) ||
          (isa<AtomicRMWInst>(instruction) &&
           cast<AtomicRMWInst>(instruction).getOperation() == AtomicRMWInst::Xchg);
      if (may_move && only_moves(instruction, place.size)) kind |= access_kind::is_moved;
      if (auto* store = dyn_cast<StoreInst>(&instruction)) {
        tell_store(*store, place, kind);
      } else {
        tell_place(instruction, place, kind);
      }
    }
  }

  void tell_place(Instruction& instruction, const AccessPlace& place, uint32_t kind) {
    IRBuilder<> ir(&instruction);
    Value* bytes =
        place.bytes ? ir.CreateZExtOrTrunc(place.bytes, ir.getInt64Ty()) : ir.getInt64(place.size);
    ir.CreateCall(accesses_, {ir.CreatePtrToInt(place.pointer, ir.getInt64Ty()), bytes,
                              packed(ir, ptx::source_line(instruction), kind), ir.getInt64(0)});
  }

  // A vector's elements are told one by one, each with its value.
  void tell_store(StoreInst& store, const AccessPlace& place, uint32_t kind) {
    IRBuilder<> ir(&store);
    Value* stored = store.getValueOperand();
    auto* vector = dyn_cast<FixedVectorType>(stored->getType());
    const unsigned count = vector ? vector->getNumElements() : 1;
    const uint64_t bytes = place.size / count;
    Value* address = ir.CreatePtrToInt(place.pointer, ir.getInt64Ty());
    const LoadInst* source = source_of(store);
    for (unsigned at = 0; at < count; ++at) {
      Value* value = vector ? ir.CreateExtractElement(stored, at) : stored;
      Value* number = is_alike(*stored) ? number_of(ir, value) : nullptr;
      uint32_t known = kind | (number ? access_kind::has_value : 0);
      if (!number && source && !is_private(*source->getPointerOperand())) {
        known |= access_kind::has_source;
        number = ir.CreateAdd(
            ir.CreatePtrToInt(const_cast<Value*>(source->getPointerOperand()), ir.getInt64Ty()),
            ir.getInt64(at * bytes));
      }
      ir.CreateCall(accesses_,
                    {ir.CreateAdd(address, ir.getInt64(at * bytes)), ir.getInt64(bytes),
                     packed(ir, ptx::source_line(store), known), number ? number : ir.getInt64(0)});
    }
  }

  // Null where the value has more than 64 bits.
  static Value* number_of(IRBuilder<>& ir, Value* value) {
    if (value->getType()->isPointerTy()) return ir.CreatePtrToInt(value, ir.getInt64Ty());
    const unsigned bits = static_cast<unsigned>(value->getType()->getPrimitiveSizeInBits());
    if (bits == 0 || bits > 64) return nullptr;
    return ir.CreateZExt(ir.CreateBitCast(value, ir.getIntNTy(bits)), ir.getInt64Ty());
  }

  void tell(Instruction& before, Event kind, Value* number, Value* count, Value* place) {
    IRBuilder<> ir(&before);
    const auto fitting = [&](Value* value, Type* type) -> Value* {
      return value ? ir.CreateZExtOrTrunc(value, type) : Constant::getNullValue(type);
    };
    ir.CreateCall(meets_, {packed(ir, ptx::source_line(before), static_cast<uint32_t>(kind)),
                           fitting(number, ir.getInt32Ty()), fitting(count, ir.getInt32Ty()),
                           fitting(place, ir.getInt64Ty())});
  }

  void tell_meeting(Instruction& instruction) {
    if (isa<FenceInst>(instruction)) {
      tell(instruction, Event::fence, nullptr, nullptr, nullptr);
      return;
    }
    auto* call = dyn_cast<CallInst>(&instruction);
    const Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee) return;
    const auto is = [&](const char* name) {
      return callee->getName() == find_device_function(name)->symbol;
    };
    if (call->hasMetadata(ptx::async_copy::commit)) {
      tell(*call, Event::async_commit, nullptr, nullptr, nullptr);
    } else if (const MDNode* groups = call->getMetadata(ptx::async_copy::wait)) {
      Value* number = cast<ConstantAsMetadata>(groups->getOperand(0))->getValue();
      tell(*call, Event::async_wait, number, nullptr, nullptr);
    } else if (is(ptx::mbarrier_call::arrive)) {
      tell(*call, Event::word_arrive, nullptr, nullptr, call->getArgOperand(0));
    } else if (is(ptx::mbarrier_call::test) || is(ptx::mbarrier_call::test_parity)) {
      // Behind it: only then does it know.
      tell(*call->getNextNode(), Event::word_wait, nullptr, nullptr, call->getArgOperand(0));
    } else if (is_arrival(*call)) {
      tell(*call, Event::barrier_arrive, call->getArgOperand(0), call->getArgOperand(1), nullptr);
    } else if (is_sync_point(*call)) {
      tell_point(*call);
    }
  }

  void tell_point(CallInst& call) {
    const SyncOperation operation = *sync_operation(call);
    if (takes_whoever_is_there(operation)) return;
    IRBuilder<> ir(&call);
    const SyncOperands operands = sync_operands(call, ir);
    if (is_block_wide(operation)) {
      tell(call, Event::barrier, operands.lane, operands.clamp, nullptr);
    } else {
      tell(call, Event::warp, operands.mask ? operands.mask : ir.getInt32(~0u), nullptr, nullptr);
    }
  }

  const ThreadFunction& of_;
  Function& function_;
  FunctionCallee accesses_, meets_;
  SmallPtrSet<const Instruction*, 8> polling_;
  Instruction* start_ = nullptr;
  Value* thread_ = nullptr;  // in its place within `packed`
};

}  // namespace

void insert_watch(const ThreadFunction& thread, const KernelContext& context) {
  Watch(thread, context).insert();
}

void sluice_jit_thread_accesses(uint64_t address, uint64_t bytes, uint64_t packed, uint64_t value) {
  if (current_sink == nullptr || bytes == 0) return;
  current_sink->accesses({.address = address,
                          .bytes = bytes,
                          .kind = static_cast<uint32_t>(packed >> kind_shift),
                          .thread = static_cast<uint32_t>(packed >> thread_shift & thread_bits),
                          .line = static_cast<uint32_t>(packed),
                          .value = value});
}

void sluice_jit_thread_meets(uint64_t packed, uint32_t number, uint32_t count, uint64_t place) {
  if (current_sink == nullptr) return;
  current_sink->meets({.kind = static_cast<ThreadMeeting::Kind>(packed >> kind_shift),
                       .thread = static_cast<uint32_t>(packed >> thread_shift & thread_bits),
                       .line = static_cast<uint32_t>(packed),
                       .number = number,
                       .count = count,
                       .place = place});
}

}  // namespace sluice::hostcuda::jit

namespace sluice::hostcuda {

void set_thread_sink(ThreadSink* sink) {
  jit::current_sink = sink;
}

}  // namespace sluice::hostcuda
