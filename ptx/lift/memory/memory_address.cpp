// Where a memory instruction's address operand points.
#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

unsigned llvm_space(InstructionLifter& lifter, StateSpace space) {
  switch (space) {
    case StateSpace::none:
    case StateSpace::param:
      return address_space::generic;
    case StateSpace::global:
      return address_space::global;
    case StateSpace::shared:
      return address_space::shared;
    case StateSpace::constant:
      return address_space::constant;
    case StateSpace::local:
      return address_space::local;
    default:
      lifter.refuse_unsupported("its state space is not supported");
  }
}

// A variable may be accessed in its own space or, generically, in none.
llvm::Value* variable_in_space(InstructionLifter& lifter, llvm::Value* pointer, unsigned space) {
  if (pointer->getType()->getPointerAddressSpace() == space) return pointer;
  if (space != address_space::generic) {
    lifter.refuse_invalid("its variable lies in another state space");
  }
  return lifter.ir().CreateAddrSpaceCast(pointer, lifter.ir().getPtrTy(space));
}

}  // namespace

StateSpace take_space(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  if (modifiers.take("global")) return StateSpace::global;
  if (modifiers.take_any({"shared", "shared::cta"})) return StateSpace::shared;
  if (modifiers.take("local")) return StateSpace::local;
  if (modifiers.take("const")) return StateSpace::constant;
  if (modifiers.take_any({"param", "param::entry", "param::func"})) return StateSpace::param;
  return StateSpace::none;
}

MemoryPlace find_place(InstructionLifter& lifter, const Operand& operand, StateSpace space) {
  const auto* address = std::get_if<Address>(&operand.value);
  if (address == nullptr) lifter.refuse_invalid("it needs an address");
  MemoryPlace place;
  place.space = llvm_space(lifter, space);
  place.bytes = address->bytes;
  if (address->base.empty()) {
    place.address = lifter.ir().getInt64(0);
    return place;
  }
  Symbol* symbol = lifter.function().frame().scopes().find(address->base);
  if (symbol == nullptr) {
    auto variable = lifter.function().module().variable(address->base);
    if (variable.global == nullptr) {
      lifter.refuse_invalid(quoted(address->base) + " is neither a register nor a variable");
    }
    place.base = variable_in_space(lifter, variable.global, place.space);
    return place;
  }
  switch (symbol->kind) {
    case Symbol::Kind::reg:
      place.address = to_bits(lifter.ir(), lifter.read_register(address->base));
      break;
    case Symbol::Kind::memory:
      place.base = variable_in_space(lifter, symbol->pointer, place.space);
      break;
    case Symbol::Kind::param:
      if (space != StateSpace::param) lifter.refuse_invalid("a parameter needs .param");
      place.parameter = symbol;
      break;
    case Symbol::Kind::label:
      lifter.refuse_invalid("its address is a label");
  }
  return place;
}

llvm::Value* pointer_at(InstructionLifter& lifter, const MemoryPlace& place, uint64_t bytes) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const uint64_t offset = static_cast<uint64_t>(place.bytes) + bytes;
  if (place.address != nullptr) {
    llvm::Value* address = place.address;
    if (offset != 0)
      address = ir.CreateAdd(address, llvm::ConstantInt::get(address->getType(), offset));
    return ir.CreateIntToPtr(address, ir.getPtrTy(place.space));
  }
  llvm::Value* base = place.parameter != nullptr ? place.parameter->pointer : place.base;
  return offset == 0 ? base : ir.CreatePtrAdd(base, ir.getInt64(offset));
}

}  // namespace sluice::ptx::lift_detail
