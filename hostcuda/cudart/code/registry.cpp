#include "hostcuda/cudart/code/registry.hpp"

#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hostcuda/cudart/api.hpp"

namespace sluice::cudart {

struct ManagedVariable {
  void** host_pointer;
  std::string name;
};

struct FatBinary {
  const void* wrapper;
  std::vector<ManagedVariable> managed;  // guarded by the registry's mutex
  std::mutex mutex;                      // guards what follows
  bool loaded = false;
  cudaError_t load_error = cudaSuccess;
  CUlibrary library = nullptr;
};

namespace {

struct Kernel {
  FatBinary* binary;
  std::string name;
  CUkernel handle = nullptr;
};

struct Variable {
  FatBinary* binary;
  std::string name;
  bool is_managed = false;
};

// Lock order: the registry's mutex may be held while a fat binary's is taken, never the reverse.
struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<const void*, Kernel> kernels;
  std::unordered_map<const void*, Variable> variables;
  std::unordered_set<const void*> kernel_handles;
};

Registry& registry() {
  static Registry* instance = new Registry;
  return *instance;
}

// load() hands the image to the driver once. The wrapper is what the driver gets, not the container
// in it: the wrapper of a device-linked program leads to several containers.
cudaError_t load(FatBinary& binary, CUlibrary* library) {
  const std::lock_guard lock(binary.mutex);
  if (!binary.loaded) {
    binary.loaded = true;
    binary.load_error = to_error(cuLibraryLoadData(&binary.library, binary.wrapper, nullptr,
                                                   nullptr, 0, nullptr, nullptr, 0));
  }
  *library = binary.library;
  return binary.load_error;
}

template <class Map>
void erase_of(Map& map, const FatBinary* binary) {
  std::erase_if(map, [binary](const auto& entry) { return entry.second.binary == binary; });
}

}  // namespace

FatBinary* add_fat_binary(const void* wrapper) {
  return new FatBinary{.wrapper = wrapper};
}

void add_kernel(FatBinary* binary, const void* host_function, const char* name) {
  const std::lock_guard lock(registry().mutex);
  registry().kernels.insert_or_assign(host_function, Kernel{binary, name});
}

void add_variable(FatBinary* binary, const void* host_variable, const char* name) {
  const std::lock_guard lock(registry().mutex);
  registry().variables.insert_or_assign(host_variable, Variable{binary, name});
}

void add_managed(FatBinary* binary, void** host_pointer, const char* name) {
  const std::lock_guard lock(registry().mutex);
  registry().variables.insert_or_assign(host_pointer, Variable{binary, name, true});
  binary->managed.push_back({host_pointer, name});
}

void remove_fat_binary(FatBinary* binary) {
  const std::lock_guard lock(registry().mutex);
  erase_of(registry().kernels, binary);
  erase_of(registry().variables, binary);
}

cudaError_t load_managed(FatBinary* binary) {
  CUlibrary library = nullptr;
  const cudaError_t error = load(*binary, &library);
  if (error != cudaSuccess) return error;
  const std::lock_guard lock(registry().mutex);
  for (const ManagedVariable& variable : binary->managed) {
    CUdeviceptr address = 0;
    size_t size = 0;
    const CUresult result = cuLibraryGetManaged(&address, &size, library, variable.name.c_str());
    if (result != CUDA_SUCCESS) return to_error(result);
    *variable.host_pointer = reinterpret_cast<void*>(address);
    // A program names the variable by its value's address once it has one.
    registry().variables.insert_or_assign(reinterpret_cast<const void*>(address),
                                          Variable{binary, variable.name, true});
  }
  return cudaSuccess;
}

void know_kernel(CUkernel kernel) {
  const std::lock_guard lock(registry().mutex);
  registry().kernel_handles.insert(kernel);
}

cudaError_t find_kernel(const void* function, CUkernel* kernel) {
  Registry& all = registry();
  Kernel found;
  {
    const std::shared_lock lock(all.mutex);
    const auto entry = all.kernels.find(function);
    if (entry == all.kernels.end()) {
      if (!all.kernel_handles.contains(function)) return cudaErrorInvalidDeviceFunction;
      *kernel = static_cast<CUkernel>(const_cast<void*>(function));
      return cudaSuccess;
    }
    *kernel = entry->second.handle;
    if (*kernel != nullptr) return cudaSuccess;
    found = entry->second;
  }
  CUlibrary library = nullptr;
  const cudaError_t error = load(*found.binary, &library);
  if (error != cudaSuccess) return error;
  const CUresult result = cuLibraryGetKernel(kernel, library, found.name.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) return cudaErrorInvalidDeviceFunction;
  if (result != CUDA_SUCCESS) return to_error(result);
  const std::lock_guard lock(all.mutex);
  if (const auto entry = all.kernels.find(function); entry != all.kernels.end()) {
    entry->second.handle = *kernel;
  }
  all.kernel_handles.insert(*kernel);
  return cudaSuccess;
}

cudaError_t find_variable(const void* symbol, DeviceVariable* variable) {
  Registry& all = registry();
  Variable found;
  {
    const std::shared_lock lock(all.mutex);
    const auto entry = all.variables.find(symbol);
    if (entry == all.variables.end()) return cudaErrorInvalidSymbol;
    found = entry->second;
  }
  CUlibrary library = nullptr;
  const cudaError_t error = load(*found.binary, &library);
  if (error != cudaSuccess) return error;
  const char* name = found.name.c_str();
  const CUresult result =
      found.is_managed ? cuLibraryGetManaged(&variable->address, &variable->size, library, name)
                       : cuLibraryGetGlobal(&variable->address, &variable->size, library, name);
  return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : to_error(result);
}

}  // namespace sluice::cudart
