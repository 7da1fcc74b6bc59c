#include "hostcuda/jit/lowering/thread_function.hpp"

#include <fmt/format.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/ModRef.h>

#include "base/assert.hpp"
#include "hostcuda/jit/lowering/address_lowering.hpp"
#include "hostcuda/jit/lowering/inlining.hpp"
#include "hostcuda/jit/lowering/intrinsic_lowering.hpp"
#include "hostcuda/jit/object/flushed_operands.hpp"
#include "ptx/lift.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

void set_range(Function& function, unsigned argument, uint64_t low, uint64_t high) {
  ConstantRange range(APInt(32, low), APInt(32, high));
  function.addParamAttr(argument, Attribute::get(function.getContext(), Attribute::Range, range));
  function.addParamAttr(argument, Attribute::NoUndef);
}

FunctionType* thread_function_type(const Function& kernel) {
  LLVMContext& context = kernel.getContext();
  Type* pointer = PointerType::get(context, 0);
  std::vector<Type*> types = {pointer, pointer, Type::getInt32Ty(context),
                              Type::getInt64Ty(context)};
  types.insert(types.end(), 9, Type::getInt32Ty(context));
  for (const Argument& argument : kernel.args()) {
    types.push_back(argument.getType()->isPointerTy() ? pointer : argument.getType());
  }
  return FunctionType::get(Type::getVoidTy(context), types, false);
}

// Limits of CUDA's grids. What the optimiser learns from them is that indices computed in 32
// bits do not wrap.
void describe_arguments(Function& function, const Dim3& block) {
  constexpr uint64_t grid_limits[3] = {0x7fffffff, 65535, 65535};
  const uint32_t extents[3] = {block.x, block.y, block.z};
  const char* const axes[3] = {"x", "y", "z"};
  function.getArg(ThreadFunction::shared)->setName("shared");
  function.addParamAttr(ThreadFunction::shared, Attribute::NonNull);
  function.getArg(ThreadFunction::origin)->setName("origin");
  function.getArg(ThreadFunction::dynamic_shared_bytes)->setName("dynamic_shared_bytes");
  function.getArg(ThreadFunction::grid_workspace)->setName("grid_workspace");
  for (unsigned axis = 0; axis < 3; ++axis) {
    function.getArg(ThreadFunction::nctaid + axis)->setName(Twine("nctaid.") + axes[axis]);
    function.getArg(ThreadFunction::ctaid + axis)->setName(Twine("ctaid.") + axes[axis]);
    function.getArg(ThreadFunction::tid + axis)->setName(Twine("tid.") + axes[axis]);
    set_range(function, ThreadFunction::nctaid + axis, 1, grid_limits[axis] + 1);
    set_range(function, ThreadFunction::ctaid + axis, 0, grid_limits[axis]);
    set_range(function, ThreadFunction::tid + axis, 0, extents[axis]);
  }
}

// Loads from a by-value structure read the parameter block, which nothing writes during a launch.
void mark_parameter_loads(Function& function, Argument* parameter) {
  for (Instruction& instruction : instructions(function)) {
    auto* load = dyn_cast<LoadInst>(&instruction);
    if (load && getUnderlyingObject(load->getPointerOperand()) == parameter)
      load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(function.getContext(), {}));
  }
}

bool is_stored_to(Function& function, Argument* parameter) {
  for (Instruction& instruction : instructions(function)) {
    auto* store = dyn_cast<StoreInst>(&instruction);
    if (store && getUnderlyingObject(store->getPointerOperand()) == parameter) return true;
  }
  return false;
}

}  // namespace

std::string place(const KernelContext& context, const Instruction& instruction) {
  const uint32_t line = ptx::source_line(instruction);
  return line == 0 ? fmt::format("kernel {}", context.kernel)
                   : fmt::format("kernel {}, PTX line {}", context.kernel, line);
}

Result<ThreadFunction> make_thread_function(Module& module, const KernelContext& context) {
  Function* kernel = module.getFunction(context.kernel);
  if (!kernel || kernel->isDeclaration()) {
    return invalid_input("the module has no such kernel", fmt::format("kernel {}", context.kernel));
  }
  if (Status status = inline_calls(*kernel, context); !status) {
    return tl::unexpected(status.error());
  }
  if (kernel->arg_size() != context.parameter_offsets.size()) {
    return invalid_input("the lifted kernel's parameters differ from the PTX",
                         fmt::format("kernel {}", context.kernel));
  }

  ThreadFunction result;
  Function* function = Function::Create(thread_function_type(*kernel), Function::InternalLinkage,
                                        "sluice.thread", module);
  function->addFnAttr(Attribute::NoUnwind);
  function->splice(function->begin(), kernel);
  describe_arguments(*function, context.block);
  for (Argument& argument : kernel->args()) {
    Argument* replacement = function->getArg(ThreadFunction::first_parameter + argument.getArgNo());
    replacement->takeName(&argument);
    Type* structure = argument.getParamByValType();
    SLUICE_ASSERT(argument.getType()->isPointerTy() == (structure != nullptr));
    result.bytes_by_value.push_back(structure ? module.getDataLayout().getTypeAllocSize(structure)
                                              : 0);
    // A by-value pointer of another address space becomes a host pointer like every other.
    argument.mutateType(replacement->getType());
    argument.replaceAllUsesWith(replacement);
  }
  result.function = function;

  result.is_flushing = flush_by_processor(*function);
  if (result.is_flushing) mark_flushing(*function);
  Result<SharedMemory> shared = lower_addresses(*function, context);
  if (!shared) return tl::unexpected(shared.error());
  result.static_shared_bytes = shared->static_bytes;
  result.named_shared_bytes = shared->named_bytes;
  result.shared_escapes = shared->escapes;
  result.shared_is_dynamic = shared->is_dynamic;
  if (Status status = lower_intrinsics(*function, context, result.static_shared_bytes); !status) {
    return tl::unexpected(status.error());
  }
  for (size_t i = 0; i < result.bytes_by_value.size(); ++i) {
    Argument* argument = function->getArg(ThreadFunction::first_parameter + i);
    if (result.bytes_by_value[i] == 0) continue;
    if (is_stored_to(*function, argument)) {
      return unimplemented("a store to a kernel parameter",
                           fmt::format("kernel {}", context.kernel));
    }
    mark_parameter_loads(*function, argument);
  }
  return result;
}

void read_structures_first(const ThreadFunction& thread) {
  Function& function = *thread.function;
  const DataLayout& layout = function.getDataLayout();
  BasicBlock& entry = function.getEntryBlock();
  IRBuilder<> ir(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  for (Instruction& instruction : make_early_inc_range(instructions(function))) {
    auto* load = dyn_cast<LoadInst>(&instruction);
    if (!load || !load->hasMetadata(LLVMContext::MD_invariant_load) || load->isVolatile()) continue;
    APInt offset(64, 0);
    auto* parameter = dyn_cast<Argument>(
        load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true));
    if (!parameter || parameter->getArgNo() < ThreadFunction::first_parameter) continue;
    const uint64_t end = offset.getZExtValue() + layout.getTypeStoreSize(load->getType());
    if (end > thread.bytes_by_value[parameter->getArgNo() - ThreadFunction::first_parameter])
      continue;
    load->setOperand(
        0, ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), parameter, offset.getZExtValue()));
    load->moveBefore(entry, ir.GetInsertPoint());
  }
}

void bind_origin(Function& function) {
  Function* origin = function.getParent()->getFunction(origin_function_name);
  if (!origin) return;
  for (User* user : make_early_inc_range(origin->users())) {
    auto* call = cast<CallInst>(user);
    call->replaceAllUsesWith(function.getArg(ThreadFunction::origin));
    call->eraseFromParent();
  }
  origin->eraseFromParent();
}

}  // namespace sluice::hostcuda::jit
