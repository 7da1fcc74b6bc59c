#include "hostcuda/driver/stream/operation.hpp"

#include "hostcuda/driver/code/borrowed_code.hpp"
#include "hostcuda/driver/host_watch/watched_run.hpp"

namespace sluice::hostcuda {
namespace {

// rows_of() is the rows of one side of a copy.
Spans rows_of(const CopySide& side, const Copy& copy) {
  Spans rows;
  for (size_t z = 0; z < copy.depth; ++z) {
    for (size_t y = 0; y < copy.height; ++y) {
      const uintptr_t begin = side.address + z * side.slice + y * side.pitch;
      rows.push_back({begin, begin + copy.width});
    }
  }
  return rows;
}

}  // namespace

void CopyOperation::describe_use(HostUse& use) const {
  use.name = "an asynchronous copy";
  use.writes = rows_of(copy_.destination, copy_);
  use.reads = rows_of(copy_.source, copy_);
}

CUresult CopyOperation::run_watched(BlockPool& pool, const WatchedRun& watched) const {
  Copy copy = copy_;
  if (watched.kept_source != nullptr)
    copy.source.address = reinterpret_cast<uintptr_t>(watched.kept_source);
  perform(copy, &pool);
  return CUDA_SUCCESS;
}

void FillOperation::describe_use(HostUse& use) const {
  use.name = "an asynchronous memset";
  for (size_t y = 0; y < fill_.height; ++y) {
    const uintptr_t begin = fill_.address + y * fill_.pitch;
    use.writes.push_back({begin, begin + fill_.width * fill_.element_bytes});
  }
}

CUresult HostOperation::run(BlockPool&) const {
  ContextStack& stack = ContextStack::of_this_thread();
  stack.push(&context_);
  function_(data_);
  stack.pop();
  return take_borrowed_fault();
}

bool CopyOperation::describe(std::vector<SluiceGraphStep>& steps) const {
  const bool is_flat =
      copy_.depth == 1 && copy_.destination.side != Side::host && copy_.source.side != Side::host;
  if (is_flat) {
    SluiceGraphStep& step = steps.emplace_back();
    step.to = copy_.destination.address;
    step.from = copy_.source.address;
    step.row_bytes = copy_.width;
    step.rows = copy_.height;
    step.to_pitch = copy_.destination.pitch;
    step.from_pitch = copy_.source.pitch;
  }
  return is_flat;
}

bool FillOperation::describe(std::vector<SluiceGraphStep>& steps) const {
  SluiceGraphStep& step = steps.emplace_back();
  step.is_fill = 1;
  step.to = fill_.address;
  step.row_bytes = fill_.width * fill_.element_bytes;
  step.rows = fill_.height;
  step.to_pitch = fill_.pitch;
  step.value = fill_.value;
  step.element_bytes = static_cast<uint32_t>(fill_.element_bytes);
  return true;
}

}  // namespace sluice::hostcuda
