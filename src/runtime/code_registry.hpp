// Which kernel a function handle is, and what is known of that kernel.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/dim3.hpp"
#include "hostcuda/block_abi.h"
#include "megakernel/block_cost.hpp"
#include "megakernel/window_backend.hpp"
#include "runtime/following_budget.hpp"
#include "runtime/footprint_cache.hpp"
#include "runtime/governor.hpp"
#include "runtime/kernel_model.hpp"
#include "runtime/window.hpp"

namespace sluice::runtime {

// Kernel is one kernel of one loaded image. Its model is made at its first launch.
struct Kernel {
  std::string name;
  bool tried = false;                  // model or failure has been found
  std::unique_ptr<KernelModel> model;  // null: failure says why
  std::string failure;
  FootprintCache footprints;
  FollowingBudget budget;
  std::optional<bool> is_known_to_pay;  // to follow, at this start and earlier ones
  Governor::Mark mark;
  std::unordered_set<std::string> told;    // reasons that the log has had already
  std::list<megakernel::BlockCost> costs;  // one for each block size; windows point to them
};

// BlockCode is the device's answer for one block size: code for the host's workers or, where a
// backend runs windows, for those of the device.
struct BlockCode {
  Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  SluiceBlockCode code = {};
  std::shared_ptr<const megakernel::DeviceCode> device;
  std::string failure;   // why there is no code; empty where there is
  bool pending = false;  // there may be code at a later launch
  uint32_t body = megakernel::WindowBackend::no_body;
  megakernel::BlockCost* cost = nullptr;  // of Kernel::costs
};

// BoundLaunch is what was found of a launch: its footprint, and the buffers of its arguments.
struct BoundLaunch {
  const CachedFootprint* footprint = nullptr;
  std::vector<dro::BoundArgument> arguments;
  std::vector<TouchedBuffer> touched;
  dro::KnownLaunch known;
};

// RecentLaunch is what was found of a launch, good for another one of the same arguments while no
// memory was allocated or freed.
struct RecentLaunch {
  uint64_t memory_changes = UINT64_MAX;
  std::vector<std::byte> parameters;
  Dim3 grid;
  Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  BoundLaunch bound;
};

// Function is one handle (CUfunction or CUkernel) of a kernel; several may share a kernel.
struct Function {
  std::shared_ptr<Kernel> kernel;
  std::vector<BlockCode> codes;  // few: a program uses a kernel with one or two block sizes
  const void* image = nullptr;   // whose kernel this is, for code_unloaded()
  void* code = nullptr;          // the CUmodule or CUlibrary that it was found in
  std::array<RecentLaunch, 4> recent;
  size_t next_recent = 0;
};

// CodeRegistry knows loaded images and the functions found in them. Not thread-safe.
class CodeRegistry {
 public:
  explicit CodeRegistry(ModelMaker maker);
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

  // module() is the PTX that holds the kernel; it lives as long as the code is loaded.
  Result<const ptx::Module*> module(const Function& function);

 private:
  struct Image;
  Result<PtxCode*> code_of(const Function& function);

  ModelMaker maker_;
  std::unordered_map<void*, std::shared_ptr<Image>> images_;
  std::unordered_map<void*, Function> functions_;
};

}  // namespace sluice::runtime
