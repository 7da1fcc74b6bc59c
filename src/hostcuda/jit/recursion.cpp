#include "hostcuda/jit/recursion.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "hostcuda/jit/access_trace.hpp"
#include "hostcuda/jit/device_library.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

bool reaches(Function& from, const Function& target, SmallPtrSetImpl<const Function*>& seen) {
  if (!seen.insert(&from).second) return false;
  for (Instruction& instruction : instructions(from)) {
    auto* call = dyn_cast<CallBase>(&instruction);
    Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || callee->isIntrinsic()) continue;
    if (callee == &target || reaches(*callee, target, seen)) return true;
  }
  return false;
}

bool ends_thread(const CallInst& call) {
  switch (call.getIntrinsicID()) {
    case Intrinsic::trap:
    case Intrinsic::debugtrap:
    case Intrinsic::nvvm_exit:
      return true;
    default:
      break;
  }
  const Function* callee = call.getCalledFunction();
  const DeviceFunction* known = callee ? find_device_function(callee->getName().str()) : nullptr;
  return known != nullptr && known->ends_thread;
}

bool leaves_its_block(const Instruction& instruction) {
  return any_of(instruction.users(), [&](const User* user) {
    auto* other = cast<Instruction>(user);
    return other->getParent() != instruction.getParent() || isa<PHINode>(other);
  });
}

// Keeps in memory what is used in another block than where it is computed.
void demote(Function& function) {
  std::vector<Instruction*> values;
  std::vector<PHINode*> phis;
  BasicBlock* entry = &function.getEntryBlock();
  for (Instruction& instruction : instructions(function)) {
    if (isa<AllocaInst>(instruction) && instruction.getParent() == entry) continue;
    if (leaves_its_block(instruction)) values.push_back(&instruction);
  }
  for (Instruction* value : values)
    DemoteRegToStack(*value, false, entry->begin());
  for (Instruction& instruction : instructions(function)) {
    if (auto* phi = dyn_cast<PHINode>(&instruction)) phis.push_back(phi);
  }
  for (PHINode* phi : phis)
    DemotePHIToStack(phi, entry->begin());
}

class Unrolling {
 public:
  Unrolling(Function& kernel, const std::vector<Function*>& recursive, const KernelContext& context)
      : kernel_(kernel), context_(context), ir_(kernel.getContext()) {
    for (Function* function : recursive)
      bodies_.emplace_back().function = function;
  }

  Status run() {
    make_variables();
    find_calls(kernel_);
    for (Body& body : bodies_) {
      name_parameters(body);
      find_calls(*body.function);
    }
    demote(kernel_);
    for (Body& body : bodies_) {
      demote(*body.function);
      if (Status status = lay_out(body); !status) return status;
    }
    for (Body& body : bodies_) {
      kernel_.splice(kernel_.end(), body.function);
      body.function->deleteBody();
    }
    for (const Call& call : calls_)
      jump_in(call);
    make_dispatch();
    for (Body& body : bodies_)
      place_in_frame(body);
    promote();
    return {};
  }

 private:
  struct Body {
    Function* function = nullptr;
    BasicBlock* entry = nullptr;
    AllocaInst* result = nullptr;  // in the kernel
    std::vector<AllocaInst*> parameters;
    std::vector<BasicBlock*> blocks;
    std::vector<AllocaInst*> variables;
    DenseMap<AllocaInst*, uint64_t> offsets;
    uint64_t bytes = sizeof(FrameHeader);
    uint64_t alignment = 16;
  };
  struct Call {
    CallInst* call;
    BasicBlock* after;
  };

  Body* body_of(const Function* function) {
    for (Body& body : bodies_) {
      if (body.function == function) return &body;
    }
    return nullptr;
  }

  void make_variables() {
    ir_.SetInsertPoint(&*kernel_.getEntryBlock().begin());
    frame_ = ir_.CreateAlloca(ir_.getInt64Ty(), nullptr, "frame");
    site_ = ir_.CreateAlloca(ir_.getInt64Ty(), nullptr, "site");
    for (Body& body : bodies_) {
      Type* type = body.function->getReturnType();
      if (!type->isVoidTy()) body.result = ir_.CreateAlloca(type, nullptr, "result");
    }
    ir_.SetInsertPoint(kernel_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    ir_.CreateStore(ir_.getInt64(0), frame_);
  }

  // Each call ends its block, and what follows reads the result from memory.
  void find_calls(Function& function) {
    std::vector<CallInst*> found;
    for (Instruction& instruction : instructions(function)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call && body_of(call->getCalledFunction())) found.push_back(call);
    }
    for (CallInst* call : found) {
      BasicBlock* after = call->getParent()->splitBasicBlock(std::next(call->getIterator()));
      if (!call->use_empty()) {
        ir_.SetInsertPoint(&*after->begin());
        call->replaceAllUsesWith(
            ir_.CreateLoad(call->getType(), body_of(call->getCalledFunction())->result));
      }
      calls_.push_back({call, after});
    }
  }

  // Parameters become variables, which the caller writes.
  void name_parameters(Body& body) {
    BasicBlock& entry = body.function->getEntryBlock();
    for (Argument& argument : body.function->args()) {
      const bool by_value = argument.hasByValAttr();
      Type* type = by_value ? argument.getParamByValType() : argument.getType();
      ir_.SetInsertPoint(&*entry.begin());
      AllocaInst* variable = ir_.CreateAlloca(type, nullptr, argument.getName());
      variable->setAlignment(std::max(variable->getAlign(), argument.getParamAlign().valueOrOne()));
      body.parameters.push_back(variable);
      if (argument.use_empty()) continue;
      ir_.SetInsertPoint(entry.getFirstNonPHIOrDbgOrAlloca());
      argument.replaceAllUsesWith(
          by_value ? static_cast<Value*>(variable)
                   : ir_.CreateLoad(type, variable, argument.getName() + ".value"));
    }
  }

  Status lay_out(Body& body) {
    const DataLayout& layout = kernel_.getParent()->getDataLayout();
    body.entry = &body.function->getEntryBlock();
    for (BasicBlock& block : *body.function) {
      body.blocks.push_back(&block);
      for (Instruction& instruction : make_early_inc_range(block)) {
        if (auto* marker = dyn_cast<IntrinsicInst>(&instruction);
            marker && marker->isLifetimeStartOrEnd()) {
          marker->eraseFromParent();
        }
      }
    }
    for (Instruction& instruction : instructions(*body.function)) {
      auto* variable = dyn_cast<AllocaInst>(&instruction);
      if (!variable) continue;
      const std::optional<TypeSize> bytes = variable->getAllocationSize(layout);
      if (!bytes) {
        return unsupported("a variable of no fixed size in a recursive function",
                           place(context_, instruction));
      }
      const uint64_t alignment = variable->getAlign().value();
      body.bytes = alignTo(body.bytes, alignment);
      body.offsets[variable] = body.bytes;
      body.bytes += *bytes;
      body.alignment = std::max(body.alignment, alignment);
      body.variables.push_back(variable);
    }
    body.bytes = alignTo(body.bytes, body.alignment);
    return {};
  }

  CallInst* call_library(const char* name, ArrayRef<Value*> arguments, bool has_result) {
    std::vector<Type*> types(arguments.size(), ir_.getInt64Ty());
    Type* result = has_result ? static_cast<Type*>(ir_.getInt64Ty()) : ir_.getVoidTy();
    FunctionCallee callee =
        kernel_.getParent()->getOrInsertFunction(name, FunctionType::get(result, types, false));
    return ir_.CreateCall(callee, arguments);
  }

  Value* pointer_at(Value* frame, uint64_t offset) {
    return ir_.CreateIntToPtr(ir_.CreateAdd(frame, ir_.getInt64(offset)), ir_.getPtrTy());
  }

  // Accesses to a frame are the thread's own.
  template <class Access>
  Access* own(Access* access) {
    access->setMetadata(private_metadata, MDNode::get(kernel_.getContext(), {}));
    return access;
  }

  void jump_in(const Call& site) {
    const Body& body = *body_of(site.call->getCalledFunction());
    BasicBlock* block = site.call->getParent();
    BasicBlock* full = BasicBlock::Create(kernel_.getContext(), "frames.full", &kernel_);
    BasicBlock* enter = BasicBlock::Create(kernel_.getContext(), "enter", &kernel_);
    block->getTerminator()->eraseFromParent();
    ir_.SetInsertPoint(block);
    Value* caller = ir_.CreateLoad(ir_.getInt64Ty(), frame_);
    Value* frame = call_library(
        frame_new_name, {ir_.getInt64(body.bytes), ir_.getInt64(body.alignment), caller}, true);
    ir_.CreateCondBr(ir_.CreateICmpEQ(frame, ir_.getInt64(0)), full, enter);
    ir_.SetInsertPoint(full);
    ir_.CreateIntrinsic(Intrinsic::trap, {}, {})->copyMetadata(*site.call);
    ir_.CreateUnreachable();
    ir_.SetInsertPoint(enter);
    for (unsigned i = 0; i < site.call->arg_size(); ++i) {
      AllocaInst* variable = body.parameters[i];
      Value* place = pointer_at(frame, body.offsets.lookup(variable));
      Value* argument = site.call->getArgOperand(i);
      if (site.call->getCalledFunction()->hasParamAttribute(i, Attribute::ByVal)) {
        const uint64_t bytes =
            kernel_.getParent()->getDataLayout().getTypeAllocSize(variable->getAllocatedType());
        own(ir_.CreateMemCpy(place, Align(1), argument, Align(1), bytes));
      } else {
        own(ir_.CreateStore(argument, place));
      }
    }
    own(ir_.CreateStore(ir_.getInt64(sites_.size()),
                        pointer_at(frame, offsetof(FrameHeader, site))));
    ir_.CreateStore(frame, frame_);
    ir_.CreateBr(body.entry);
    sites_.push_back(site.after);
    site.call->eraseFromParent();
  }

  // Returns meet here and go on where their callers do.
  void make_dispatch() {
    LLVMContext& llvm = kernel_.getContext();
    BasicBlock* dispatch = BasicBlock::Create(llvm, "return", &kernel_);
    BasicBlock* nowhere = BasicBlock::Create(llvm, "nowhere", &kernel_);
    for (const Body& body : bodies_) {
      for (BasicBlock* block : body.blocks) {
        auto* end = dyn_cast<ReturnInst>(block->getTerminator());
        if (!end) continue;
        ir_.SetInsertPoint(end);
        if (body.result) ir_.CreateStore(end->getReturnValue(), body.result);
        Value* frame = ir_.CreateLoad(ir_.getInt64Ty(), frame_);
        Value* site =
            own(ir_.CreateLoad(ir_.getInt64Ty(), pointer_at(frame, offsetof(FrameHeader, site))));
        ir_.CreateStore(site, site_);
        ir_.CreateStore(call_library(frame_free_name, {frame}, true), frame_);
        ir_.CreateBr(dispatch);
        end->eraseFromParent();
      }
    }
    ir_.SetInsertPoint(dispatch);
    SwitchInst* choice = ir_.CreateSwitch(ir_.CreateLoad(ir_.getInt64Ty(), site_), nowhere,
                                          static_cast<unsigned>(sites_.size()));
    for (size_t i = 0; i < sites_.size(); ++i)
      choice->addCase(ir_.getInt64(i), sites_[i]);
    ir_.SetInsertPoint(nowhere);
    ir_.CreateUnreachable();
  }

  // Variables of a recursive function are places in the frame of the call that runs.
  void place_in_frame(Body& body) {
    for (BasicBlock* block : body.blocks) {
      for (Instruction& instruction : make_early_inc_range(*block)) {
        auto* call = dyn_cast<CallInst>(&instruction);
        if (!call || !ends_thread(*call)) continue;
        ir_.SetInsertPoint(call);
        call_library(frame_free_all_name, {ir_.CreateLoad(ir_.getInt64Ty(), frame_)}, false);
      }
    }
    for (AllocaInst* variable : body.variables) {
      for (Use& use : make_early_inc_range(variable->uses())) {
        auto* user = cast<Instruction>(use.getUser());
        ir_.SetInsertPoint(user);
        use.set(pointer_at(ir_.CreateLoad(ir_.getInt64Ty(), frame_), body.offsets[variable]));
        if (isa<LoadInst, StoreInst>(user) && getLoadStorePointerOperand(user) == use.get())
          own(user);
      }
      variable->eraseFromParent();
    }
  }

  void promote() {
    std::vector<AllocaInst*> variables;
    for (Instruction& instruction : kernel_.getEntryBlock()) {
      auto* variable = dyn_cast<AllocaInst>(&instruction);
      if (variable && isAllocaPromotable(variable)) variables.push_back(variable);
    }
    removeUnreachableBlocks(kernel_);
    DominatorTree dominators(kernel_);
    PromoteMemToReg(variables, dominators);
  }

  Function& kernel_;
  const KernelContext& context_;
  IRBuilder<> ir_;
  std::vector<Body> bodies_;
  std::vector<Call> calls_;
  std::vector<BasicBlock*> sites_;
  AllocaInst* frame_ = nullptr;  // of the call that runs, 0 in the kernel itself
  AllocaInst* site_ = nullptr;
};

}  // namespace

bool is_recursive(Function& function) {
  SmallPtrSet<const Function*, 16> seen;
  return reaches(function, function, seen);
}

Status unroll_recursion(Function& kernel, const std::vector<Function*>& recursive,
                        const KernelContext& context) {
  return Unrolling(kernel, recursive, context).run();
}

}  // namespace sluice::hostcuda::jit
