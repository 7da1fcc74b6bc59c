// Which kernel a function handle is, and what is known of that kernel.
#pragma once

#include <memory>
#include <unordered_map>

#include "runtime/code/kernel.hpp"
#include "runtime/device.hpp"

namespace sluice::runtime {

// CodeRegistry knows loaded images and the functions found in them. Not thread-safe.
class CodeRegistry {
 public:
  // Blocks run by `backend` or, where that is null, by the device's block code; `traced`: by code
  // that tells of its accesses.
  CodeRegistry(ModelMaker maker, Device& device, megakernel::WindowBackend* backend, bool traced);
  ~CodeRegistry();

  // The calls of Runtime of the same names. code_loaded() copies what it needs of the image:
  // the program may free it as soon as the driver has returned.
  void code_loaded(void* code, const void* image);
  void code_alias(void* code, void* original);
  void code_unloaded(void* code);
  void function_found(void* function, void* code, const char* kernel);
  void function_alias(void* function, void* original);

  // forget_device_code() makes every function ask for its code again.
  void forget_device_code();

  // find() returns the function of a handle, or null. It stays until its code is unloaded or the
  // handle is found again.
  Function* find(void* function);

  // model() returns the kernel's model, making it at the first call; null where it has none, and
  // then kernel.failure says why.
  KernelModel* model(const Function& function);

  // block_code() is the code of the launch's blocks, which is asked of the device once for each
  // block size; it stays until the next call.
  const BlockCode& block_code(Function& function, const LaunchCall& call);

 private:
  static Result<PtxCode*> code_of(const Function& function);
  void find_device_code(const Function& function, const LaunchCall& call, BlockCode& code);

  const ModelMaker maker_;
  Device& device_;
  megakernel::WindowBackend* const backend_;
  const bool traced_;
  std::unordered_map<void*, std::shared_ptr<CodeImage>> images_;
  std::unordered_map<void*, Function> functions_;
};

}  // namespace sluice::runtime
