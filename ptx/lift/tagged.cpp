#include "ptx/lift/tagged.hpp"

#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Metadata.h>

namespace sluice::ptx::lift_detail {

void tag_line(const InstructionLifter& lifter, llvm::Instruction* instruction) {
  llvm::LLVMContext& context = instruction->getContext();
  auto* line =
      llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), lifter.instruction().location.line);
  instruction->setMetadata(line_mark,
                           llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(line)));
}

llvm::CallInst* tagged_intrinsic(InstructionLifter& lifter, llvm::Intrinsic::ID id,
                                 llvm::ArrayRef<llvm::Value*> arguments) {
  return tag(lifter, lifter.ir().CreateIntrinsic(id, {}, arguments));
}

llvm::CallInst* tagged_call(InstructionLifter& lifter, llvm::StringRef name, llvm::Type* result,
                            llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments)
    types.push_back(argument->getType());
  llvm::FunctionCallee callee = lifter.function().module().module().getOrInsertFunction(
      name, llvm::FunctionType::get(result, types, false));
  llvm::cast<llvm::Function>(callee.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
  return tag(lifter, lifter.ir().CreateCall(callee, arguments));
}

}  // namespace sluice::ptx::lift_detail
