#include "hostcuda/jit/threads/private_scopes.hpp"

#include <array>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Base is one base of addresses and what its accesses are marked with.
struct Base {
  Value* value = nullptr;
  MDNode* own = nullptr;
  MDNode* others = nullptr;
};

void add_marks(Instruction& instruction, unsigned kind, MDNode* marks) {
  instruction.setMetadata(kind, MDNode::concatenate(instruction.getMetadata(kind), marks));
}

}  // namespace

void mark_scopes(Function& body, const PrivatePlaces& places) {
  LLVMContext& context = body.getContext();
  MDBuilder builder(context);
  MDNode* domain = builder.createAnonymousAliasScopeDomain("sluice.block");
  std::array<Base, 3> bases = {
      {{.value = places.memory}, {.value = places.shared}, {.value = places.origin}}};
  for (Base& base : bases)
    base.own = MDNode::get(context, builder.createAnonymousAliasScope(domain));
  for (Base& base : bases) {
    for (const Base& other : bases) {
      if (&other != &base) base.others = MDNode::concatenate(base.others, other.own);
    }
  }
  for (Instruction& instruction : instructions(body)) {
    const Value* pointer = getLoadStorePointerOperand(&instruction);
    if (pointer == nullptr) continue;
    // Of an address that was kept itself the base is not known: it was loaded.
    const Value* object = getUnderlyingObject(pointer, 0);
    for (const Base& base : bases) {
      if (base.value == nullptr || object != base.value) continue;
      add_marks(instruction, LLVMContext::MD_alias_scope, base.own);
      add_marks(instruction, LLVMContext::MD_noalias, base.others);
    }
  }
}

}  // namespace sluice::hostcuda::jit
