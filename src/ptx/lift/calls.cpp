// Direct calls of .func functions. Scalars are passed as values, aggregates `byval` from the
// caller's .param variable; an aggregate result goes through a leading `sret` pointer.
#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

struct Call {
  std::string callee;
  std::vector<std::string> results;
  std::vector<const Operand*> arguments;
};

Call read_call(InstructionLifter& lifter) {
  Call call;
  size_t next = 0;
  auto list_at = [&](size_t index) -> const ListOperand* {
    if (index >= lifter.operand_count()) return nullptr;
    return std::get_if<ListOperand>(&lifter.operand(index).value);
  };
  if (const ListOperand* results = list_at(next)) {
    for (const Operand& result : results->elements) {
      const auto* identifier = std::get_if<Identifier>(&result.value);
      if (identifier == nullptr) lifter.refuse_invalid("its result is no variable");
      call.results.push_back(identifier->name);
    }
    ++next;
  }
  const auto* callee = std::get_if<Identifier>(&lifter.operand(next).value);
  if (callee == nullptr) lifter.refuse_invalid("it names no function");
  call.callee = callee->name;
  ++next;
  if (const ListOperand* arguments = list_at(next)) {
    for (const Operand& argument : arguments->elements)
      call.arguments.push_back(&argument);
    ++next;
  }
  const Symbol* symbol = lifter.function().scopes().find(call.callee);
  if (next != lifter.operand_count() || symbol != nullptr) {
    lifter.refuse_unimplemented("indirect calls are not lifted yet");
  }
  return call;
}

Symbol* find_variable(InstructionLifter& lifter, std::string_view name) {
  Symbol* symbol = lifter.function().scopes().find(name);
  if (symbol == nullptr || symbol->kind == Symbol::Kind::label) {
    lifter.refuse_invalid(quoted(name) + " is no parameter variable");
  }
  return symbol;
}

llvm::Value* read_argument(InstructionLifter& lifter, const Operand& operand,
                           const Variable& parameter, llvm::Type* type) {
  const auto* identifier = std::get_if<Identifier>(&operand.value);
  Symbol* symbol =
      identifier == nullptr ? nullptr : lifter.function().scopes().find(identifier->name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::param) {
    if (is_by_value(parameter)) lifter.refuse_invalid("an aggregate needs a .param variable");
    return lifter.from_bits(lifter.to_bits(lifter.read(operand, parameter.type)), type);
  }
  if (symbol->bytes != parameter.bytes()) {
    lifter.refuse_invalid("argument '" + identifier->name + "' has another size than parameter '" +
                          parameter.name + "'");
  }
  if (is_by_value(parameter)) return symbol->pointer;
  return lifter.ir().CreateLoad(type, symbol->pointer);
}

void copy_attributes(llvm::CallInst* call, const llvm::Function& callee) {
  call->setCallingConv(callee.getCallingConv());
  call->setAttributes(callee.getAttributes());
}

}  // namespace

void lift_call(InstructionLifter& lifter) {
  lifter.modifiers.take("uni");
  const Call call = read_call(lifter);
  llvm::Function* callee = lifter.function().module().function(call.callee);
  const Function* prototype = lifter.function().module().prototype(call.callee);
  if (callee == nullptr) lifter.refuse_invalid("there is no function " + quoted(call.callee));
  if (call.arguments.size() != prototype->parameters.size() ||
      call.results.size() != prototype->results.size()) {
    lifter.refuse_invalid("its operands are not those of the function");
  }
  llvm::IRBuilder<>& ir = lifter.ir();
  std::vector<llvm::Value*> arguments;
  const bool by_value = !call.results.empty() && is_by_value(prototype->results[0]);
  if (by_value) {
    Symbol* result = find_variable(lifter, call.results[0]);
    if (result->kind != Symbol::Kind::param || result->bytes != prototype->results[0].bytes()) {
      lifter.refuse_invalid("its result has another size than the function's");
    }
    arguments.push_back(result->pointer);
  }
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    llvm::Type* type =
        callee->getFunctionType()->getParamType(static_cast<unsigned>(arguments.size()));
    arguments.push_back(read_argument(lifter, *call.arguments[i], prototype->parameters[i], type));
  }
  llvm::CallInst* emitted = lifter.tag(ir.CreateCall(callee, arguments));
  copy_attributes(emitted, *callee);
  if (call.results.empty() || by_value) return;
  Symbol* result = find_variable(lifter, call.results[0]);
  if (result->kind == Symbol::Kind::reg) {
    return lifter.write_register(call.results[0], emitted, prototype->results[0].type);
  }
  if (result->value_type == nullptr || result->value_type->getPrimitiveSizeInBits() !=
                                           emitted->getType()->getPrimitiveSizeInBits()) {
    lifter.refuse_invalid("its result has another size than the function's");
  }
  ir.CreateStore(lifter.from_bits(lifter.to_bits(emitted), result->value_type), result->pointer);
}

}  // namespace sluice::ptx::lift_detail
