// What a machine puts on streams: launches, copies, fills and host functions.
#include <cstring>
#include <thread>

#include "random_programs/machine.hpp"

#define SLUICE_CALL(symbol, ...) api_.check(api_.symbol(__VA_ARGS__), #symbol)

namespace sluice::random_programs {
namespace {

CUDA_MEMCPY2D rows_of(const Step& step, CUdeviceptr to, CUdeviceptr from) {
  constexpr size_t word = sizeof(uint32_t);
  CUDA_MEMCPY2D rows = {};
  rows.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  rows.srcDevice = from;
  rows.srcPitch = step.pitch * word;
  rows.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  rows.dstDevice = to;
  rows.dstPitch = step.pitch * word;
  rows.WidthInBytes = step.words * word;
  rows.Height = step.rows;
  return rows;
}

bool is_host(Space space) {
  return space == Space::pinned || space == Space::pageable;
}

}  // namespace

void Machine::launch(const Step& step) {
  CUdeviceptr pointers[] = {address(step.to), address(step.from)};
  uint32_t words = step.words;
  uint32_t salt = step.salt;
  void* parameters[] = {&pointers[0], &pointers[1], &words, &salt};
  const CUfunction function = kernels_[static_cast<size_t>(step.kernel)];
  const uint32_t grid = (step.words + step.block - 1) / step.block;
  const CUstream on = stream(step);
  if (step.form == Form::plain && on == CU_STREAM_PER_THREAD) {
    return SLUICE_CALL(cuLaunchKernel_ptsz, function, grid, 1, 1, step.block, 1, 1, 0, nullptr,
                       parameters, nullptr);
  }
  if (step.form == Form::plain) {
    return SLUICE_CALL(cuLaunchKernel, function, grid, 1, 1, step.block, 1, 1, 0, on, parameters,
                       nullptr);
  }
  if (step.form == Form::other) {
    unsigned char bytes[24];
    size_t size = sizeof(bytes);
    std::memcpy(bytes, pointers, 16);
    std::memcpy(bytes + 16, &words, 4);
    std::memcpy(bytes + 20, &salt, 4);
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    return SLUICE_CALL(cuLaunchKernel, function, grid, 1, 1, step.block, 1, 1, 0, on, nullptr,
                       extra);
  }
  if (step.form == Form::fourth && (step.salt & 1) != 0) {
    return SLUICE_CALL(cuLaunchCooperativeKernel, function, grid, 1, 1, step.block, 1, 1, 0, on,
                       parameters);
  }
  CUlaunchAttribute priority = {};
  priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  CUlaunchConfig config = {};
  config.gridDimX = grid;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = step.block;
  config.hStream = on;
  config.attrs = &priority;
  config.numAttrs = step.form == Form::fourth ? 1 : 0;
  SLUICE_CALL(cuLaunchKernelEx, &config, function, parameters, nullptr);
}

void Machine::copy(const Step& step) {
  const bool to_host = is_host(program_->buffers[step.to.buffer].space);
  const bool from_host = is_host(program_->buffers[step.from.buffer].space);
  const CUdeviceptr to = address(step.to);
  const CUdeviceptr from = address(step.from);
  void* const to_words = reinterpret_cast<void*>(to);
  const void* const from_words = reinterpret_cast<const void*>(from);
  const size_t bytes = step.words * sizeof(uint32_t);
  const CUstream on = stream(step);
  const bool own = on == CU_STREAM_PER_THREAD;
  const bool general = step.form == Form::other;
// The call of the four forms that fits.
#define SLUICE_COPY_CALL(name, sync_own, async, async_own, ...)                                 \
  return step.waits ? own ? SLUICE_CALL(sync_own, __VA_ARGS__) : SLUICE_CALL(name, __VA_ARGS__) \
         : own && general ? SLUICE_CALL(async_own, __VA_ARGS__, nullptr)                        \
                          : SLUICE_CALL(async, __VA_ARGS__, on)
  if (general) {
    SLUICE_COPY_CALL(cuMemcpy, cuMemcpy_ptds, cuMemcpyAsync, cuMemcpyAsync_ptsz, to, from, bytes);
  }
  if (to_host) {
    SLUICE_COPY_CALL(cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds, cuMemcpyDtoHAsync_v2,
                     cuMemcpyDtoHAsync_v2_ptsz, to_words, from, bytes);
  }
  if (from_host) {
    SLUICE_COPY_CALL(cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds, cuMemcpyHtoDAsync_v2,
                     cuMemcpyHtoDAsync_v2_ptsz, to, from_words, bytes);
  }
  SLUICE_COPY_CALL(cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds, cuMemcpyDtoDAsync_v2,
                   cuMemcpyDtoDAsync_v2_ptsz, to, from, bytes);
#undef SLUICE_COPY_CALL
}

void Machine::copy_rows(const Step& step) {
  const CUDA_MEMCPY2D rows = rows_of(step, address(step.to), address(step.from));
  const bool own = stream(step) == CU_STREAM_PER_THREAD;
  if (step.waits && own) return SLUICE_CALL(cuMemcpy2D_v2_ptds, &rows);
  if (step.waits) return SLUICE_CALL(cuMemcpy2D_v2, &rows);
  if (own && step.form == Form::other) {
    return SLUICE_CALL(cuMemcpy2DAsync_v2_ptsz, &rows, nullptr);
  }
  SLUICE_CALL(cuMemcpy2DAsync_v2, &rows, stream(step));
}

// A stream writes no words of managed memory.
void Machine::write_word(const Step& step) {
  const CUdeviceptr to = address(step.to);
  const CUstream on = stream(step);
  const Space space = program_->buffers[step.to.buffer].space;
  if (space != Space::device && space != Space::pinned) return;
  SLUICE_CALL(cuStreamWriteValue32_v2, on, to, ~step.salt, 0);
  SLUICE_CALL(cuStreamWaitValue32_v2, on, to, ~step.salt, CU_STREAM_WAIT_VALUE_EQ);
}

void Machine::fill(const Step& step) {
  const CUdeviceptr to = address(step.to);
  const CUstream on = stream(step);
  const bool own = on == CU_STREAM_PER_THREAD;
  if (step.form == Form::fourth) write_word(step);
// The call of the four forms that fits.
#define SLUICE_FILL_CALL(name, ...)                                  \
  return step.waits ? own ? SLUICE_CALL(name##_v2_ptds, __VA_ARGS__) \
                          : SLUICE_CALL(name##_v2, __VA_ARGS__)      \
         : own ? SLUICE_CALL(name##Async_ptsz, __VA_ARGS__, nullptr) \
                    : SLUICE_CALL(name##Async, __VA_ARGS__, on)
  if (step.form == Form::other) {
    SLUICE_FILL_CALL(cuMemsetD16, to, static_cast<unsigned short>(step.salt), 2 * step.words);
  }
  if (step.form == Form::third) {
    SLUICE_FILL_CALL(cuMemsetD8, to, static_cast<unsigned char>(step.salt), 4 * step.words);
  }
  SLUICE_FILL_CALL(cuMemsetD32, to, step.salt, step.words);
#undef SLUICE_FILL_CALL
}

void Machine::fill_rows(const Step& step) {
  const CUdeviceptr to = address(step.to);
  const size_t pitch = step.pitch * sizeof(uint32_t);
  const bool own = stream(step) == CU_STREAM_PER_THREAD;
  if (step.waits && own) {
    return SLUICE_CALL(cuMemsetD2D32_v2_ptds, to, pitch, step.salt, step.words, step.rows);
  }
  if (step.waits) return SLUICE_CALL(cuMemsetD2D32_v2, to, pitch, step.salt, step.words, step.rows);
  if (own) {
    return SLUICE_CALL(cuMemsetD2D32Async_ptsz, to, pitch, step.salt, step.words, step.rows,
                       nullptr);
  }
  SLUICE_CALL(cuMemsetD2D32Async, to, pitch, step.salt, step.words, step.rows, stream(step));
}

void Machine::enqueue_host_work(const Step& step, HostWork work) {
  HostWork* const kept = &host_works_.emplace_back(work);
  const CUstream on = stream(step);
  if (step.form == Form::other) {
    return SLUICE_CALL(cuStreamAddCallback, on, run_callback, kept, 0);
  }
  if (on == CU_STREAM_PER_THREAD) {
    return SLUICE_CALL(cuLaunchHostFunc_ptsz, nullptr, run_host_work, kept);
  }
  SLUICE_CALL(cuLaunchHostFunc, on, run_host_work, kept);
}

void CUDA_CB Machine::run_host_work(void* data) {
  const auto& work = *static_cast<const HostWork*>(data);
  if (work.until != nullptr) work.until->wait(false);
  for (uint32_t i = 0; i < work.count; ++i)
    work.words[i] = (work.words[i] ^ work.salt) * 2654435761U + i;
}

void CUDA_CB Machine::run_callback(CUstream, CUresult, void* data) {
  run_host_work(data);
}

// Nothing is called while the host polls: what is held back must start by itself.
void Machine::poll(const Step& step) {
  const std::atomic_ref<uint32_t> flag(*flag_);
  flag.store(0);
  CUdeviceptr to = reinterpret_cast<CUdeviceptr>(flag_);
  uint32_t none = 0;
  uint32_t salt = step.salt;
  void* parameters[] = {&to, &to, &none, &salt};
  SLUICE_CALL(cuLaunchKernel, raise_flag_, 1, 1, 1, 32, 1, 1, 0, stream(step), parameters, nullptr);
  while (flag.load() != salt)
    std::this_thread::yield();
}

}  // namespace sluice::random_programs
