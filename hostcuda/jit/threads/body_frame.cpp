#include "hostcuda/jit/threads/body_frame.hpp"

#include <cstddef>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/block_abi.h"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

LoadInst* load_invariant(IRBuilder<>& ir, Type* type, Value* base, uint64_t offset) {
  Value* address = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), base, offset);
  LoadInst* load = ir.CreateAlignedLoad(type, address, Align(1));
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(ir.getContext(), {}));
  return load;
}

FunctionType* body_type(LLVMContext& context) {
  Type* pointer = PointerType::get(context, 0);
  Type* index = Type::getInt32Ty(context);
  return FunctionType::get(Type::getVoidTy(context),
                           {pointer, pointer, pointer, pointer, index, index, index, index}, false);
}

}  // namespace

BodyFrame::BodyFrame(const ThreadFunction& thread_function, const KernelContext& kernel_context,
                     uint32_t blocks_kept)
    : context(kernel_context), thread(thread_function), kept_blocks(blocks_kept) {
  Function& source = *thread.function;
  function = Function::Create(body_type(source.getContext()), Function::ExternalLinkage,
                              "sluice.body", source.getParent());
  function->addFnAttr(Attribute::NoUnwind);
  function->addFnAttr(Attribute::NoInline);
  // Vectors that registers do not hold lie on the stack, and LLVM aligns them there only if it
  // knows before it gives out registers that it may: else each is in two cache lines, as the stack
  // of the caller happens to lie.
  function->addFnAttr("stackrealign");
  // Nothing but compiled accesses to kept values goes through `memory`; shared memory is as
  // private where the kernel never makes a generic address of it.
  memory = function->getArg(1);
  function->addParamAttr(1, Attribute::NoAlias);
  if (!thread.shared_escapes) function->addParamAttr(2, Attribute::NoAlias);
  for (unsigned pointer = 0; pointer < 4; ++pointer) {
    function->addParamAttr(pointer, Attribute::NonNull);
  }
  function->addParamAttr(1, Attribute::getWithAlignment(source.getContext(), Align(64)));
  function->addParamAttr(2, Attribute::getWithAlignment(source.getContext(), Align(64)));

  entry = BasicBlock::Create(source.getContext(), "entry", function);
  IRBuilder<> ir(entry);
  Value* launch = function->getArg(0);
  Type* pointer = ir.getPtrTy();
  arguments_.resize(source.arg_size());
  arguments_[ThreadFunction::shared] = function->getArg(2);
  arguments_[ThreadFunction::origin] = load_invariant(ir, pointer, function->getArg(3), 0);
  arguments_[ThreadFunction::dynamic_shared_bytes] = load_invariant(
      ir, ir.getInt32Ty(), launch, offsetof(SluiceBlockLaunch, dynamic_shared_bytes));
  arguments_[ThreadFunction::grid_workspace] =
      load_invariant(ir, ir.getInt64Ty(), launch, offsetof(SluiceBlockLaunch, grid_workspace));
  for (unsigned axis = 0; axis < 3; ++axis) {
    arguments_[ThreadFunction::nctaid + axis] = load_invariant(
        ir, ir.getInt32Ty(), launch, offsetof(SluiceBlockLaunch, grid) + uint64_t{4} * axis);
    Argument* index = function->getArg(4 + axis);
    arguments_[ThreadFunction::ctaid + axis] = index;
    function->addParamAttr(
        index->getArgNo(),
        source.getArg(ThreadFunction::ctaid + axis)->getAttribute(Attribute::Range));
  }
  Value* parameters = load_invariant(ir, pointer, launch, offsetof(SluiceBlockLaunch, parameters));
  for (size_t i = 0; i < context.parameter_offsets.size(); ++i) {
    const unsigned number = ThreadFunction::first_parameter + static_cast<unsigned>(i);
    const uint32_t offset = context.parameter_offsets[i];
    arguments_[number] =
        thread.bytes_by_value[i] != 0
            ? ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), parameters, offset)
            : load_invariant(ir, source.getArg(number)->getType(), parameters, offset);
  }
}

void BodyFrame::map_arguments(ValueToValueMapTy& map, const ThreadLoops& loops) const {
  IRBuilder<> ir(loops.body);
  for (Argument& argument : thread.function->args()) {
    const unsigned number = argument.getArgNo();
    const bool is_tid = number >= ThreadFunction::tid && number < ThreadFunction::first_parameter;
    map[&argument] = is_tid ? loops.tid[number - ThreadFunction::tid] : arguments_[number];
  }
  if (loops.block) {
    // Block indices of a launch don't wrap.
    map[thread.function->getArg(ThreadFunction::ctaid)] =
        ir.CreateAdd(arguments_[ThreadFunction::ctaid], loops.block, "ctaid.x", true, true);
    if (kept_blocks == 1) return;
    Value* offset = ir.CreateMul(ir.CreateZExt(loops.block, ir.getInt64Ty()),
                                 ir.getInt64(shared_stride()), "", true, true);
    map[thread.function->getArg(ThreadFunction::shared)] =
        ir.CreateInBoundsGEP(ir.getInt8Ty(), arguments_[ThreadFunction::shared], offset);
  }
}

Value* BodyFrame::element(IRBuilder<>& ir, uint64_t offset, uint64_t element_bytes,
                          Value* thread_number) const {
  Value* array = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), memory, offset);
  return ir.CreateInBoundsGEP(ArrayType::get(ir.getInt8Ty(), element_bytes), array, thread_number);
}

void mark_independent(BasicBlock& block, const ThreadLoops& loops) {
  for (Instruction& instruction : block) {
    if (instruction.hasMetadata(plain_accesses))
      instruction.setMetadata(LLVMContext::MD_access_group, loops.access_group);
    auto* load = dyn_cast<LoadInst>(&instruction);
    auto* store = dyn_cast<StoreInst>(&instruction);
    if ((!load || !load->isSimple()) && (!store || !store->isSimple())) continue;
    const auto* variable =
        dyn_cast<AllocaInst>(getUnderlyingObject(getLoadStorePointerOperand(&instruction)));
    if (variable && !variable->hasMetadata(lane_variable)) continue;
    instruction.setMetadata(LLVMContext::MD_access_group, loops.access_group);
  }
}

}  // namespace sluice::hostcuda::jit
