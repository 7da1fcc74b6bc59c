// Copies and memsets. Those for which the host does not wait may be tasks, where all their memory
// is known: device memory, and pinned memory of the host. So may those within device memory that
// have no stream: no host waits for these either. The others close the windows, go to the
// driver as they are, and tell the runtime which bytes of device memory they overwrite; where races
// are checked, also which they read, and on which stream.
#include "interpose/wrappers/call_site.hpp"
#include "interpose/wrappers/wrappers.hpp"

using namespace sluice::interpose;
using sluice::runtime::Transfer;

namespace {

// copying() is a copy, filling() a fill, in whichever stream; nothing of a copy that has an unknown
// side.
Transfer copying(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return {.to = to, .from = from, .row_bytes = from == 0 ? 0 : bytes};
}
Transfer waited_for(Transfer transfer) {
  transfer.host_waits = true;
  return transfer;
}
CUdeviceptr address_of(const void* host) {
  return reinterpret_cast<CUdeviceptr>(host);
}
template <class Element>
Transfer filling(CUdeviceptr to, Element value, size_t count) {
  return {.kind = Transfer::Kind::fill,
          .to = to,
          .row_bytes = sizeof(Element) * count,
          .value = value,
          .element_bytes = sizeof(Element)};
}

// tell_host_copy() tells of a copy to `host`, or to where both may lie.
void tell_host_copy(const sluice::runtime::CopyCall& copy, const void* host) {
  auto to = reinterpret_cast<uint64_t>(host);
  if (to == 0 && copy.to != 0 && copy.from != 0 && is_host_memory(copy.to)) to = copy.to;
  if (to == 0) return;
  note_host_copy({.function = copy.function,
                  .from = {.address = copy.from, .row_bytes = copy.bytes},
                  .to = {.address = to, .row_bytes = copy.bytes},
                  .stream = copy.stream,
                  .host_waits = copy.host_waits});
}

// is_hashed() is whether the runtime has to be told of the bytes that come to the host.
bool is_hashed(const Transfer& transfer) {
  return copies() != nullptr && transfer.row_bytes != 0 && is_host_memory(transfer.to);
}

// Naming the stream of a small copy for which the host waits takes a part of its time that shows,
// so it has no name where nobody asks for that.
template <class Call>
CUresult observed_copy(sluice::runtime::CopyCall copy, CUstream stream, const void* host,
                       Transfer transfer, Call&& call) {
  const KeepErrno keep;
  if (transfer.row_bytes != 0 || races() != nullptr || copies() != nullptr)
    transfer.stream = copy.stream = key_of(stream);
  if (!is_hashed(transfer)) {
    if (const std::optional<CUresult> result = taken(transfer)) return *result;
  }
  sluice::runtime::Runtime* runtime = flushed_runtime();
  const CUresult result = call(Shim::get().calls());
  if (result != CUDA_SUCCESS || runtime == nullptr || copy.bytes == 0) return result;
  if (copy.to != 0) runtime->memory_written(copy.to, copy.bytes);
  if (runtime->copies() != nullptr) tell_host_copy(copy, host);
  if (races() != nullptr) {
    const sluice::runtime::CallSite site = calling_site();
    copy.site = &site;
    tell_copied(*races(), copy);
  }
  return result;
}

}  // namespace

// SLUICE_COPY(symbol, (parameters), (arguments), device address written, device address read,
// bytes, stream); an address of host memory is 0. SLUICE_COPY_OUT has the host memory that is
// written instead, and what may be a task.
#define SLUICE_ANY_COPY(symbol, parameters, arguments, to, host, from, bytes, stream, waits, task) \
  extern "C" CUresult sluice_wrap_##symbol parameters {                                            \
    return observed_copy({#symbol, to, from, bytes, {}, waits, nullptr}, stream, host, task,       \
                         [&](const DriverCalls& driver) { return driver.symbol arguments; });      \
  }
#define SLUICE_COPY(symbol, parameters, arguments, to, from, bytes, stream)               \
  SLUICE_ANY_COPY(symbol, parameters, arguments, to, nullptr, from, bytes, stream, false, \
                  copying(to, from, bytes))
#define SLUICE_COPY_OUT(symbol, parameters, arguments, host, from, bytes, stream, waits, task) \
  SLUICE_ANY_COPY(symbol, parameters, arguments, 0, host, from, bytes, stream, waits, task)
// SLUICE_COPY_NOW: the host may wait, and the function's _ptds form takes the thread's own stream.
#define SLUICE_COPY_NOW(symbol, parameters, arguments, to, from, bytes, task)                   \
  SLUICE_ANY_COPY(symbol, parameters, arguments, to, nullptr, from, bytes, nullptr, true, task) \
  SLUICE_ANY_COPY(symbol##_ptds, parameters, arguments, to, nullptr, from, bytes,               \
                  CU_STREAM_PER_THREAD, true, task)
// SLUICE_FILL(name, element): both forms of cuMemset<name>.
#define SLUICE_FILL(name, element)                                                               \
  SLUICE_COPY_NOW(cuMemset##name##_v2, (CUdeviceptr to, element v, size_t n), (to, v, n), to, 0, \
                  sizeof(element) * n, waited_for(filling(to, v, n)))                            \
  SLUICE_ANY_COPY(cuMemset##name##Async, (CUdeviceptr to, element v, size_t n, CUstream s),      \
                  (to, v, n, s), to, nullptr, 0, sizeof(element) * n, s, false, filling(to, v, n))

SLUICE_COPY_NOW(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to, from, n,
                waited_for(copying(to, from, n)))
SLUICE_COPY(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), to, from, n, s)
SLUICE_COPY_NOW(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, size_t n), (to, from, n), to, 0,
                n, Transfer{})
SLUICE_ANY_COPY(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t n, CUstream s),
                (to, from, n, s), to, nullptr, 0, n, s, false, copying(to, address_of(from), n))
SLUICE_COPY_OUT(cuMemcpyDtoH_v2, (void* to, CUdeviceptr from, size_t n), (to, from, n), to, from, n,
                nullptr, true, Transfer{})
SLUICE_COPY_OUT(cuMemcpyDtoH_v2_ptds, (void* to, CUdeviceptr from, size_t n), (to, from, n), to,
                from, n, CU_STREAM_PER_THREAD, true, Transfer{})
SLUICE_COPY_OUT(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t n, CUstream s),
                (to, from, n, s), to, from, n, s, false, copying(address_of(to), from, n))
SLUICE_COPY_NOW(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), to,
                from, n, waited_for(copying(to, from, n)))
SLUICE_COPY(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
            (to, from, n, s), to, from, n, s)
SLUICE_FILL(D8, unsigned char)
SLUICE_FILL(D16, unsigned short)
SLUICE_FILL(D32, unsigned int)
#undef SLUICE_FILL
#undef SLUICE_COPY_NOW
#undef SLUICE_COPY_OUT
#undef SLUICE_COPY
#undef SLUICE_ANY_COPY

// SLUICE_FILL_ROWS(name, element): fills of rows, `n` elements each.
#define SLUICE_FILL_ROWS(name, element)                                                          \
  extern "C" CUresult sluice_wrap_cuMemset##name##Async(CUdeviceptr to, size_t pitch, element v, \
                                                        size_t n, size_t rows, CUstream s) {     \
    const KeepErrno keep;                                                                        \
    Transfer transfer = filling(to, v, n);                                                       \
    transfer.stream = key_of(s);                                                                 \
    transfer.rows = rows;                                                                        \
    transfer.to_pitch = pitch;                                                                   \
    if (const std::optional<CUresult> result = taken(transfer)) return *result;                  \
    flushed_runtime();                                                                           \
    return driver().cuMemset##name##Async(to, pitch, v, n, rows, s);                             \
  }
SLUICE_FILL_ROWS(D2D8, unsigned char)
SLUICE_FILL_ROWS(D2D16, unsigned short)
SLUICE_FILL_ROWS(D2D32, unsigned int)
#undef SLUICE_FILL_ROWS
