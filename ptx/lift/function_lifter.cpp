#include "ptx/lift/function_lifter.hpp"

#include <algorithm>
#include <array>

#include <llvm/IR/Constants.h>

#include "ptx/lift/instruction_lifter.hpp"
#include "ptx/lift/refusal.hpp"
#include "ptx/lift/types.hpp"

namespace sluice::ptx::lift_detail {

FunctionLifter::FunctionLifter(ModuleLifter& module, const Function& source,
                               llvm::Function& function)
    : module_(module), source_(source), function_(function), ir_(module.context()) {}

std::string FunctionLifter::place(const Location& location) const {
  std::string text = "kernel " + module_.kernel();
  if (source_.name != module_.kernel()) text += ", function " + source_.name;
  return text + ", PTX line " + std::to_string(location.line);
}

void FunctionLifter::lift() {
  for (const Directive& attribute : source_.attributes)
    check(attribute);
  entry_ = new_block("entry");
  llvm::BasicBlock* body = new_block("body");
  ir_.SetInsertPoint(entry_);
  ir_.CreateBr(body);
  ir_.SetInsertPoint(body);
  scopes_.push();
  declare_parameters();
  scopes_.push();
  lift_statements(source_.body.statements);
  if (!terminated()) emit_return();
  scopes_.pop();
  scopes_.pop();
}

llvm::BasicBlock* FunctionLifter::new_block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(context(), name, &function_);
}

void FunctionLifter::start(llvm::BasicBlock* block) {
  block->moveAfter(ir_.GetInsertBlock());
  ir_.SetInsertPoint(block);
}

llvm::AllocaInst* FunctionLifter::entry_alloca(llvm::Type* type, uint32_t alignment,
                                               const llvm::Twine& name) {
  // At the very start of the entry block, so that no store of an initial value precedes it.
  llvm::IRBuilder<> entry(entry_, entry_->begin());
  llvm::AllocaInst* slot = entry.CreateAlloca(type, nullptr, name);
  if (alignment != 0) slot->setAlignment(llvm::Align(alignment));
  return slot;
}

llvm::Value* FunctionLifter::register_slot(Symbol& symbol) {
  if (symbol.pointer == nullptr) {
    symbol.pointer = entry_alloca(symbol.value_type, 0, "");
    llvm::IRBuilder<> entry(entry_->getTerminator());
    entry.CreateStore(llvm::Constant::getNullValue(symbol.value_type), symbol.pointer);
  }
  return symbol.pointer;
}

llvm::Value* FunctionLifter::condition_code() {
  if (condition_code_ == nullptr) {
    condition_code_ = entry_alloca(ir_.getInt1Ty(), 0, "condition_code");
    llvm::IRBuilder<> entry(entry_->getTerminator());
    entry.CreateStore(entry.getFalse(), condition_code_);
  }
  return condition_code_;
}

void FunctionLifter::declare_parameters() {
  auto* argument = function_.arg_begin();
  llvm::IRBuilder<> entry(entry_->getTerminator());
  auto describe = [&](const Variable& variable) {
    Symbol symbol;
    symbol.kind = variable.space == StateSpace::reg ? Symbol::Kind::reg : Symbol::Kind::param;
    symbol.space = variable.space;
    symbol.type = variable.type;
    symbol.bytes = variable.bytes();
    return symbol;
  };
  for (const Variable& result : source_.results) {
    Symbol symbol = describe(result);
    if (is_by_value(result)) {
      symbol.pointer = &*argument++;
    } else {
      symbol.value_type = register_type(context(), result.type);
      symbol.pointer = entry_alloca(symbol.value_type, 0, result.name);
      entry.CreateStore(llvm::Constant::getNullValue(symbol.value_type), symbol.pointer);
    }
    scopes_.declare(result.name, symbol);
  }
  for (const Variable& parameter : source_.parameters) {
    Symbol symbol = describe(parameter);
    if (is_by_value(parameter)) {
      symbol.pointer = &*argument;
    } else {
      symbol.value_type = argument->getType();
      symbol.pointer = entry_alloca(symbol.value_type, 0, "");
      entry.CreateStore(&*argument, symbol.pointer);
    }
    scopes_.declare(parameter.name, symbol);
    ++argument;
  }
}

void FunctionLifter::declare_labels(const std::vector<Statement>& statements) {
  Symbol* last = nullptr;
  for (const Statement& statement : statements) {
    if (const auto* label = std::get_if<Label>(&statement)) {
      Symbol symbol;
      symbol.kind = Symbol::Kind::label;
      symbol.block = new_block(label->name);
      last = &scopes_.declare(label->name, std::move(symbol));
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
      declare(*variable);
    } else if (const auto* directive = std::get_if<Directive>(&statement)) {
      check(*directive);
    } else {
      scopes_.push();
      lift_statements(std::get<Block>(statement).statements);
      scopes_.pop();
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
                     place(directive.location)));
}

void FunctionLifter::continue_in(llvm::BasicBlock* block) {
  if (!terminated()) ir_.CreateBr(block);
  start(block);
}

void FunctionLifter::enter(const Label& label) {
  continue_in(scopes_.find(label.name)->block);
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
  unguarded.tag(ir_.CreateCondBr(guard, then, next));
  start(then);
  unguarded.lift();
  continue_in(next);
}

llvm::Instruction* FunctionLifter::emit_return() {
  if (function_.getReturnType()->isVoidTy()) return ir_.CreateRetVoid();
  std::vector<llvm::Value*> values;
  for (const Variable& variable : source_.results) {
    const Symbol* result = scopes_.find(variable.name);
    values.push_back(ir_.CreateLoad(result->value_type, result->pointer));
  }
  if (values.size() == 1) return ir_.CreateRet(values[0]);
  return ir_.CreateAggregateRet(values.data(), static_cast<unsigned>(values.size()));
}

}  // namespace sluice::ptx::lift_detail
