#include "hostcuda/jit/lowering/recursion.hpp"

#include <cstddef>

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "hostcuda/jit/library/device_library.hpp"
#include "hostcuda/jit/library/frames.hpp"
#include "hostcuda/jit/lowering/access_trace.hpp"
#include "hostcuda/jit/lowering/recursive_body.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

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
    for (RecursiveBody& body : bodies_) {
      name_parameters(body);
      find_calls(*body.function);
    }
    demote(kernel_);
    for (RecursiveBody& body : bodies_) {
      demote(*body.function);
      if (Status status = lay_out(body, context_); !status) return status;
    }
    for (RecursiveBody& body : bodies_) {
      kernel_.splice(kernel_.end(), body.function);
      body.function->deleteBody();
    }
    for (const Call& call : calls_)
      jump_in(call);
    make_dispatch();
    for (RecursiveBody& body : bodies_)
      place_in_frame(body);
    promote();
    return {};
  }

 private:
  struct Call {
    CallInst* call;
    BasicBlock* after;
  };

  RecursiveBody* body_of(const Function* function) {
    for (RecursiveBody& body : bodies_) {
      if (body.function == function) return &body;
    }
    return nullptr;
  }

  void make_variables() {
    ir_.SetInsertPoint(&*kernel_.getEntryBlock().begin());
    frame_ = ir_.CreateAlloca(ir_.getInt64Ty(), nullptr, "frame");
    site_ = ir_.CreateAlloca(ir_.getInt64Ty(), nullptr, "site");
    for (RecursiveBody& body : bodies_) {
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
    const RecursiveBody& body = *body_of(site.call->getCalledFunction());
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
    for (const RecursiveBody& body : bodies_) {
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
  void place_in_frame(RecursiveBody& body) {
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
  std::vector<RecursiveBody> bodies_;
  std::vector<Call> calls_;
  std::vector<BasicBlock*> sites_;
  AllocaInst* frame_ = nullptr;  // of the call that runs, 0 in the kernel itself
  AllocaInst* site_ = nullptr;
};

}  // namespace

FunctionSet recursive_functions(Module& module) {
  FunctionSet found;
  CallGraph graph(module);
  for (auto group = scc_begin(&graph); !group.isAtEnd(); ++group) {
    if (!group.hasCycle()) continue;
    for (const CallGraphNode* node : *group) {
      if (node->getFunction() != nullptr) found.insert(node->getFunction());
    }
  }
  return found;
}

Status unroll_recursion(Function& kernel, const std::vector<Function*>& recursive,
                        const KernelContext& context) {
  return Unrolling(kernel, recursive, context).run();
}

}  // namespace sluice::hostcuda::jit
