#include "hostcuda/jit/lowering/inlining.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "hostcuda/jit/library/device_library.hpp"
#include "hostcuda/jit/library/directed_float.hpp"
#include "hostcuda/jit/lowering/recursion.hpp"
#include "hostcuda/jit/lowering/sync_points.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Code that grows beyond this takes minutes to compile.
constexpr unsigned max_inlined_calls = 10000;

// Calls of the device library, and of what stands for an instruction, are lowered later.
bool stays(const CallBase& call) {
  auto* direct = dyn_cast<CallInst>(&call);
  const Function* callee = call.getCalledFunction();
  if (is_directed_float(call)) return true;
  if (!direct || !callee || !callee->isDeclaration()) return false;
  return callee->isIntrinsic() || is_sync_point(*direct) || is_arrival(*direct) ||
         find_device_function(callee->getName().str()) != nullptr;
}

bool is_inlined(const CallBase& call, const FunctionSet& recursive) {
  return !stays(call) && !recursive.contains(call.getCalledFunction());
}

Status check(CallBase& call, const KernelContext& context) {
  Function* callee = call.getCalledFunction();
  if (!callee) {
    return unimplemented("a call through a pointer or of inline assembly", place(context, call));
  }
  if (callee->isDeclaration()) {
    return unimplemented(
        fmt::format("a call of {}, which the module does not define", callee->getName().str()),
        place(context, call));
  }
  return {};
}

// Inlines all but the calls of recursive functions, and adds those to `bodies`.
Status inline_into(Function& function, const KernelContext& context, const FunctionSet& recursive,
                   std::vector<Function*>& bodies, unsigned& count) {
  std::vector<CallBase*> calls;
  for (Instruction& instruction : instructions(function)) {
    auto* call = dyn_cast<CallBase>(&instruction);
    if (call && is_inlined(*call, recursive)) calls.push_back(call);
  }
  while (!calls.empty()) {
    CallBase& call = *calls.back();
    calls.pop_back();
    if (++count > max_inlined_calls) {
      return unsupported("more than 10000 calls to inline",
                         fmt::format("kernel {}", context.kernel));
    }
    if (Status status = check(call, context); !status) return status;
    const std::string where = place(context, call);
    const std::string name = call.getCalledFunction()->getName().str();
    InlineFunctionInfo info;
    InlineResult result = InlineFunction(call, info);
    if (!result.isSuccess()) {
      return unimplemented(fmt::format("a call of {} ({})", name, result.getFailureReason()),
                           where);
    }
    for (CallBase* inner : info.InlinedCallSites)
      if (is_inlined(*inner, recursive)) calls.push_back(inner);
  }
  for (Instruction& instruction : instructions(function)) {
    auto* call = dyn_cast<CallBase>(&instruction);
    if (!call || !recursive.contains(call->getCalledFunction())) continue;
    if (std::find(bodies.begin(), bodies.end(), call->getCalledFunction()) == bodies.end()) {
      bodies.push_back(call->getCalledFunction());
    }
  }
  return {};
}

}  // namespace

Status inline_calls(Function& kernel, const KernelContext& context) {
  // Inlining changes none of it.
  const FunctionSet recursive = recursive_functions(*kernel.getParent());
  std::vector<Function*> bodies;
  unsigned count = 0;
  if (Status status = inline_into(kernel, context, recursive, bodies, count); !status) {
    return status;
  }
  for (size_t i = 0; i < bodies.size(); ++i) {
    Function& body = *bodies[i];
    if (Status status = inline_into(body, context, recursive, bodies, count); !status) {
      return status;
    }
  }
  return bodies.empty() ? Status{} : unroll_recursion(kernel, bodies, context);
}

}  // namespace sluice::hostcuda::jit
