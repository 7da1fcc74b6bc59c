// Branches, returns and the end of a thread.
#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"

namespace sluice::ptx::lift_detail {

namespace {

llvm::BasicBlock* find_label(InstructionLifter& lifter, std::string_view name) {
  const Symbol* symbol = lifter.function().frame().scopes().find(name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::label) {
    lifter.refuse_invalid("there is no label " + quoted(name));
  }
  return symbol->block;
}

const std::string& identifier_at(InstructionLifter& lifter, size_t index) {
  const auto* identifier = std::get_if<Identifier>(&lifter.operand(index).value);
  if (identifier == nullptr) lifter.refuse_invalid("it needs a name");
  return identifier->name;
}

}  // namespace

void lift_bra(InstructionLifter& lifter) {
  lifter.modifiers.take("uni");
  llvm::BasicBlock* target = find_label(lifter, identifier_at(lifter, 0));
  if (lifter.guard() == nullptr) {
    tag(lifter, lifter.ir().CreateBr(target));
    return;
  }
  llvm::BasicBlock* next = lifter.function().new_block("next");
  tag(lifter, lifter.ir().CreateCondBr(lifter.guard(), target, next));
  lifter.function().start(next);
}

void lift_brx(InstructionLifter& lifter) {
  lifter.modifiers.take("uni");
  if (!lifter.modifiers.take("idx")) lifter.refuse_invalid(".idx is missing");
  const Symbol* list = lifter.function().frame().scopes().find(identifier_at(lifter, 1));
  if (list == nullptr || list->targets.empty()) {
    lifter.refuse_invalid("it names no list of branch targets");
  }
  const std::vector<std::string>& targets = list->targets;
  // PTX leaves an index out of range undefined; here it takes the last target.
  llvm::SwitchInst* branch =
      tag(lifter, lifter.ir().CreateSwitch(lifter.read(0, ScalarType::u32),
                                           find_label(lifter, targets.back()),
                                           static_cast<unsigned>(targets.size())));
  for (uint32_t i = 0; i + 1 < targets.size(); ++i) {
    branch->addCase(lifter.ir().getInt32(i), find_label(lifter, targets[i]));
  }
}

void lift_ret(InstructionLifter& lifter) {
  lifter.modifiers.take("uni");
  tag(lifter, lifter.function().emit_return());
}

void lift_exit(InstructionLifter& lifter) {
  if (lifter.function().source().is_entry) {
    tag(lifter, lifter.ir().CreateRetVoid());
    return;
  }
  // Inside a function it ends the thread, not the function.
  tagged_intrinsic(lifter, llvm::Intrinsic::nvvm_exit, {});
  lifter.ir().CreateUnreachable();
}

void lift_trap(InstructionLifter& lifter) {
  tagged_intrinsic(lifter, llvm::Intrinsic::trap, {});
  lifter.ir().CreateUnreachable();
}

}  // namespace sluice::ptx::lift_detail
