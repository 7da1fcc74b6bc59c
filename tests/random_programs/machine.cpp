#include "random_programs/machine.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

// A call by its symbol; its result must be CUDA_SUCCESS.
#define SLUICE_CALL(symbol, ...) api_.check(api_.symbol(__VA_ARGS__), #symbol)

namespace sluice::random_programs {
namespace {

constexpr const char* kernel_names[] = {
#define SLUICE_RANDOM_KERNEL(name, ...) #name,
#include "random_programs/kernels.def"
#undef SLUICE_RANDOM_KERNEL
};

}  // namespace

Machine::Machine(const DriverApi& api, const std::string& ptx, HelperThread& second)
    : api_(api), second_(second) {
  CUcontext context = nullptr;
  SLUICE_CALL(cuInit, 0);
  SLUICE_CALL(cuDevicePrimaryCtxRetain, &context, 0);
  SLUICE_CALL(cuCtxSetCurrent, context);
  second_.call([&] { SLUICE_CALL(cuCtxSetCurrent, context); });
  SLUICE_CALL(cuModuleLoadData, &module_, ptx.c_str());
  for (const char* name : kernel_names)
    SLUICE_CALL(cuModuleGetFunction, &kernels_.emplace_back(), module_, name);
  SLUICE_CALL(cuModuleGetFunction, &raise_flag_, module_, "raise_flag");
  size_t bytes = 0;
  SLUICE_CALL(cuModuleGetGlobal_v2, &variable_, &bytes, module_, "variable");
  for (int i = blocking_a; i <= non_blocking_b; ++i)
    create_stream(static_cast<Stream>(i));
  for (CUevent& event : events_)
    SLUICE_CALL(cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
  SLUICE_CALL(cuMemHostAlloc, reinterpret_cast<void**>(&flag_), sizeof(*flag_),
              CU_MEMHOSTALLOC_DEVICEMAP);
}

// Results are not looked at: a machine may go because a call has failed.
Machine::~Machine() {
  for (CUevent event : events_)
    api_.cuEventDestroy_v2(event);
  for (int i = blocking_a; i <= non_blocking_b; ++i)
    api_.cuStreamDestroy_v2(streams_[i]);
  api_.cuMemFreeHost(flag_);
  api_.cuModuleUnload(module_);
}

void Machine::create_stream(Stream stream) {
  const bool blocks = stream == blocking_a || stream == blocking_b;
  SLUICE_CALL(cuStreamCreate, &streams_[stream],
              blocks ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
}

Answers Machine::run(const Program& program) {
  program_ = &program;
  memory_.clear();
  memory_.resize(program.buffers.size());
  answers_.clear();
  host_works_.clear();
  holds_.clear();
  const auto holds = std::count_if(program.steps.begin(), program.steps.end(),
                                   [](const Step& step) { return step.call == Call::hold; });
  for (int64_t i = 0; i < holds; ++i)
    holds_.emplace_back(false);
  memory_[0] = {.address = variable_};
  SLUICE_CALL(cuMemsetD32_v2, variable_, 1, variable_words);
  SLUICE_CALL(cuCtxSynchronize);
  try {
    for (size_t i = 0; i < program.steps.size(); ++i) {
      step(i);
      if (program.steps[i].call == Call::graph) i += program.steps[i].number;
    }
  } catch (...) {
    for (std::atomic<bool>& hold : holds_) {
      hold = true;
      hold.notify_all();
    }
    api_.cuCtxSynchronize();
    throw;
  }
  return collect();
}

Answers Machine::collect() {
  for (uint32_t i = 0; i < memory_.size(); ++i) {
    if (i != 0 && !memory_[i].alive) continue;
    std::vector<uint32_t> words(program_->buffers[i].words);
    if (memory_[i].host != nullptr && program_->buffers[i].space != Space::managed) {
      std::copy_n(memory_[i].host, words.size(), words.begin());
    } else {
      SLUICE_CALL(cuMemcpyDtoH_v2, words.data(), memory_[i].address,
                  words.size() * sizeof(uint32_t));
    }
    answers_.push_back(std::move(words));
    if (i != 0) release({.to = {i, 0}});
  }
  return std::move(answers_);
}

void Machine::step(size_t index) {
  const Step& step = program_->steps[index];
  const auto call = [&] {
    if (step.call == Call::graph) {
      launch_graph(index);
    } else {
      make(step);
    }
  };
  if (step.thread == 0) {
    call();
  } else {
    second_.call(call);
  }
}

void Machine::make(const Step& step) {
  switch (step.call) {
    case Call::allocate:
      return allocate(step);
    case Call::release:
      return release(step);
    case Call::launch:
      return launch(step);
    case Call::graph:
      return;  // step() has it
    case Call::copy:
      return copy(step);
    case Call::copy_rows:
      return copy_rows(step);
    case Call::fill:
      return fill(step);
    case Call::fill_rows:
      return fill_rows(step);
    case Call::host_function:
      return enqueue_host_work(step, {host(step.to), step.words, step.salt, nullptr});
    case Call::hold:
      return enqueue_host_work(step, {.until = &holds_[step.number]});
    case Call::let_go:
      holds_[step.number] = true;
      return holds_[step.number].notify_all();
    case Call::record:
      if (step.stream == own_of_first) {
        return SLUICE_CALL(cuEventRecord_ptsz, events_[step.number], nullptr);
      }
      return SLUICE_CALL(cuEventRecord, events_[step.number], stream(step));
    case Call::wait:
      if (step.stream == own_of_second) {
        return SLUICE_CALL(cuStreamWaitEvent_ptsz, nullptr, events_[step.number], 0);
      }
      return SLUICE_CALL(cuStreamWaitEvent, stream(step), events_[step.number], 0);
    case Call::event_done:
      return wait_for_event(step);
    case Call::stream_done:
      return wait_for_stream(step);
    case Call::all_done:
      return SLUICE_CALL(cuCtxSynchronize);
    case Call::poll:
      return poll(step);
    case Call::host_writes: {
      uint32_t* const words = host(step.to);
      for (uint32_t i = 0; i < step.words; ++i)
        words[i] = step.salt * (i + 1);
      return;
    }
    case Call::host_reads:
      answers_.emplace_back(host(step.to), host(step.to) + step.words);
      return;
    case Call::new_stream:
      SLUICE_CALL(cuStreamDestroy_v2, streams_[step.stream]);
      return create_stream(step.stream);
  }
}

CUstream Machine::stream(const Step& step) const {
  if (step.stream == legacy) return step.thread == 0 ? nullptr : CU_STREAM_LEGACY;
  if (step.stream == own_of_first || step.stream == own_of_second) return CU_STREAM_PER_THREAD;
  return streams_[step.stream];
}

CUdeviceptr Machine::address(const Place& place) const {
  return memory_[place.buffer].address + place.first * sizeof(uint32_t);
}

uint32_t* Machine::host(const Place& place) {
  return memory_[place.buffer].host + place.first;
}

void Machine::allocate(const Step& step) {
  Memory& memory = memory_[step.to.buffer];
  const size_t bytes = step.words * sizeof(uint32_t);
  switch (program_->buffers[step.to.buffer].space) {
    case Space::device:
      SLUICE_CALL(cuMemAlloc_v2, &memory.address, bytes);
      break;
    case Space::ordered:
      if (stream(step) == CU_STREAM_PER_THREAD) {
        SLUICE_CALL(cuMemAllocAsync_ptsz, &memory.address, bytes, nullptr);
      } else {
        SLUICE_CALL(cuMemAllocAsync, &memory.address, bytes, stream(step));
      }
      break;
    case Space::managed:
      SLUICE_CALL(cuMemAllocManaged, &memory.address, bytes, CU_MEM_ATTACH_GLOBAL);
      memory.host = reinterpret_cast<uint32_t*>(memory.address);
      break;
    case Space::pinned:
      SLUICE_CALL(cuMemHostAlloc, reinterpret_cast<void**>(&memory.host), bytes,
                  CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
      memory.address = reinterpret_cast<CUdeviceptr>(memory.host);
      break;
    case Space::pageable:
      memory.pageable.resize(step.words);
      memory.host = memory.pageable.data();
      memory.address = reinterpret_cast<CUdeviceptr>(memory.host);
      break;
    case Space::variable:
      break;
  }
  memory.alive = true;
}

void Machine::release(const Step& step) {
  Memory& memory = memory_[step.to.buffer];
  memory.alive = false;
  switch (program_->buffers[step.to.buffer].space) {
    case Space::pinned:
      return SLUICE_CALL(cuMemFreeHost, memory.host);
    case Space::pageable:
    case Space::variable:
      return;
    default:
      break;
  }
  if (step.form != Form::other) return SLUICE_CALL(cuMemFree_v2, memory.address);
  if (stream(step) == CU_STREAM_PER_THREAD) {
    return SLUICE_CALL(cuMemFreeAsync_ptsz, memory.address, nullptr);
  }
  SLUICE_CALL(cuMemFreeAsync, memory.address, stream(step));
}

void Machine::wait_for_event(const Step& step) {
  if (step.form == Form::plain) return SLUICE_CALL(cuEventSynchronize, events_[step.number]);
  CUresult result = CUDA_ERROR_NOT_READY;
  while ((result = api_.cuEventQuery(events_[step.number])) == CUDA_ERROR_NOT_READY)
    std::this_thread::yield();
  api_.check(result, "cuEventQuery");
}

void Machine::wait_for_stream(const Step& step) {
  if (step.form == Form::plain) {
    if (stream(step) == CU_STREAM_PER_THREAD) {
      return SLUICE_CALL(cuStreamSynchronize_ptsz, nullptr);
    }
    return SLUICE_CALL(cuStreamSynchronize, stream(step));
  }
  CUresult result = CUDA_ERROR_NOT_READY;
  while ((result = api_.cuStreamQuery(stream(step))) == CUDA_ERROR_NOT_READY)
    std::this_thread::yield();
  api_.check(result, "cuStreamQuery");
}

}  // namespace sluice::random_programs
