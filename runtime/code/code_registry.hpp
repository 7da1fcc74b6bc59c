// Which kernel a function handle is, and what is known of that kernel.
#pragma once

#include <memory>
#include <unordered_map>

#include "base/terminal/slow_work.hpp"
#include "runtime/background.hpp"
#include "runtime/code/kernel.hpp"
#include "runtime/device.hpp"

namespace sluice::runtime {

// CodeRegistry knows loaded images and the functions found in them. Not thread-safe.
class CodeRegistry {
 public:
  // The analysis works in the `background`, measured by the `clock`. Blocks run by `backend` or,
  // where that is null, by the device's block code; `traced`: by code that tells of its accesses.
  CodeRegistry(ModelMaker maker, Background& background, int64_t (*clock)(), Device& device,
               megakernel::WindowBackend* backend, bool traced);
  ~CodeRegistry();

  // The calls of Runtime of the same names. code_loaded() copies what it needs of the image:
  // the program may free it as soon as the driver has returned.
  void code_loaded(void* code, const void* image);
  void code_alias(void* code, void* original);
  void code_unloaded(void* code);
  void function_found(void* function, void* code, const char* kernel);
  void function_alias(void* function, void* original);

  // memory_of_variables() is what kind of memory variables of the code lie in; no buffer where the
  // code is not known.
  Memory memory_of_variables(void* code) const;

  // add_own() makes a handle a kernel of Sluice's own, with its model and its code.
  void add_own(void* function, const char* name, std::unique_ptr<KernelModel> model,
               const SluiceBlockCode& blocks);

  // forget_device_code() makes every function ask for its code again.
  void forget_device_code();

  // find() returns the function of a handle, or null. It stays until its code is unloaded or the
  // handle is found again.
  Function* find(void* function);

  // make_model() begins to make the kernel's model at the first call; model_of() is it. `if_kept`:
  // only where an earlier start has left it.
  void make_model(const Function& function, bool if_kept);
  // ask_for_footprint() gives the kernel's model a shape to answer in kernel.asked, and keeps
  // kernel and code as long as that takes. `at_once`: on the calling thread.
  void ask_for_footprint(const Function& function, const analysis::LaunchShape& shape,
                         bool at_once);
  // for_each_kernel() calls `each` with every kernel that has a function, for each of these.
  template <class Each>
  void for_each_kernel(Each&& each) {
    for (const auto& [handle, function] : functions_)
      each(*function.kernel);
  }
  // analyses() are figures of the analyses of all kernels, kept by whom the answers come to.
  struct Analyses {
    Budget::Cost dearest;
    int64_t longest_unfinished = 0;  // unfinished_analysis() of a kernel launched so far
  };
  Analyses& analyses() { return analyses_; }

  // limits_changed() says that the device may accept other launches of the function now;
  // limits_of() is how often it was called. accepted() says that the device took the call, begun
  // under these limits, as it was: where a backend runs windows, no launch is held before.
  void limits_changed(void* function);
  uint64_t limits_of(void* function);
  void accepted(const LaunchCall& call, uint64_t limits);

  // block_code() is the code of the launch's blocks, which is asked of the device once for each
  // block size and after limits_changed(); it stays until the next call. prepare_block_code() asks
  // where the device itself would do the same for the launch, so that it costs nothing more.
  const BlockCode& block_code(Function& function, const LaunchCall& call);
  void prepare_block_code(Function& function, const LaunchCall& call);

 private:
  void ask(const Function& function, const LaunchCall& call, BlockCode& found);
  void find_device_code(const Function& function, const LaunchCall& call, BlockCode& code);

  const ModelMaker maker_;
  Background& background_;
  int64_t (*const clock_)();
  Device& device_;
  megakernel::WindowBackend* const backend_;
  const bool traced_;
  std::unordered_map<void*, std::shared_ptr<CodeImage>> images_;
  std::unordered_map<void*, Function> functions_;
  Analyses analyses_;
};

// code_of() is the PTX of the function's image; an error where it has none.
Result<PtxCode*> code_of(const Function& function);

// may_signal() and memory_of_variables() are what the function's PTX says (ptx_code.hpp).
bool may_signal(const Function& function);
Memory memory_of_variables(const Function& function);

// model_of() is the kernel's model once kernel.making has come; null where it has none, and then
// kernel.failure says why.
KernelModel* model_of(const Function& function);

}  // namespace sluice::runtime
