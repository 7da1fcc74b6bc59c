// Object files into memory, by LLVM's JITLink.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/ExecutionEngine/JITLink/EHFrameSupport.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/Support/MemoryBuffer.h>

#include "base/result.hpp"
#include "hostcuda/block_abi.h"
#include "hostcuda/jit/lines/told_code.hpp"

namespace sluice::hostcuda::jit {

// Linker owns the machine code of one module's kernels. It works without ORC's sessions and without
// a compiler: setting those up takes longer than linking what the cache has. Thread-safe.
class Linker {
 public:
  static Result<std::unique_ptr<Linker>> create();
  Linker(const Linker&) = delete;
  ~Linker();

  // link() loads an object file and returns the address of its block function. It may use the C
  // library's math functions, exchange.hpp and the addresses (outside_address.hpp) for which
  // `address_of` gives a number other than 0; anything else it asks for is an error that names it.
  // The code lives as long as the Linker.
  using AddressOf = std::function<uint64_t(std::string_view name)>;
  Result<SluiceBlockFunction> link(std::unique_ptr<llvm::MemoryBuffer> object,
                                   const std::string& symbol, const AddressOf& address_of);

 private:
  explicit Linker(std::unique_ptr<llvm::jitlink::JITLinkMemoryManager> memory)
      : memory_(std::move(memory)) {}

  const std::unique_ptr<llvm::jitlink::JITLinkMemoryManager> memory_;
  llvm::jitlink::InProcessEHFrameRegistrar frame_registrar_;
  std::mutex mutex_;  // guards what follows
  std::vector<llvm::jitlink::JITLinkMemoryManager::FinalizedAlloc> code_;
  std::vector<llvm::orc::ExecutorAddrRange> frames_;  // what unwinders know of
  std::vector<std::unique_ptr<ToldCode>> told_;       // and debuggers
};

}  // namespace sluice::hostcuda::jit
