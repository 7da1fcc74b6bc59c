// Operands as values: registers, literals, addresses, special registers.
#include <bit>

#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"
#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {
namespace {

llvm::Value* convert_register(InstructionLifter& lifter, llvm::Value* value, ScalarType type) {
  llvm::Type* wanted = value_type(lifter.ir().getContext(), type);
  if (wanted == nullptr) {
    lifter.refuse_unsupported("type ." + std::string(name(type)) + " is not supported");
  }
  if (value->getType() == wanted) return value;
  const unsigned width = bit_width(type);
  llvm::Value* bits = to_bits(lifter.ir(), value);
  const unsigned have = bits->getType()->getIntegerBitWidth();
  if (have < width || have == 1 || width == 1) {
    lifter.refuse_invalid("an operand of " + std::to_string(have) + " bits is read as ." +
                          std::string(name(type)));
  }
  if (have > width) bits = lifter.ir().CreateTrunc(bits, lifter.ir().getIntNTy(width));
  return from_bits(lifter.ir(), bits, wanted);
}

llvm::Value* literal(InstructionLifter& lifter, uint64_t bits, unsigned width, ScalarType type) {
  llvm::Type* wanted = value_type(lifter.ir().getContext(), type);
  if (wanted == nullptr) {
    lifter.refuse_unsupported("type ." + std::string(name(type)) + " is not supported");
  }
  const unsigned needed = bit_width(type);
  // A decimal literal is a double; as an f32 operand it is rounded to one.
  if (type == ScalarType::f32 && width == 64) {
    bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  } else if (type == ScalarType::f64 && width == 32) {
    bits = std::bit_cast<uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  } else if (needed < width) {
    lifter.refuse_invalid("a floating point literal is wider than its type");
  }
  const llvm::APInt value = llvm::APInt(64, bits).sextOrTrunc(needed);
  return from_bits(lifter.ir(), llvm::ConstantInt::get(lifter.ir().getContext(), value), wanted);
}

llvm::Value* address_of(InstructionLifter& lifter, std::string_view name, int64_t bytes,
                        ScalarType type) {
  if (!is_integer(type) || (bit_width(type) != 64 && bit_width(type) != 32)) {
    lifter.refuse_invalid("an address has 32 or 64 bits");
  }
  llvm::Type* wanted = lifter.ir().getIntNTy(bit_width(type));
  llvm::Value* pointer = nullptr;
  if (const Symbol* symbol = lifter.function().frame().scopes().find(name)) {
    if (symbol->kind == Symbol::Kind::memory || symbol->kind == Symbol::Kind::param) {
      pointer = symbol->pointer;
    }
  } else if (auto variable = lifter.function().module().variable(name);
             variable.global != nullptr) {
    pointer = variable.global;
  } else if (llvm::Function* callee = lifter.function().module().function(name)) {
    pointer = callee;
  }
  if (pointer == nullptr) lifter.refuse_invalid(quoted(name) + " has no address");
  llvm::Value* address = lifter.ir().CreatePtrToInt(pointer, wanted);
  return bytes == 0 ? address
                    : lifter.ir().CreateAdd(
                          address, llvm::ConstantInt::get(wanted, static_cast<uint64_t>(bytes)));
}

llvm::Value* extend_for_register(InstructionLifter& lifter, llvm::Value* value, ScalarType type,
                                 llvm::Type* wanted) {
  if (value->getType() == wanted) return value;
  llvm::Value* bits = to_bits(lifter.ir(), value);
  const unsigned have = bits->getType()->getIntegerBitWidth();
  const auto width = static_cast<unsigned>(wanted->getPrimitiveSizeInBits());
  if (have > width || have == 1 || width == 1) {
    lifter.refuse_invalid("a destination of " + std::to_string(width) + " bits gets " +
                          std::to_string(have));
  }
  if (have < width) {
    llvm::Type* wide = lifter.ir().getIntNTy(width);
    bits =
        is_signed(type) ? lifter.ir().CreateSExt(bits, wide) : lifter.ir().CreateZExt(bits, wide);
  }
  return from_bits(lifter.ir(), bits, wanted);
}

}  // namespace

ScalarType declared_type(InstructionLifter& lifter, const Operand& operand) {
  const auto* identifier = std::get_if<Identifier>(&operand.value);
  if (identifier == nullptr) return ScalarType::none;
  Symbol* symbol = lifter.function().frame().scopes().find(identifier->name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::reg) return ScalarType::none;
  return symbol->type;
}

llvm::Value* InstructionLifter::read_register(std::string_view name) {
  Symbol* symbol = function_.frame().scopes().find(name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::reg) {
    refuse_invalid(quoted(name) + " is no register");
  }
  return ir().CreateLoad(symbol->value_type, function_.frame().register_slot(*symbol));
}

llvm::Value* InstructionLifter::read(const Operand& operand, ScalarType type) {
  if (const auto* constant = std::get_if<IntegerLiteral>(&operand.value)) {
    if (type == ScalarType::pred) return ir().getInt1(constant->bits != 0);
    if (is_float(type)) refuse_invalid("an integer literal stands where a float belongs");
    return literal(*this, constant->bits, 0, type);
  }
  if (const auto* constant = std::get_if<FloatLiteral>(&operand.value)) {
    return literal(*this, constant->bits, constant->width, type);
  }
  if (const auto* offset = std::get_if<Offset>(&operand.value)) {
    return address_of(*this, offset->name, offset->bytes, type);
  }
  if (const auto* negated = std::get_if<NotOperand>(&operand.value)) {
    if (type != ScalarType::pred) refuse_invalid("'!' stands before what is no predicate");
    return ir().CreateNot(convert_register(*this, read_register(negated->predicate.name), type));
  }
  const auto* identifier = std::get_if<Identifier>(&operand.value);
  if (identifier == nullptr) refuse_unsupported("an operand has a form that Sluice does not know");
  const Symbol* symbol = function_.frame().scopes().find(identifier->name);
  if (symbol != nullptr && symbol->kind == Symbol::Kind::reg) {
    if (!identifier->component.empty()) refuse_unimplemented("vector registers are not lifted");
    return convert_register(*this, read_register(identifier->name), type);
  }
  if (symbol == nullptr) {
    if (llvm::Value* special =
            read_special_register(*this, identifier->name, identifier->component)) {
      const unsigned width = bit_width(type);
      // A 64-bit destination takes a 32-bit special register with zeros above.
      if (is_integer(type) && special->getType()->getIntegerBitWidth() < width) {
        return ir().CreateZExt(special, ir().getIntNTy(width));
      }
      return convert_register(*this, special, type);
    }
  }
  return address_of(*this, identifier->name, 0, type);
}

void InstructionLifter::write_register(std::string_view name, llvm::Value* value, ScalarType type) {
  if (name == "_") return;
  Symbol* symbol = function_.frame().scopes().find(name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::reg) {
    refuse_invalid(quoted(name) + " is no register");
  }
  llvm::Value* slot = function_.frame().register_slot(*symbol);
  assign(slot, extend_for_register(*this, value, type, symbol->value_type));
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
