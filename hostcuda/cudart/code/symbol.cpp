// Device variables by their host symbol.
#include "hostcuda/cudart/api.hpp"
#include "hostcuda/cudart/code/registry.hpp"
#include "hostcuda/cudart/memory/copy.hpp"

using namespace sluice::cudart;

namespace {

// range_in() gives the address of `count` bytes at `offset` in the variable of `symbol`.
cudaError_t range_in(const void* symbol, size_t count, size_t offset, void** address) {
  DeviceVariable variable;
  const cudaError_t error = find_variable(symbol, &variable);
  if (error != cudaSuccess) return error;
  if (offset > variable.size || count > variable.size - offset) return cudaErrorInvalidValue;
  *address = reinterpret_cast<void*>(variable.address + offset);
  return cudaSuccess;
}

bool may_write_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

bool may_read_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

}  // namespace

extern "C" {

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return with_context(
      [&] { return address == nullptr ? cudaErrorInvalidValue : range_in(symbol, 0, 0, address); });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return with_context([&] {
    DeviceVariable variable;
    const cudaError_t error =
        size == nullptr ? cudaErrorInvalidValue : find_variable(symbol, &variable);
    if (error == cudaSuccess) *size = variable.size;
    return error;
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t count, size_t offset,
                               cudaMemcpyKind kind) {
  return with_context([&] {
    void* target = nullptr;
    if (!may_write_device(kind)) return cudaErrorInvalidMemcpyDirection;
    const cudaError_t error = range_in(symbol, count, offset, &target);
    return error == cudaSuccess ? copy(target, source, count, kind) : error;
  });
}

cudaError_t cudaMemcpyFromSymbol(void* target, const void* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) {
  return with_context([&] {
    void* source = nullptr;
    if (!may_read_device(kind)) return cudaErrorInvalidMemcpyDirection;
    const cudaError_t error = range_in(symbol, count, offset, &source);
    return error == cudaSuccess ? copy(target, source, count, kind) : error;
  });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t count,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&] {
    void* target = nullptr;
    if (!may_write_device(kind)) return cudaErrorInvalidMemcpyDirection;
    const cudaError_t error = range_in(symbol, count, offset, &target);
    return error == cudaSuccess ? copy_async(target, source, count, kind, stream) : error;
  });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* target, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return with_context([&] {
    void* source = nullptr;
    if (!may_read_device(kind)) return cudaErrorInvalidMemcpyDirection;
    const cudaError_t error = range_in(symbol, count, offset, &source);
    return error == cudaSuccess ? copy_async(target, source, count, kind, stream) : error;
  });
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* source, size_t count,
                                         size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyToSymbolAsync(symbol, source, count, offset, kind, per_thread(stream));
}

cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* target, const void* symbol, size_t count,
                                           size_t offset, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return cudaMemcpyFromSymbolAsync(target, symbol, count, offset, kind, per_thread(stream));
}

cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* source, size_t count,
                                    size_t offset, cudaMemcpyKind kind) {
  const cudaError_t error =
      cudaMemcpyToSymbolAsync(symbol, source, count, offset, kind, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

cudaError_t cudaMemcpyFromSymbol_ptds(void* target, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind) {
  const cudaError_t error =
      cudaMemcpyFromSymbolAsync(target, symbol, count, offset, kind, cudaStreamPerThread);
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

}  // extern "C"
