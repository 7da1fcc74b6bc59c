// PTX kernels to machine code that runs whole blocks on one CPU thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dim3.hpp"
#include "base/result.hpp"
#include "hostcuda/block_abi.h"
#include "hostcuda/jit/library/device_fault.hpp"
#include "ptx/syntax.hpp"

namespace sluice::hostcuda {

// KernelFacts is what a driver must know of a kernel before it compiles it.
struct KernelFacts {
  struct Parameter {
    uint32_t offset = 0;  // bytes in the parameter block
    uint32_t size = 0;
  };
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;
  uint32_t static_shared_bytes = 0;
  uint32_t local_bytes = 0;     // of a thread: what the kernel and all that it calls declare
  uint32_t constant_bytes = 0;  // .const variables that these name
  uint32_t architecture = 0;    // that its PTX is for, as CUDA writes it: 10 * major + minor
  uint32_t max_threads = 1024;  // of a block: .maxntid's product, else the device's limit
};

// ModuleVariable is storage of a module-level .global or .const variable.
struct ModuleVariable {
  void* address = nullptr;
  uint64_t bytes = 0;
};

// CodeVariant: traced code reports its accesses to set_access_sink()'s listener, watched code its
// threads to set_thread_sink()'s (watch/thread_events.hpp).
enum class CodeVariant { plain, traced, watched };

// FirstCode is what block_code() gives where there is no code yet. `good` is compiled well while
// the caller waits. `soon` is the same where that takes less than a moment (State::moment), else a
// quick form that gives the same bits and goes over to the good one once a thread has made that,
// also in the middle of a launch. `quick` never goes over: for tests.
enum class FirstCode { good, soon, quick };
// first_code() is what SLUICE_FIRST_CODE names, `soon` where it is not set.
FirstCode first_code();

// set_access_sink() says who hears of the accesses of traced code on the calling thread; null:
// nobody.
void set_access_sink(const SluiceAccessSink* sink);

// WaitListener hears, again and again, that the block which its thread runs waits for what another
// thread or block is to write.
struct WaitListener {
  void (*waits)(void* data) = nullptr;
  void* data = nullptr;
};
// set_wait_listener() says who hears of it on the calling thread; null: nobody. It must live until
// it is replaced.
void set_wait_listener(const WaitListener* listener);

// CompiledModule is one loaded PTX module: storage for its variables and, on demand, block code
// for each (kernel, block size). Thread-safe.
class CompiledModule {
 public:
  static Result<std::unique_ptr<CompiledModule>> create(ptx::Module module,
                                                        FirstCode first = FirstCode::good);
  ~CompiledModule();

  const ptx::Module& module() const;
  std::vector<std::string> kernel_names() const;
  Result<KernelFacts> facts(std::string_view kernel) const;
  // variable() returns the storage of a module variable, an error where there is none.
  Result<ModuleVariable> variable(std::string_view name) const;

  // block_code() compiles the kernel for one block size, once. Unsupported instructions and
  // features come back as one clear error (kernel, PTX line, what).
  Result<SluiceBlockCode> block_code(std::string_view kernel, const Dim3& block,
                                     uint32_t dynamic_shared_bytes,
                                     CodeVariant variant = CodeVariant::plain);

  // take_fault() says what has ended a thread of any kernel before its time since the last call.
  // CUDA reports such a launch as failed.
  DeviceFault take_fault();

 private:
  struct State;
  explicit CompiledModule(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace sluice::hostcuda
