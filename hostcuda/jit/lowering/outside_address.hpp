// Addresses of the process in compiled code: as symbols, so that an object file holds none and can
// be kept on disk.
#pragma once

#include <string>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

namespace sluice::hostcuda::jit {

// The address space of shared memory, as LLVM numbers them for NVPTX.
inline constexpr unsigned shared_space = 3;

// A symbol of this prefix and a name stands for the address of a module variable or, for indirect
// calls, of a device function.
inline constexpr const char* address_prefix = "sluice.at.";
// Where a thread leaves its fault. No variable of PTX has this name.
inline constexpr const char* fault_name = ".fault";

// outside_address() is the address as a constant of 64 bits.
inline llvm::Constant* outside_address(llvm::Module& module, const std::string& name) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Constant* symbol =
      module.getOrInsertGlobal(address_prefix + name, llvm::Type::getInt8Ty(context));
  return llvm::ConstantExpr::getPtrToInt(symbol, llvm::Type::getInt64Ty(context));
}

}  // namespace sluice::hostcuda::jit
