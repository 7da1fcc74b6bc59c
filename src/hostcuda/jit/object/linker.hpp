// Object files into memory, by LLVM's ORC.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>

#include "base/result.hpp"
#include "hostcuda/block_abi.h"

namespace sluice::hostcuda::jit {

// Linker owns the machine code of one module's kernels. Thread-safe.
class Linker {
 public:
  static Result<std::unique_ptr<Linker>> create();

  // link() loads an object file and returns the address of its block function. It may use the C
  // library's math functions, exchange.hpp and the addresses (outside_address.hpp) for which
  // `address_of` gives a number other than 0; anything else it asks for is an error that names it.
  // The code lives as long as the Linker.
  using AddressOf = std::function<uint64_t(std::string_view name)>;
  Result<SluiceBlockFunction> link(std::unique_ptr<llvm::MemoryBuffer> object,
                                   const std::string& symbol, AddressOf address_of);

 private:
  explicit Linker(std::unique_ptr<llvm::orc::LLJIT> jit) : jit_(std::move(jit)) {}
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::atomic<unsigned> count_ = 0;
};

}  // namespace sluice::hostcuda::jit
