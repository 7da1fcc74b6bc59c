#include "hostcuda/jit/lowering/recursive_body.hpp"

#include <algorithm>
#include <optional>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Transforms/Utils/Local.h>

#include "hostcuda/jit/lowering/access_trace.hpp"

namespace sluice::hostcuda::jit {

using namespace llvm;

namespace {

bool leaves_its_block(const Instruction& instruction) {
  return any_of(instruction.users(), [&](const User* user) {
    auto* other = cast<Instruction>(user);
    return other->getParent() != instruction.getParent() || isa<PHINode>(other);
  });
}

}  // namespace

void name_parameters(RecursiveBody& body) {
  BasicBlock& entry = body.function->getEntryBlock();
  IRBuilder<> ir(&entry);
  for (Argument& argument : body.function->args()) {
    const bool by_value = argument.hasByValAttr();
    Type* type = by_value ? argument.getParamByValType() : argument.getType();
    ir.SetInsertPoint(&*entry.begin());
    AllocaInst* variable = ir.CreateAlloca(type, nullptr, argument.getName());
    variable->setAlignment(std::max(variable->getAlign(), argument.getParamAlign().valueOrOne()));
    body.parameters.push_back(variable);
    if (argument.use_empty()) continue;
    ir.SetInsertPoint(entry.getFirstNonPHIOrDbgOrAlloca());
    argument.replaceAllUsesWith(by_value
                                    ? static_cast<Value*>(variable)
                                    : ir.CreateLoad(type, variable, argument.getName() + ".value"));
  }
}

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

Status lay_out(RecursiveBody& body, const KernelContext& context) {
  const DataLayout& layout = body.function->getParent()->getDataLayout();
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
                         place(context, instruction));
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

}  // namespace sluice::hostcuda::jit
