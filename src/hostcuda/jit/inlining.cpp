#include "hostcuda/jit/inlining.hpp"

#include <vector>

#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "hostcuda/jit/device_library.hpp"
#include "hostcuda/jit/sync_points.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// A call tree deeper than this is recursion: inlining would never end.
constexpr unsigned max_inlined_calls = 10000;

// Calls of the device library, and of what stands for an instruction, are lowered later.
bool stays(const CallBase& call) {
  auto* direct = dyn_cast<CallInst>(&call);
  const Function* callee = call.getCalledFunction();
  if (!direct || !callee || !callee->isDeclaration()) return false;
  return callee->isIntrinsic() || is_sync_point(*direct) || is_arrival(*direct) ||
         find_device_function(callee->getName().str()) != nullptr;
}

CallBase* find_call(Function& function) {
  for (Instruction& instruction : instructions(function)) {
    auto* call = dyn_cast<CallBase>(&instruction);
    if (call && !stays(*call)) return call;
  }
  return nullptr;
}

bool reaches(Function& from, const Function& target, std::vector<const Function*>& seen) {
  for (const Function* function : seen) {
    if (function == &from) return false;
  }
  seen.push_back(&from);
  for (Instruction& instruction : instructions(from)) {
    auto* call = dyn_cast<CallBase>(&instruction);
    Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || callee->isIntrinsic()) continue;
    if (callee == &target || reaches(*callee, target, seen)) return true;
  }
  return false;
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
  std::vector<const Function*> seen;
  if (reaches(*callee, *callee, seen)) {
    return unimplemented(fmt::format("the recursive function {}", callee->getName().str()),
                         place(context, call));
  }
  return {};
}

}  // namespace

Status inline_calls(Function& kernel, const KernelContext& context) {
  for (unsigned count = 0; count < max_inlined_calls; ++count) {
    CallBase* call = find_call(kernel);
    if (!call) return {};
    if (Status status = check(*call, context); !status) return status;
    const std::string where = place(context, *call);
    const std::string name = call->getCalledFunction()->getName().str();
    InlineFunctionInfo info;
    InlineResult result = InlineFunction(*call, info);
    if (!result.isSuccess()) {
      return unimplemented(fmt::format("a call of {} ({})", name, result.getFailureReason()),
                           where);
    }
  }
  return unsupported("more than 10000 calls to inline", fmt::format("kernel {}", context.kernel));
}

}  // namespace sluice::hostcuda::jit
