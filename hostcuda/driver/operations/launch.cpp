#include "hostcuda/driver/operations/launch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "hostcuda/driver/code/borrowed_code.hpp"
#include "hostcuda/driver/error_watch/error_watch.hpp"
#include "hostcuda/driver/graph/capture.hpp"
#include "hostcuda/driver/host_watch/watched_run.hpp"
#include "hostcuda/driver/launch_watch/watched_launch.hpp"
#include "hostcuda/driver/stream/resident_blocks.hpp"
#include "hostcuda/driver/stream/scratch.hpp"
#include "hostcuda/driver/stream/waiting_blocks.hpp"
#include "hostcuda/jit/texture/texture.hpp"

namespace sluice::hostcuda {
namespace {

// ParameterBlock is the memory that a kernel reads its parameters from. Most kernels' fit inside.
class ParameterBlock {
 public:
  explicit ParameterBlock(size_t bytes) {
    if (bytes > inside_.size()) outside_.reset(new (std::align_val_t{alignment}) std::byte[bytes]);
  }
  std::byte* data() { return outside_ ? outside_.get() : inside_.data(); }

 private:
  static constexpr size_t alignment = 64;
  struct Delete {
    void operator()(std::byte* memory) const {
      operator delete[](memory, std::align_val_t{alignment});
    }
  };
  alignas(alignment) std::array<std::byte, 256> inside_{};
  std::unique_ptr<std::byte[], Delete> outside_;
};

class LaunchOperation final : public Operation {
 public:
  // `most_resident` blocks of that size run at once where they wait for each other.
  LaunchOperation(std::shared_ptr<Kernel> kernel, const SluiceBlockCode& code,
                  const LaunchRequest& request, uint64_t most_resident)
      : kernel_(std::move(kernel)),
        code_(code),
        parameters_(kernel_->facts().parameter_bytes),
        blocks_(request.grid.count()),
        most_resident_(std::min(most_resident, blocks_)),
        block_(request.block),
        is_cooperative_(request.cooperative) {
    for (const KernelFacts::Parameter& parameter : kernel_->facts().parameters) {
      pointers_.push_back(parameters_.data() + parameter.offset);
    }
    launch_.parameters = parameters_.data();
    launch_.grid[0] = request.grid.x;
    launch_.grid[1] = request.grid.y;
    launch_.grid[2] = request.grid.z;
    launch_.dynamic_shared_bytes = request.dynamic_shared_bytes;
    if (WatchedLaunch::is_wanted())
      site_ = std::make_unique<const CallSite>(CallSite::of_this_call());
    if (MemoryWatch* watch = MemoryWatch::get()) call_ = watch->memory().next_call();
  }

  std::byte* parameters() { return parameters_.data(); }
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_KERNEL; }
  CUDA_KERNEL_NODE_PARAMS_v2 description() const {
    CUDA_KERNEL_NODE_PARAMS_v2 known = {};
    known.func = kernel_->function();
    known.gridDimX = launch_.grid[0];
    known.gridDimY = launch_.grid[1];
    known.gridDimZ = launch_.grid[2];
    known.blockDimX = block_.x;
    known.blockDimY = block_.y;
    known.blockDimZ = block_.z;
    known.sharedMemBytes = launch_.dynamic_shared_bytes;
    known.kernelParams = const_cast<void**>(pointers_.data());
    return known;
  }

  bool describe(std::vector<SluiceGraphStep>& steps) const override {
    if (is_cooperative_) return false;
    SluiceGraphStep& step = steps.emplace_back();
    step.function = kernel_->function();
    std::ranges::copy(launch_.grid, step.grid);
    step.block[0] = block_.x;
    step.block[1] = block_.y;
    step.block[2] = block_.z;
    step.dynamic_shared_bytes = launch_.dynamic_shared_bytes;
    step.parameters = launch_.parameters;
    step.parameter_bytes = kernel_->facts().parameter_bytes;
    return true;
  }

  void describe_use(HostUse& use) const override {
    use.name = kernel_->name().c_str();
    use.is_kernel = true;
    for (size_t at = 0; at + sizeof(uintptr_t) <= kernel_->facts().parameter_bytes;
         at += sizeof(uintptr_t)) {
      uintptr_t word = 0;
      std::memcpy(&word, static_cast<const std::byte*>(launch_.parameters) + at, sizeof word);
      use.pointers.push_back(word);
    }
  }
  bool may_wait_for_host() const override {
    return is_cooperative_ || code_.waits_for_blocks != 0 || kernel_->shares_flags();
  }
  CUresult run_watched(BlockPool& pool, const WatchedRun& watched) const override {
    SluiceBlockCode traced;
    if (watched.record == nullptr ||
        kernel_->block_code(block_, launch_.dynamic_shared_bytes, &traced, CodeVariant::traced) !=
            CUDA_SUCCESS)
      return run(pool);
    const DeviceBytes scratch = make_scratch(traced.scratch_bytes);
    if (scratch == nullptr) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    const SluiceAccessSink sink{&AccessRecord::heard, watched.record};
    set_access_sink(&sink);
    for (uint64_t block = 0; block < blocks_; ++block)
      traced.function(&launch_, static_cast<uint32_t>(block), 1, scratch.get());
    set_access_sink(nullptr);
    note_unseen_writes();
    return fault();
  }

  CUresult run(BlockPool& pool) const override {
    SluiceBlockCode watched;
    if (site_ != nullptr && kernel_->block_code(block_, launch_.dynamic_shared_bytes, &watched,
                                                CodeVariant::watched) == CUDA_SUCCESS) {
      WatchedLaunch launch({*kernel_, block_, *site_, call_}, watched, launch_);
      return run(launch.is_right() ? code_ : launch.code(), pool);
    }
    const CUresult result = run(code_, pool);
    note_unseen_writes();
    return result;
  }

 private:
  CUresult run(const SluiceBlockCode& code, BlockPool& pool) const {
    if (is_cooperative_) {
      if (!run_resident(code, launch_, static_cast<uint32_t>(blocks_))) {
        log::error("kernel {}: no threads or no memory for {} blocks at once", kernel_->name(),
                   blocks_);
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
      }
    } else if (!run_blocks(code, pool)) {
      log::error("kernel {}: no memory for {} bytes of scratch for each of {} workers",
                 kernel_->name(), code.scratch_bytes, pool.workers());
      return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    return fault();
  }

  static void note_unseen_writes() {
    if (MemoryWatch* watch = MemoryWatch::get()) watch->memory().anything_written();
  }

  // fault() is what has ended threads of the launch.
  CUresult fault() const {
    if (take_texture_fault()) {
      log::error(
          "kernel {}: an access to a surface outside of it, or by what is no texture or surface "
          "object; the context can't be used any more",
          kernel_->name());
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    return fault_error(*kernel_, kernel_->take_fault());
  }

  bool run_blocks(const SluiceBlockCode& code, BlockPool& pool) const {
    if (code.waits_for_blocks == 0 || blocks_ == 1) {
      return pool.run(code, launch_, blocks_, kernel_->block_nanoseconds());
    }
    return run_waiting(code, launch_, static_cast<uint32_t>(blocks_),
                       static_cast<uint32_t>(most_resident_), pool.workers());
  }

  std::shared_ptr<Kernel> kernel_;
  SluiceBlockCode code_;
  ParameterBlock parameters_;
  SluiceBlockLaunch launch_ = {};
  uint64_t blocks_;
  uint64_t most_resident_;
  Dim3 block_;
  bool is_cooperative_;
  std::vector<void*> pointers_;           // to each parameter
  std::unique_ptr<const CallSite> site_;  // null where threads are not watched
  uint64_t call_ = 0;                     // as WatchedMemory counts them
};

CUresult check_shape(const Kernel& kernel, const LaunchRequest& request) {
  const Dim3& grid = request.grid;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > limits::grid_x ||
      grid.y > limits::grid_y || grid.z > limits::grid_z) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const CUresult result = check_block(kernel, request.block, request.dynamic_shared_bytes);
  if (result != CUDA_SUCCESS) return result;
  if (grid.count() > UINT32_MAX) {
    log::error("kernel {}: a grid of {} blocks is unsupported on the CPU device; use at most {}",
               kernel.name(), grid.count(), UINT32_MAX);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

CUresult copy_from_extra(void** extra, size_t bytes, std::byte* block) {
  const void* buffer = nullptr;
  size_t size = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      size = *static_cast<const size_t*>(extra[1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  // Padding after the last parameter may be left out, no parameter may; more is ignored.
  if (buffer == nullptr || size < bytes) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(block, buffer, bytes);
  return CUDA_SUCCESS;
}

CUresult copy_parameters(const KernelFacts& facts, const LaunchRequest& request, std::byte* block) {
  if (request.parameters != nullptr && request.extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (facts.parameters.empty()) return CUDA_SUCCESS;
  const KernelFacts::Parameter& last = facts.parameters.back();
  if (request.extra != nullptr) {
    return copy_from_extra(request.extra, last.offset + last.size, block);
  }
  if (request.parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < facts.parameters.size(); ++i) {
    const KernelFacts::Parameter& parameter = facts.parameters[i];
    std::memcpy(block + parameter.offset, request.parameters[i], parameter.size);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult check_block(const Kernel& kernel, const Dim3& block, uint32_t dynamic_shared_bytes) {
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > limits::block_x ||
      block.y > limits::block_y || block.z > limits::block_z ||
      block.count() > kernel.facts().max_threads ||
      dynamic_shared_bytes > kernel.max_dynamic_shared_bytes()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult make_launch(Driver& driver, const LaunchRequest& request, SharedOperation* operation) {
  const std::shared_ptr<Kernel> kernel = driver.kernels.find(request.function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  ErrorWatch::launches(kernel->name());
  if (const CUresult error = driver.engine.error(); error != CUDA_SUCCESS) return error;
  if (const CUresult result = check_shape(*kernel, request); result != CUDA_SUCCESS) return result;
  const uint64_t most_resident =
      uint64_t{kernel->active_blocks(static_cast<unsigned>(request.block.count()),
                                     request.dynamic_shared_bytes)} *
      driver.properties.processors;
  if (request.cooperative && request.grid.count() > most_resident) {
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  }
  SluiceBlockCode code;
  const CUresult compiled = kernel->block_code(request.block, request.dynamic_shared_bytes, &code);
  if (compiled != CUDA_SUCCESS) return compiled;
  auto made = std::make_shared<LaunchOperation>(kernel, code, request, most_resident);
  const CUresult copied = copy_parameters(kernel->facts(), request, made->parameters());
  if (copied != CUDA_SUCCESS) return copied;
  *operation = std::move(made);
  ErrorWatch::launches({});
  return CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS_v2 launch_parameters(const Operation& launch) {
  return static_cast<const LaunchOperation&>(launch).description();
}

CUresult launch(Driver& driver, const StreamRef& stream, const LaunchRequest& request) {
  SharedOperation operation;
  const CUresult made = make_launch(driver, request, &operation);
  return made == CUDA_SUCCESS ? submit(driver, stream, std::move(operation)) : made;
}

}  // namespace sluice::hostcuda
