#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>
#include <string>

#include <dlfcn.h>

#include "base/log.hpp"
#include "hostcuda/cudart/api.hpp"
#include "hostcuda/ignored_error.h"

namespace sluice::cudart {
namespace {

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

// Sorted by number, as the header lists them.
constexpr ErrorText error_texts[] = {
#define CUDART_ERROR(name, text) {name, #name, text},
#include "hostcuda/error_texts.def"
#undef CUDART_ERROR
};
static_assert(std::is_sorted(std::begin(error_texts), std::end(error_texts),
                             [](const ErrorText& a, const ErrorText& b) {
                               return a.error < b.error;
                             }));

const ErrorText* find_text(cudaError_t error) {
  const auto* found = std::lower_bound(
      std::begin(error_texts), std::end(error_texts), error,
      [](const ErrorText& entry, cudaError_t wanted) { return entry.error < wanted; });
  return found != std::end(error_texts) && found->error == error ? found : nullptr;
}

// A sticky error means that the context is lost: asking for it does not clear it, only a reset of
// the device does. The driver returns it from every later call by itself.
bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

// Counts resets of a device. A sticky error of an earlier count is over.
std::atomic<unsigned> resets{0};

// Whoever asks a stream or an event, gets "not ready" and leaves it there, would stop other
// libraries that look for errors of their launches. With static runtimes each has its own last
// error; here they share one, and that answer is for the asking object alone.
struct LastError {
  cudaError_t error = cudaSuccess;
  unsigned resets = 0;
  const void* asker = nullptr;  // of cudaErrorNotReady
};
thread_local LastError last;

// watch() is who wants to know of errors that nobody asks for; null where the driver has no such
// table. Only a failed call and who asks after one come here.
const SluiceIgnoredErrorTable* watch() {
  static const SluiceIgnoredErrorTable* const found = [] {
    constexpr unsigned char id[] = SLUICE_IGNORED_ERROR_TABLE_UUID;
    CUuuid uuid = {};
    std::memcpy(&uuid, id, sizeof uuid);
    const void* table = nullptr;
    const bool has_table = cuGetExportTable(&table, &uuid) == CUDA_SUCCESS;
    return has_table ? static_cast<const SluiceIgnoredErrorTable*>(table) : nullptr;
  }();
  return found;
}
std::atomic<bool> has_failed{false};

void note_asked() {
  if (!has_failed.load(std::memory_order_relaxed)) return;
  if (watch() != nullptr) watch()->asked();
}

void note_asked_for_text(cudaError_t error) {
  if (error == cudaSuccess || !has_failed.load(std::memory_order_relaxed)) return;
  if (watch() != nullptr) watch()->asked_for_text(error);
}

// object_of() is where the program or library begins that holds an address.
const void* object_of(void* address) {
  dl_find_object found = {};
  return _dl_find_object(address, &found) == 0 ? found.dlfo_map_start : nullptr;
}

cudaError_t last_error(void* caller) {
  if (is_sticky(last.error) && last.resets != resets.load(std::memory_order_relaxed)) {
    last.error = cudaSuccess;
  }
  const bool is_of_others = last.asker != nullptr && last.asker != object_of(caller);
  return is_of_others ? cudaSuccess : last.error;
}

}  // namespace

cudaError_t to_error(CUresult result) {
  if (result == CUDA_SUCCESS) return cudaSuccess;
  const cudaError_t error = static_cast<cudaError_t>(result);
  return find_text(error) != nullptr ? error : cudaErrorUnknown;
}

cudaError_t record(cudaError_t error) {
  if (error != cudaSuccess) {
    last = {error, resets.load(std::memory_order_relaxed)};
    const ErrorText* text = find_text(error);
    if (error != cudaErrorNotReady && text != nullptr && watch() != nullptr) {
      has_failed.store(true, std::memory_order_relaxed);
      watch()->failed(error, text->name);
    }
  }
  return error;
}

cudaError_t answer_to(void* caller, cudaError_t error) {
  if (error == cudaErrorNotReady) last.asker = object_of(caller);
  return error;
}

void forget_errors() {
  resets.fetch_add(1, std::memory_order_relaxed);
}

cudaError_t unsupported(const char* function) {
  static std::mutex* mutex = new std::mutex;
  static std::set<std::string>* said = new std::set<std::string>;
  {
    const std::lock_guard lock(*mutex);
    if (said->insert(function).second) {
      log::warning(
          "cudart: {} is unsupported by the runtime library of the CPU device; it returns "
          "cudaErrorNotSupported",
          function);
    }
  }
  return record(cudaErrorNotSupported);
}

}  // namespace sluice::cudart

using namespace sluice::cudart;

extern "C" {

cudaError_t cudaGetLastError() {
  note_asked();
  const cudaError_t error = last_error(__builtin_return_address(0));
  if (error != cudaSuccess && !is_sticky(error)) last = {};
  return error;
}

cudaError_t cudaPeekAtLastError() {
  note_asked();
  return last_error(__builtin_return_address(0));
}

const char* cudaGetErrorName(cudaError_t error) {
  note_asked_for_text(error);
  const ErrorText* found = find_text(error);
  return found != nullptr ? found->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  note_asked_for_text(error);
  const ErrorText* found = find_text(error);
  return found != nullptr ? found->text : "unrecognized error code";
}

}  // extern "C"
