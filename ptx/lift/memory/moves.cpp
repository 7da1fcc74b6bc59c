// mov, with packing and unpacking, and conversions of addresses.
#include "ptx/lift/families.hpp"
#include "ptx/visit.hpp"

namespace sluice::ptx::lift_detail {

namespace {

// The type of each element where so many of them make one value of `type`.
ScalarType element_type(InstructionLifter& lifter, ScalarType type, size_t elements) {
  switch (elements == 0 ? 0 : bit_width(type) / elements) {
    case 8:
      return ScalarType::b8;
    case 16:
      return ScalarType::b16;
    case 32:
      return ScalarType::b32;
    case 64:
      return ScalarType::b64;
    default:
      lifter.refuse_invalid("its elements have no PTX width");
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

llvm::Value* pack(InstructionLifter& lifter, const Operand& sources, ScalarType element,
                  llvm::Type* whole) {
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* result = llvm::ConstantInt::get(whole, 0);
  unsigned position = 0;
  for (const Operand* source : elements_of(sources)) {
    llvm::Value* value = ir.CreateZExt(to_bits(lifter.ir(), lifter.read(*source, element)), whole);
    result = ir.CreateOr(result, ir.CreateShl(value, position));
    position += bit_width(element);
  }
  return result;
}

void unpack(InstructionLifter& lifter, llvm::Value* whole, const Operand& destinations,
            ScalarType element) {
  llvm::IRBuilder<>& ir = lifter.ir();
  const unsigned width = bit_width(element);
  unsigned position = 0;
  for (const Operand* destination : elements_of(destinations)) {
    llvm::Value* value = ir.CreateTrunc(ir.CreateLShr(whole, position), ir.getIntNTy(width));
    lifter.write(*destination, value, element);
    position += width;
  }
}

void lift_mov(InstructionLifter& lifter) {
  const auto vector = lifter.modifiers.take_any({"v2", "v4", "v8"});
  const ScalarType type = lifter.take_type();
  if (vector) {
    const auto count = static_cast<size_t>(vector->back() - '0');
    const auto from = take_elements(lifter, 1, count), to = take_elements(lifter, 0, count);
    // All are read before one is written, since registers may stand on both sides.
    std::vector<llvm::Value*> values;
    for (const Operand* element : from)
      values.push_back(lifter.read(*element, type));
    for (size_t i = 0; i < count; ++i)
      lifter.write(*to[i], values[i], type);
    return;
  }
  const auto is_vector = [&](size_t index) {
    return std::holds_alternative<VectorOperand>(lifter.operand(index).value);
  };
  const size_t sources = elements_of(lifter.operand(1)).size();
  const size_t destinations = elements_of(lifter.operand(0)).size();
  if (is_vector(1)) {
    llvm::Value* whole = pack(lifter, lifter.operand(1), element_type(lifter, type, sources),
                              lifter.ir().getIntNTy(bit_width(type)));
    return lifter.write(0, whole, type);
  }
  llvm::Value* value = lifter.read(1, type);
  if (!is_vector(0)) return lifter.write(0, value, type);
  unpack(lifter, to_bits(lifter.ir(), value), lifter.operand(0),
         element_type(lifter, type, destinations));
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
  const auto space = lifter.modifiers.take_any(
      {"global", "shared", "shared::cta", "shared::cluster", "const", "local"});
  if (!space) lifter.refuse_unsupported("its state space is not supported");
  llvm::Intrinsic::ID id = llvm::Intrinsic::nvvm_isspacep_global;
  if (space->starts_with("shared")) id = llvm::Intrinsic::nvvm_isspacep_shared;
  if (*space == "const") id = llvm::Intrinsic::nvvm_isspacep_const;
  if (*space == "local") id = llvm::Intrinsic::nvvm_isspacep_local;
  llvm::Value* address = lifter.read(1, ScalarType::u64);
  lifter.write(0, lifter.ir().CreateIntrinsic(id, {}, {ir.CreateIntToPtr(address, ir.getPtrTy())}),
               ScalarType::pred);
}

}  // namespace sluice::ptx::lift_detail
