#include "ptx/lift/types.hpp"

namespace sluice::ptx::lift_detail {

unsigned bit_width(ScalarType type) {
  if (type == ScalarType::pred) return 1;
  return size_in_bytes(type) * 8;
}

// The enumerators of integers follow each other: bits, unsigned, signed.
bool is_signed(ScalarType type) {
  return type >= ScalarType::s8 && type <= ScalarType::s64;
}

bool is_integer(ScalarType type) {
  return type >= ScalarType::b8 && type <= ScalarType::s64;
}

bool is_float(ScalarType type) {
  return type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::f32 ||
         type == ScalarType::f64;
}

llvm::Type* value_type(llvm::LLVMContext& context, ScalarType type) {
  switch (type) {
    case ScalarType::pred:
      return llvm::Type::getInt1Ty(context);
    case ScalarType::f16:
      return llvm::Type::getHalfTy(context);
    case ScalarType::f32:
      return llvm::Type::getFloatTy(context);
    case ScalarType::f64:
      return llvm::Type::getDoubleTy(context);
    case ScalarType::bf16:
    case ScalarType::bf16x2:
    case ScalarType::f16x2:
      return llvm::Type::getIntNTy(context, bit_width(type));
    default:
      return is_integer(type) ? llvm::Type::getIntNTy(context, bit_width(type)) : nullptr;
  }
}

llvm::Type* register_type(llvm::LLVMContext& context, ScalarType type) {
  llvm::Type* value = value_type(context, type);
  if (value == nullptr || type == ScalarType::pred) return value;
  if (value->isFloatTy() || value->isDoubleTy()) return value;
  return llvm::Type::getIntNTy(context, bit_width(type));
}

llvm::Value* to_bits(llvm::IRBuilder<>& ir, llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (type->isIntegerTy()) return value;
  return ir.CreateBitCast(value, ir.getIntNTy(type->getPrimitiveSizeInBits()));
}

llvm::Value* from_bits(llvm::IRBuilder<>& ir, llvm::Value* bits, llvm::Type* type) {
  return type == bits->getType() ? bits : ir.CreateBitCast(bits, type);
}

}  // namespace sluice::ptx::lift_detail
