// mov, with packing and unpacking, and conversions of addresses.
#include "ptx/lift/families.hpp"

namespace sluice::ptx::lift_detail {

namespace {

ScalarType bits_type(unsigned width) {
  switch (width) {
    case 8:
      return ScalarType::b8;
    case 16:
      return ScalarType::b16;
    case 32:
      return ScalarType::b32;
    case 64:
      return ScalarType::b64;
    default:
      return ScalarType::none;
  }
}

// pack() is `mov.b64 d, {a, b}`: the first element becomes the lowest bits.
void pack(InstructionLifter& lifter, ScalarType type, const VectorOperand& sources) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const unsigned width = bit_width(type) / static_cast<unsigned>(sources.elements.size());
  const ScalarType element_type = bits_type(width);
  if (element_type == ScalarType::none) lifter.refuse_invalid("its elements have no PTX width");
  llvm::Type* whole = ir.getIntNTy(bit_width(type));
  llvm::Value* result = lifter.integer(whole, 0);
  unsigned position = 0;
  for (const Operand& source : sources.elements) {
    llvm::Value* element = ir.CreateZExt(lifter.read(source, element_type), whole);
    result = ir.CreateOr(result, ir.CreateShl(element, position));
    position += width;
  }
  lifter.write(0, result, type);
}

void unpack(InstructionLifter& lifter, ScalarType type, const VectorOperand& destinations) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const unsigned width = bit_width(type) / static_cast<unsigned>(destinations.elements.size());
  const ScalarType element_type = bits_type(width);
  if (element_type == ScalarType::none) lifter.refuse_invalid("its elements have no PTX width");
  llvm::Value* whole = lifter.to_bits(lifter.read(1, type));
  unsigned position = 0;
  for (const Operand& destination : destinations.elements) {
    llvm::Value* element = ir.CreateTrunc(ir.CreateLShr(whole, position), ir.getIntNTy(width));
    lifter.write(destination, element, element_type);
    position += width;
  }
}

unsigned address_space_of(InstructionLifter& lifter, std::string_view space) {
  if (space == "shared" || space == "shared::cta") return address_space::shared;
  if (space == "const") return address_space::constant;
  if (space == "local") return address_space::local;
  if (space == "global" || space == "param") return address_space::global;
  lifter.refuse_unsupported("state space ." + std::string(space) + " is not supported");
}

}  // namespace

void lift_mov(InstructionLifter& lifter) {
  const ScalarType type = lifter.take_type();
  if (const auto* sources = std::get_if<VectorOperand>(&lifter.operand(1).value)) {
    return pack(lifter, type, *sources);
  }
  if (const auto* destinations = std::get_if<VectorOperand>(&lifter.operand(0).value)) {
    return unpack(lifter, type, *destinations);
  }
  lifter.write(0, lifter.read(1, type), type);
}

void lift_cvta(InstructionLifter& lifter) {
  const bool to_space = lifter.modifiers.take("to");
  const auto space =
      lifter.modifiers.take_any({"global", "shared", "shared::cta", "shared::cluster", "const",
                                 "local", "param", "param::entry"});
  const ScalarType type = lifter.take_type();
  if (!space || bit_width(type) != 64) lifter.refuse_invalid("it needs a state space and .u64");
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* address = lifter.read(1, type);
  // Global and parameter addresses are generic addresses, as on NVIDIA's hardware.
  const unsigned from_space = address_space_of(lifter, *space == "param::entry" ? "param" : *space);
  if (from_space != address_space::global) {
    llvm::Type* specific = ir.getPtrTy(from_space);
    llvm::Type* generic = ir.getPtrTy(address_space::generic);
    llvm::Value* pointer = ir.CreateIntToPtr(address, to_space ? generic : specific);
    address = ir.CreatePtrToInt(ir.CreateAddrSpaceCast(pointer, to_space ? specific : generic),
                                ir.getInt64Ty());
  }
  lifter.write(0, address, type);
}

void lift_isspacep(InstructionLifter& lifter) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const auto space =
      lifter.modifiers.take_any({"global", "shared", "shared::cta", "const", "local"});
  if (!space) lifter.refuse_unsupported("its state space is not supported");
  llvm::Intrinsic::ID id = llvm::Intrinsic::nvvm_isspacep_global;
  if (*space == "shared" || *space == "shared::cta") id = llvm::Intrinsic::nvvm_isspacep_shared;
  if (*space == "const") id = llvm::Intrinsic::nvvm_isspacep_const;
  if (*space == "local") id = llvm::Intrinsic::nvvm_isspacep_local;
  llvm::Value* address = lifter.read(1, ScalarType::u64);
  lifter.write(0, lifter.intrinsic(id, {}, {ir.CreateIntToPtr(address, ir.getPtrTy())}),
               ScalarType::pred);
}

}  // namespace sluice::ptx::lift_detail
