// Loaded code: what a CUmodule or a CUlibrary stands for, and its kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/dim3.hpp"
#include "base/result.hpp"
#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/jit/block_compiler.hpp"

namespace sluice::hostcuda {

class LoadedCode;

// Kernel is what a CUfunction or a CUkernel stands for; one object serves as both. Thread-safe.
class Kernel {
 public:
  Kernel(LoadedCode& code, CompiledModule& unit, std::string name, KernelFacts facts);

  LoadedCode& code() { return code_; }
  uint64_t number() const { return number_; }  // no other kernel of the process has or had it
  const std::string& name() const { return name_; }
  const KernelFacts& facts() const { return facts_; }
  const ptx::Module& module() const { return unit_.module(); }
  // variable() is one of the kernel's module.
  Result<ModuleVariable> variable(std::string_view name) const { return unit_.variable(name); }
  CUfunction function() { return reinterpret_cast<CUfunction>(this); }

  // block_code() compiles for one block size at the first call and remembers the answer, an error
  // too: it is logged once.
  CUresult block_code(const Dim3& block, uint32_t dynamic_shared_bytes, SluiceBlockCode* code,
                      CodeVariant variant = CodeVariant::plain);

  // The dynamic shared memory that a launch may ask for; a program can raise it.
  uint32_t max_dynamic_shared_bytes() const { return max_dynamic_shared_bytes_.load(); }
  CUresult set_max_dynamic_shared_bytes(int bytes);

  CUresult get_attribute(CUfunction_attribute attribute, int* value) const;
  CUresult set_attribute(CUfunction_attribute attribute, int value);
  CUresult parameter(size_t index, size_t* offset, size_t* size) const;

  // active_blocks() is how many blocks of a size one multiprocessor is said to hold.
  unsigned active_blocks(unsigned block_threads, size_t dynamic_shared_bytes) const;

  // shares_flags() is host_watch/shared_flags.hpp's answer, found at the first call: nobody asks it
  // of kernels that are loaded and never launched.
  bool shares_flags();

  // take_fault() says what has ended a thread of this code since the last call.
  DeviceFault take_fault() { return unit_.take_fault(); }

  // block_nanoseconds() is what a block took when last measured, for BlockPool.
  std::atomic<uint32_t>& block_nanoseconds() { return block_nanoseconds_; }

 private:
  struct Compiled {
    Dim3 block;
    uint32_t dynamic_shared_bytes = 0;
    CodeVariant variant = CodeVariant::plain;
    CUresult result = CUDA_SUCCESS;
    SluiceBlockCode code = {};
  };

  int registers() const;

  LoadedCode& code_;
  CompiledModule& unit_;
  const uint64_t number_;
  const std::string name_;
  const KernelFacts facts_;
  std::atomic<uint32_t> max_dynamic_shared_bytes_;
  std::atomic<int> preferred_carveout_{-1};
  mutable std::atomic<int> registers_{0};  // 0: nobody has asked yet
  std::atomic<uint32_t> block_nanoseconds_{0};
  std::once_flag looked_for_flags_;
  bool shares_flags_ = false;
  std::mutex mutex_;
  std::vector<Compiled> compiled_;  // guarded by mutex_; few block sizes are ever used
};

// LoadedCode holds a module for each image of one load, which is one but for a program's file, with
// variables and kernels of its own. The PTX units of a device-linked image are linked to one
// module. Thread-safe.
class LoadedCode {
 public:
  // load() takes an image as the program hands it to the driver; load_file() a file. `message`
  // gets the one line that says what is wrong, which is logged too.
  static CUresult load(const void* image, std::shared_ptr<LoadedCode>* code, std::string* message);
  static CUresult load_file(const char* path, std::shared_ptr<LoadedCode>* code,
                            std::string* message);

  // kernel() finds a kernel by name; every call returns the same object.
  CUresult kernel(std::string_view name, Kernel** kernel);
  std::vector<std::string> kernel_names() const;
  CUresult variable(std::string_view name, ModuleVariable* variable) const;

  CUmodule module() { return reinterpret_cast<CUmodule>(this); }
  CUlibrary library() { return reinterpret_cast<CUlibrary>(this); }
  bool is_library() const { return is_library_; }
  void set_is_library() { is_library_ = true; }
  const void* context() const { return context_; }
  void set_context(const void* context) { context_ = context; }

 private:
  LoadedCode() = default;
  static CUresult load_units(const std::vector<std::string>& units,
                             std::shared_ptr<LoadedCode>* code, std::string* message);

  std::vector<std::unique_ptr<CompiledModule>> units_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels_;  // guarded by mutex_
  bool is_library_ = false;
  const void* context_ = nullptr;  // the context of a module; a library belongs to none
};

}  // namespace sluice::hostcuda
