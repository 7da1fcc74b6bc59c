#include "ptx/lift/function_lifter.hpp"

#include <algorithm>
#include <array>

#include <llvm/IR/Constants.h>

#include "ptx/lift/instruction_lifter.hpp"
#include "ptx/lift/refusal.hpp"
#include "ptx/lift/tagged.hpp"

namespace sluice::ptx::lift_detail {

FunctionLifter::FunctionLifter(ModuleLifter& module, const Function& source,
                               llvm::Function& function)
    : module_(module),
      source_(source),
      function_(function),
      ir_(module.context()),
      frame_(module, source, function) {}

void FunctionLifter::lift() {
  for (const Directive& attribute : source_.attributes)
    check(attribute);
  ir_.SetInsertPoint(frame_.body());
  frame_.scopes().push();
  frame_.declare_parameters();
  frame_.scopes().push();
  lift_statements(source_.body.statements);
  if (!terminated()) emit_return();
  frame_.scopes().pop();
  frame_.scopes().pop();
}

llvm::BasicBlock* FunctionLifter::new_block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(ir_.getContext(), name, &function_);
}

void FunctionLifter::start(llvm::BasicBlock* block) {
  block->moveAfter(ir_.GetInsertBlock());
  ir_.SetInsertPoint(block);
}

void FunctionLifter::declare_labels(const std::vector<Statement>& statements) {
  Symbol* last = nullptr;
  for (const Statement& statement : statements) {
    if (const auto* label = std::get_if<Label>(&statement)) {
      Symbol symbol;
      symbol.kind = Symbol::Kind::label;
      symbol.block = new_block(label->name);
      last = &frame_.scopes().declare(label->name, std::move(symbol));
      continue;
    }
    // `name: .branchtargets a, b;` makes the label before it a list of labels.
    const auto* directive = std::get_if<Directive>(&statement);
    if (directive != nullptr && directive->name == "branchtargets" && last != nullptr) {
      for (const std::string& argument : directive->arguments) {
        if (argument != ",") last->targets.push_back(argument);
      }
    }
    last = nullptr;
  }
}

void FunctionLifter::lift_statements(const std::vector<Statement>& statements) {
  declare_labels(statements);
  for (const Statement& statement : statements) {
    if (const auto* instruction = std::get_if<Instruction>(&statement)) {
      if (!module_.leaves_out(*instruction)) lift_instruction(*instruction);
    } else if (const auto* label = std::get_if<Label>(&statement)) {
      enter(*label);
    } else if (const auto* variable = std::get_if<Variable>(&statement)) {
      frame_.declare(*variable);
    } else if (const auto* directive = std::get_if<Directive>(&statement)) {
      check(*directive);
    } else {
      frame_.scopes().push();
      lift_statements(std::get<Block>(statement).statements);
      frame_.scopes().pop();
    }
  }
}

void FunctionLifter::check(const Directive& directive) {
  // What these say changes no result: debug places, hints, limits that a launch is held to
  // elsewhere, lists that their labels have taken already.
  static constexpr std::array<std::string_view, 15> harmless = {
      "loc",          "file",         "pragma",   "branchtargets",   "maxntid",
      "reqntid",      "maxnreg",      "noreturn", "callprototype",   "noinline",
      "minnctapersm", "maxnctapersm", "section",  "explicitcluster", "maxclusterrank"};
  if (std::find(harmless.begin(), harmless.end(), directive.name) != harmless.end()) return;
  // A cluster of one block is a block.
  const auto is_one = [](const std::string& extent) { return extent == "1"; };
  if (directive.name == "reqnctapercluster" && std::ranges::all_of(directive.arguments, is_one))
    return;
  refuse(unsupported("directive '." + directive.name + "' is not supported",
                     place_of(module_, source_, directive.location)));
}

void FunctionLifter::continue_in(llvm::BasicBlock* block) {
  if (!terminated()) ir_.CreateBr(block);
  start(block);
}

void FunctionLifter::enter(const Label& label) {
  continue_in(frame_.scopes().find(label.name)->block);
}

void FunctionLifter::lift_instruction(const Instruction& instruction) {
  // What follows a branch without a label is reached by nothing; promote() removes it.
  if (terminated()) start(new_block("unreached"));
  InstructionLifter unguarded(*this, instruction, nullptr);
  if (!instruction.guard) return unguarded.lift();
  llvm::Value* guard = unguarded.read_register(instruction.guard->predicate);
  if (!guard->getType()->isIntegerTy(1)) unguarded.refuse_invalid("its guard is no predicate");
  if (instruction.guard->negated) guard = ir_.CreateNot(guard);
  if (instruction.info().effect == Effect::none || instruction.opcode == Opcode::bra) {
    return InstructionLifter(*this, instruction, guard).lift();
  }
  llvm::BasicBlock* then = new_block("then");
  llvm::BasicBlock* next = new_block("next");
  tag(unguarded, ir_.CreateCondBr(guard, then, next));
  start(then);
  unguarded.lift();
  continue_in(next);
}

llvm::Instruction* FunctionLifter::emit_return() {
  if (function_.getReturnType()->isVoidTy()) return ir_.CreateRetVoid();
  std::vector<llvm::Value*> values;
  for (const Variable& variable : source_.results) {
    const Symbol* result = frame_.scopes().find(variable.name);
    values.push_back(ir_.CreateLoad(result->value_type, result->pointer));
  }
  if (values.size() == 1) return ir_.CreateRet(values[0]);
  return ir_.CreateAggregateRet(values.data(), static_cast<unsigned>(values.size()));
}

}  // namespace sluice::ptx::lift_detail
