// A driver in the place of NVIDIA's that has the public functions of requests.def: each writes down
// how it was called and answers with values made up.
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "interpose/requests/recording.hpp"

namespace sluice::testing {
namespace {

std::atomic<CUresult> result{CUDA_SUCCESS};
std::mutex mutex;
std::string& calls() {
  static auto* const all = new std::string();
  return *all;
}
thread_local CUcontext current = nullptr;

constexpr uintptr_t first_context = 0x51000;
constexpr uintptr_t context_bytes = 0x1000;

void note(const std::string& call) {
  const std::lock_guard lock(mutex);
  calls() += call + '\n';
}

template <class T>
void answer_in(const std::string& name, size_t argument, T pointer) {
  if constexpr (DataPointer<T>) {
    using Value = std::remove_pointer_t<T>;
    if constexpr (!std::is_const_v<Value>) {
      if (pointer != nullptr) *pointer = made_up<Value>(seed_of(name, argument));
    }
  }
}

// Which context is current, and of which device, is told truly where there is one.
bool tells_truth(std::string_view name, CUcontext* context) {
  if (current == nullptr || name != "cuCtxGetCurrent") return false;
  *context = current;
  return true;
}
bool tells_truth(std::string_view name, CUdevice* device) {
  if (current == nullptr || name != "cuCtxGetDevice") return false;
  *device =
      static_cast<CUdevice>((reinterpret_cast<uintptr_t>(current) - first_context) / context_bytes);
  return true;
}
bool tells_truth(std::string_view, const auto&...) {
  return false;
}

template <class Name, class Function>
struct Recorded;
template <class Name, class... Taken>
struct Recorded<Name, CUresult(CUDAAPI*)(Taken...)> {
  static CUresult call(Taken... arguments) {
    note(text_of_call(Name::text, arguments...));
    if (result != CUDA_SUCCESS || tells_truth(Name::text, arguments...)) return result;
    size_t argument = 0;
    (answer_in(Name::text, argument++, arguments), ...);
    return CUDA_SUCCESS;
  }
};

std::unordered_map<std::string_view, void*>& functions() {
  static auto* const all = new std::unordered_map<std::string_view, void*>();
  return *all;
}

void* function_of(const std::string& base, bool per_thread) {
  for (const char* suffix : {per_thread ? "_ptsz" : "", per_thread ? "_ptds" : "", ""}) {
    for (const char* version : {"_v4", "_v2", ""}) {
      const auto found = functions().find(base + version + suffix);
      if (found != functions().end()) return found->second;
    }
  }
  return nullptr;
}

const Recording recording = {
    [](CUresult now) { result = now; },
    [] {
      static auto* const taken = new std::string();
      const std::lock_guard lock(mutex);
      *taken = std::exchange(calls(), {});
      return taken->c_str();
    },
    [](int device) {
      current = device < 0 ? nullptr
                           : reinterpret_cast<CUcontext>(first_context + context_bytes * device);
    }};

// A function that no header declares, and that takes more than registers hold.
CUresult unheard_of(int a, double b, int c, int d, int e, int f, int g, int h, uint64_t* sum) {
  note(text_of_call("cuUnheardOf", a, b, c, d, e, f, g, h));
  *sum = static_cast<uint64_t>(a + b + c + d + e + f + g + h);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace sluice::testing

using namespace sluice::testing;

// Each exported symbol, which has the signature that its header says, is a jump. Its address here,
// by another name, is the one in this library: the shim has the symbol too.
#define SLUICE_REQUEST(symbol)                                                       \
  struct Name_##symbol {                                                             \
    static constexpr const char* text = #symbol;                                     \
  };                                                                                 \
  extern "C" {                                                                       \
  __attribute__((visibility("hidden"), used)) void* recorded_##symbol =              \
      reinterpret_cast<void*>(&Recorded<Name_##symbol, decltype(&::symbol)>::call);  \
  __attribute__((visibility("hidden"))) void exported_##symbol();                    \
  }                                                                                  \
  asm(".pushsection .text\n.globl " #symbol ", exported_" #symbol                    \
      "\n"                                                                           \
      ".hidden exported_" #symbol "\n.type " #symbol ", @function\n" #symbol         \
      ":\nexported_" #symbol ":\n  jmp *recorded_" #symbol "(%rip)\n.popsection\n"); \
  static const bool has_##symbol =                                                   \
      functions().emplace(#symbol, reinterpret_cast<void*>(&exported_##symbol)).second;
#include "interpose/requests/requests.def"

extern "C" {

CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (std::memcmp(id, &recording_id, sizeof *id) != 0) return CUDA_ERROR_NOT_FOUND;
  *table = &recording;
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  *function = std::strcmp(name, "cuUnheardOf") == 0 ? reinterpret_cast<void*>(&unheard_of)
                                                    : function_of(name, per_thread);
  if (status != nullptr)
    *status =
        *function == nullptr ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

}  // extern "C"
