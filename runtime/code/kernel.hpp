// A kernel, its handles, and what is known of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/dim3.hpp"
#include "hostcuda/block_abi.h"
#include "megakernel/window_backend.hpp"
#include "runtime/code/kernel_model.hpp"
#include "runtime/launch/footprint_cache.hpp"
#include "runtime/launch/recent_launches.hpp"
#include "runtime/policy/policy.hpp"
#include "schedule/block_cost.hpp"

namespace sluice::runtime {

// Kernel is one kernel of one loaded image. Its model is made at its first launch.
struct Kernel {
  std::string name;
  std::future<Result<std::unique_ptr<KernelModel>>> making;  // valid: of the model
  bool tried = false;                                        // model or failure has been found
  std::unique_ptr<KernelModel> model;                        // null: failure says why
  std::string failure;
  std::optional<analysis::Widening> widening;  // of the failure
  FootprintCache footprints;
  // Shapes whose footprints the model was asked for, and has not been heard of.
  std::unordered_map<analysis::LaunchShape, std::future<TimedFootprint>, LaunchShapeHash> asked;
  int64_t last_analysis = -1;            // how long the last took, in nanoseconds
  std::atomic<uint32_t> in_analysis{0};  // those that the analysis has not answered yet
  // Unfinished is nanoseconds: what the background had spent when the analysis of now began, and
  // what earlier starts have spent on one that did not end, from when that was read.
  struct Unfinished {
    static constexpr int64_t unknown = -1;
    std::atomic<int64_t> from{unknown};
    std::atomic<int64_t> before{unknown};
  } unfinished;
  Policy::Mark pay;
  std::unordered_set<std::string> told;  // reasons that the log has had already
  std::list<schedule::BlockCost> costs;  // one for each block size; windows point to them
  uint64_t limits = 0;  // how often the program has changed what launches the device accepts
};

// BlockCode is the device's answer for one block size, in one context: code for the host's workers
// or, where a backend runs windows, for those of the device.
struct BlockCode {
  void* context = nullptr;
  Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  SluiceBlockCode code = {};
  std::shared_ptr<const megakernel::DeviceCode> device;
  std::string failure;   // why there is no code; empty where there is
  bool pending = false;  // there may be code at a later launch
  uint64_t limits = 0;   // Kernel::limits when it was asked for
  // A backend knows no limits of launches: whether the device has taken one like it under these.
  bool is_accepted = false;
  uint32_t body = megakernel::WindowBackend::no_body;
  schedule::BlockCost* cost = nullptr;  // of Kernel::costs
};

struct CodeImage;  // what one load call brought

// Function is one handle (CUfunction or CUkernel) of a kernel; several may share a kernel.
struct Function {
  std::shared_ptr<Kernel> kernel;
  std::vector<BlockCode> codes;      // few: a program uses a kernel with one or two block sizes
  std::shared_ptr<CodeImage> image;  // whose kernel this is
  void* code = nullptr;              // the CUmodule or CUlibrary that it was found in
  RecentLaunches<4> recent;
  uint32_t launches = 0;               // so far, of which two are as good as many
  std::optional<SluiceBlockCode> own;  // of a kernel of Sluice's own, which is in no image
};

}  // namespace sluice::runtime
