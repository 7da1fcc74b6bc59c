// Operands as values: registers, literals, addresses, special registers.
#include <bit>

#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"
#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {

llvm::Value* InstructionLifter::to_bits(llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (type->isIntegerTy()) return value;
  return ir().CreateBitCast(value, ir().getIntNTy(type->getPrimitiveSizeInBits()));
}

llvm::Value* InstructionLifter::from_bits(llvm::Value* bits, llvm::Type* type) {
  return type == bits->getType() ? bits : ir().CreateBitCast(bits, type);
}

llvm::Value* InstructionLifter::read_register(std::string_view name) {
  Symbol* symbol = function_.scopes().find(name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::reg) {
    refuse_invalid(quoted(name) + " is no register");
  }
  return ir().CreateLoad(symbol->value_type, function_.register_slot(*symbol));
}

ScalarType InstructionLifter::declared_type(const Operand& operand) {
  const auto* identifier = std::get_if<Identifier>(&operand.value);
  if (identifier == nullptr) return ScalarType::none;
  Symbol* symbol = function_.scopes().find(identifier->name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::reg) return ScalarType::none;
  return symbol->type;
}

llvm::Value* InstructionLifter::convert_register(llvm::Value* value, ScalarType type) {
  llvm::Type* wanted = value_type(context(), type);
  if (wanted == nullptr) {
    refuse_unsupported("type ." + std::string(name(type)) + " is not supported");
  }
  if (value->getType() == wanted) return value;
  const unsigned width = bit_width(type);
  llvm::Value* bits = to_bits(value);
  const unsigned have = bits->getType()->getIntegerBitWidth();
  if (have < width || have == 1 || width == 1) {
    refuse_invalid("an operand of " + std::to_string(have) + " bits is read as ." +
                   std::string(name(type)));
  }
  if (have > width) bits = ir().CreateTrunc(bits, ir().getIntNTy(width));
  return from_bits(bits, wanted);
}

llvm::Value* InstructionLifter::literal(uint64_t bits, unsigned width, ScalarType type) {
  llvm::Type* wanted = value_type(context(), type);
  if (wanted == nullptr) {
    refuse_unsupported("type ." + std::string(name(type)) + " is not supported");
  }
  const unsigned needed = bit_width(type);
  // A decimal literal is a double; as an f32 operand it is rounded to one.
  if (type == ScalarType::f32 && width == 64) {
    bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  } else if (type == ScalarType::f64 && width == 32) {
    bits = std::bit_cast<uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  } else if (needed < width) {
    refuse_invalid("a floating point literal is wider than its type");
  }
  const llvm::APInt value = llvm::APInt(64, bits).sextOrTrunc(needed);
  return from_bits(llvm::ConstantInt::get(context(), value), wanted);
}

llvm::Value* InstructionLifter::address_of(std::string_view name, int64_t bytes, ScalarType type) {
  if (!is_integer(type) || (bit_width(type) != 64 && bit_width(type) != 32)) {
    refuse_invalid("an address has 32 or 64 bits");
  }
  llvm::Type* wanted = ir().getIntNTy(bit_width(type));
  llvm::Value* pointer = nullptr;
  if (const Symbol* symbol = function_.scopes().find(name)) {
    if (symbol->kind == Symbol::Kind::memory || symbol->kind == Symbol::Kind::param) {
      pointer = symbol->pointer;
    }
  } else if (auto variable = function_.module().variable(name); variable.global != nullptr) {
    pointer = variable.global;
  } else if (llvm::Function* callee = function_.module().function(name)) {
    pointer = callee;
  }
  if (pointer == nullptr) refuse_invalid(quoted(name) + " has no address");
  llvm::Value* address = ir().CreatePtrToInt(pointer, wanted);
  return bytes == 0 ? address
                    : ir().CreateAdd(address, integer(wanted, static_cast<uint64_t>(bytes)));
}

llvm::Value* InstructionLifter::read(const Operand& operand, ScalarType type) {
  if (const auto* constant = std::get_if<IntegerLiteral>(&operand.value)) {
    if (type == ScalarType::pred) return ir().getInt1(constant->bits != 0);
    if (is_float(type)) refuse_invalid("an integer literal stands where a float belongs");
    return literal(constant->bits, 0, type);
  }
  if (const auto* constant = std::get_if<FloatLiteral>(&operand.value)) {
    return literal(constant->bits, constant->width, type);
  }
  if (const auto* offset = std::get_if<Offset>(&operand.value)) {
    return address_of(offset->name, offset->bytes, type);
  }
  if (const auto* negated = std::get_if<NotOperand>(&operand.value)) {
    if (type != ScalarType::pred) refuse_invalid("'!' stands before what is no predicate");
    return ir().CreateNot(convert_register(read_register(negated->predicate.name), type));
  }
  const auto* identifier = std::get_if<Identifier>(&operand.value);
  if (identifier == nullptr) refuse_unsupported("an operand has a form that Sluice does not know");
  const Symbol* symbol = function_.scopes().find(identifier->name);
  if (symbol != nullptr && symbol->kind == Symbol::Kind::reg) {
    if (!identifier->component.empty()) refuse_unimplemented("vector registers are not lifted");
    return convert_register(read_register(identifier->name), type);
  }
  if (symbol == nullptr) {
    if (llvm::Value* special =
            read_special_register(*this, identifier->name, identifier->component)) {
      const unsigned width = bit_width(type);
      // A 64-bit destination takes a 32-bit special register with zeros above.
      if (is_integer(type) && special->getType()->getIntegerBitWidth() < width) {
        return ir().CreateZExt(special, ir().getIntNTy(width));
      }
      return convert_register(special, type);
    }
  }
  return address_of(identifier->name, 0, type);
}

llvm::Value* InstructionLifter::extend_for_register(llvm::Value* value, ScalarType type,
                                                    llvm::Type* wanted) {
  if (value->getType() == wanted) return value;
  llvm::Value* bits = to_bits(value);
  const unsigned have = bits->getType()->getIntegerBitWidth();
  const auto width = static_cast<unsigned>(wanted->getPrimitiveSizeInBits());
  if (have > width || have == 1 || width == 1) {
    refuse_invalid("a destination of " + std::to_string(width) + " bits gets " +
                   std::to_string(have));
  }
  if (have < width) {
    llvm::Type* wide = ir().getIntNTy(width);
    bits = is_signed(type) ? ir().CreateSExt(bits, wide) : ir().CreateZExt(bits, wide);
  }
  return from_bits(bits, wanted);
}

void InstructionLifter::write_register(std::string_view name, llvm::Value* value, ScalarType type) {
  if (name == "_") return;
  Symbol* symbol = function_.scopes().find(name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::reg) {
    refuse_invalid(quoted(name) + " is no register");
  }
  llvm::Value* slot = function_.register_slot(*symbol);
  assign(slot, extend_for_register(value, type, symbol->value_type));
}

void InstructionLifter::assign(llvm::Value* slot, llvm::Value* value) {
  if (guard_ != nullptr) {
    value = ir().CreateSelect(guard_, value, ir().CreateLoad(value->getType(), slot));
  }
  ir().CreateStore(value, slot);
}

void InstructionLifter::write(const Operand& operand, llvm::Value* value, ScalarType type) {
  const auto* identifier = std::get_if<Identifier>(&operand.value);
  if (identifier == nullptr || !identifier->component.empty()) {
    refuse_unimplemented("its destination is no scalar register");
  }
  write_register(identifier->name, value, type);
}

}  // namespace sluice::ptx::lift_detail
