// Calls of .func functions. Scalars are passed as values, aggregates `byval` from the caller's
// .param variable; an aggregate result goes through a leading `sret` pointer, several results come
// as a structure. A call through a
// pointer becomes a choice among the functions whose address the module takes.
#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"

namespace sluice::ptx::lift_detail {

namespace {

struct Call {
  std::string callee;  // a function, or the register that holds a function's address
  bool is_indirect = false;
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
  const Symbol* symbol = lifter.function().frame().scopes().find(call.callee);
  call.is_indirect = symbol != nullptr && symbol->kind == Symbol::Kind::reg;
  // A last operand names a prototype or a list of targets: the arguments say as much.
  if (call.is_indirect && next < lifter.operand_count()) ++next;
  if (next != lifter.operand_count()) lifter.refuse_invalid("an operand is too many");
  return call;
}

Symbol* find_variable(InstructionLifter& lifter, std::string_view name) {
  Symbol* symbol = lifter.function().frame().scopes().find(name);
  if (symbol == nullptr || symbol->kind == Symbol::Kind::label) {
    lifter.refuse_invalid(quoted(name) + " is no parameter variable");
  }
  return symbol;
}

llvm::Value* read_argument(InstructionLifter& lifter, const Operand& operand,
                           const Variable& parameter, llvm::Type* type) {
  const auto* identifier = std::get_if<Identifier>(&operand.value);
  Symbol* symbol =
      identifier == nullptr ? nullptr : lifter.function().frame().scopes().find(identifier->name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::param) {
    if (is_by_value(parameter)) lifter.refuse_invalid("an aggregate needs a .param variable");
    return from_bits(lifter.ir(), to_bits(lifter.ir(), lifter.read(operand, parameter.type)), type);
  }
  if (symbol->bytes != parameter.bytes()) {
    lifter.refuse_invalid("argument '" + identifier->name + "' has another size than parameter '" +
                          parameter.name + "'");
  }
  if (is_by_value(parameter)) return symbol->pointer;
  return lifter.ir().CreateLoad(type, symbol->pointer);
}

// The bytes of an argument's or result's variable; 0 where it is a register or a literal, which
// fits any scalar.
uint64_t variable_bytes(InstructionLifter& lifter, const Operand& operand) {
  const auto* identifier = std::get_if<Identifier>(&operand.value);
  const Symbol* symbol =
      identifier == nullptr ? nullptr : lifter.function().frame().scopes().find(identifier->name);
  return symbol == nullptr || symbol->kind != Symbol::Kind::param ? 0 : symbol->bytes;
}

bool fits(const Variable& declared, uint64_t bytes) {
  return bytes == 0 ? !is_by_value(declared) : declared.bytes() == bytes;
}

// Whether a function could be what is called: by the number and sizes of what goes in and out.
bool is_candidate(InstructionLifter& lifter, const Call& call, const Function& function) {
  if (function.parameters.size() != call.arguments.size() ||
      function.results.size() != call.results.size()) {
    return false;
  }
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!fits(function.parameters[i], variable_bytes(lifter, *call.arguments[i]))) return false;
  }
  for (size_t i = 0; i < call.results.size(); ++i) {
    const Operand result{Identifier{call.results[i], {}}};
    if (!fits(function.results[i], variable_bytes(lifter, result))) return false;
  }
  return true;
}

void copy_attributes(llvm::CallInst* call, const llvm::Function& callee) {
  call->setCallingConv(callee.getCallingConv());
  call->setAttributes(callee.getAttributes());
}

void take_result(InstructionLifter& lifter, const std::string& name, const Variable& declared,
                 llvm::Value* value) {
  Symbol* result = find_variable(lifter, name);
  if (result->kind == Symbol::Kind::reg) return lifter.write_register(name, value, declared.type);
  if (result->value_type == nullptr ||
      result->value_type->getPrimitiveSizeInBits() != value->getType()->getPrimitiveSizeInBits()) {
    lifter.refuse_invalid("its result has another size than the function's");
  }
  lifter.ir().CreateStore(from_bits(lifter.ir(), to_bits(lifter.ir(), value), result->value_type),
                          result->pointer);
}

void emit_call(InstructionLifter& lifter, const Call& call, const std::string& name) {
  llvm::Function* callee = lifter.function().module().function(name);
  const Function* prototype = lifter.function().module().prototype(name);
  if (callee == nullptr) lifter.refuse_invalid("there is no function " + quoted(name));
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
  llvm::CallInst* emitted = tag(lifter, ir.CreateCall(callee, arguments));
  copy_attributes(emitted, *callee);
  if (by_value) return;
  for (unsigned i = 0; i < call.results.size(); ++i) {
    llvm::Value* value = call.results.size() == 1 ? emitted : ir.CreateExtractValue(emitted, i);
    take_result(lifter, call.results[i], prototype->results[i], value);
  }
}

// A function's address is compared with each candidate's; what is none of them traps, as a jump
// to a wild address does.
void emit_indirect_call(InstructionLifter& lifter, const Call& call) {
  FunctionLifter& function = lifter.function();
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* target = to_bits(lifter.ir(), lifter.read_register(call.callee));
  llvm::BasicBlock* done = function.new_block("called");
  for (const Function* candidate : function.module().address_taken_functions()) {
    if (!is_candidate(lifter, call, *candidate)) continue;
    llvm::Function* callee = function.module().function(candidate->name);
    llvm::BasicBlock* then = function.new_block("call");
    llvm::BasicBlock* next = function.new_block("next");
    llvm::Value* address = ir.CreatePtrToInt(callee, target->getType());
    ir.CreateCondBr(ir.CreateICmpEQ(target, address), then, next);
    function.start(then);
    emit_call(lifter, call, candidate->name);
    ir.CreateBr(done);
    function.start(next);
  }
  tagged_intrinsic(lifter, llvm::Intrinsic::trap, {});
  ir.CreateUnreachable();
  function.start(done);
}

}  // namespace

void lift_call(InstructionLifter& lifter) {
  lifter.modifiers.take("uni");
  const Call call = read_call(lifter);
  if (call.is_indirect) return emit_indirect_call(lifter, call);
  emit_call(lifter, call, call.callee);
}

}  // namespace sluice::ptx::lift_detail
