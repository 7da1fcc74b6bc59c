#include "ptx/lift/types.hpp"

namespace sluice::ptx::lift_detail {

unsigned bit_width(ScalarType type) {
  if (type == ScalarType::pred) return 1;
  return size_in_bytes(type) * 8;
}

bool is_signed(ScalarType type) {
  switch (type) {
    case ScalarType::s8:
    case ScalarType::s16:
    case ScalarType::s32:
    case ScalarType::s64:
      return true;
    default:
      return false;
  }
}

bool is_float(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
    case ScalarType::bf16:
    case ScalarType::f32:
    case ScalarType::f64:
      return true;
    default:
      return false;
  }
}

bool is_integer(ScalarType type) {
  switch (type) {
    case ScalarType::b8:
    case ScalarType::b16:
    case ScalarType::b32:
    case ScalarType::b64:
    case ScalarType::b128:
    case ScalarType::u8:
    case ScalarType::u16:
    case ScalarType::u32:
    case ScalarType::u64:
    case ScalarType::s8:
    case ScalarType::s16:
    case ScalarType::s32:
    case ScalarType::s64:
      return true;
    default:
      return false;
  }
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

}  // namespace sluice::ptx::lift_detail
