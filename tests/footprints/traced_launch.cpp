#include "traced_launch.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>

#include "hostcuda/block_abi.h"
#include "runtime/check/footprint_check.hpp"
#include "runtime/launch/arguments.hpp"

namespace sluice::footprints {
namespace {

void require(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  throw std::runtime_error(what + ": CUDA error " + std::to_string(result));
}

const SluiceHostDeviceTable& table() {
  static const SluiceHostDeviceTable* const found = [] {
    constexpr unsigned char bytes[] = SLUICE_HOST_DEVICE_TABLE_UUID;
    CUuuid uuid = {};
    std::memcpy(&uuid, bytes, sizeof(uuid));
    const void* address = nullptr;
    require(cuGetExportTable(&address, &uuid), "cuGetExportTable");
    return static_cast<const SluiceHostDeviceTable*>(address);
  }();
  return *found;
}

// TracingDevice passes on who hears of accesses; nothing else is asked of it.
class TracingDevice final : public runtime::Device {
 public:
  int launch(const runtime::LaunchCall&) override { return CUDA_ERROR_NOT_SUPPORTED; }
  Result<SluiceBlockCode> block_code(void*, const Dim3&, uint32_t) override {
    return SluiceBlockCode{};
  }
  void set_access_sink(const SluiceAccessSink* sink) override { table().set_access_sink(sink); }
  int enqueue(const StreamKey&, std::function<void()>) override { return CUDA_ERROR_NOT_SUPPORTED; }
};

struct Scratch {
  explicit Scratch(size_t bytes) : memory(::operator new(bytes + 1, std::align_val_t{64})) {}
  ~Scratch() { ::operator delete(memory, std::align_val_t{64}); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* memory;
};

// variable_of() is where a variable of the kernel's module lies.
DeviceMemory::Pointer variable_of(CUfunction kernel, const std::string& name) {
  CUmodule module = nullptr;
  require(cuFuncGetModule(&module, kernel), "cuFuncGetModule");
  DeviceMemory::Pointer pointer;
  size_t bytes = 0;
  require(cuModuleGetGlobal(&pointer.begin, &bytes, module, name.c_str()), name);
  pointer.value = pointer.begin;
  pointer.end = pointer.begin + bytes;
  return pointer;
}

}  // namespace

CUdeviceptr DeviceMemory::place(const Field& field) {
  Pointer pointer;
  if (field.into >= 0) {
    pointer = pointers_.at(static_cast<size_t>(field.into));
  } else {
    require(cuMemAlloc(&pointer.begin, field.contents.size()), "cuMemAlloc");
    allocated_.push_back(pointer.begin);
    require(cuMemcpyHtoD(pointer.begin, field.contents.data(), field.contents.size()),
            "cuMemcpyHtoD");
    pointer.end = pointer.begin + field.contents.size();
  }
  pointer.value = pointer.begin + field.at;
  pointers_.push_back(pointer);
  return pointer.value;
}

std::vector<std::byte> DeviceMemory::bind(const analysis::KernelSignature& signature,
                                          const std::vector<Argument>& arguments) {
  std::vector<std::byte> block(signature.parameter_bytes);
  if (arguments.size() != signature.parameters.size()) {
    throw std::runtime_error("the kernel takes " + std::to_string(signature.parameters.size()) +
                             " arguments");
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    size_t offset = signature.parameters[i].offset;
    for (const Field& field : arguments[i]) {
      const CUdeviceptr pointer = field.is_pointer ? place(field) : 0;
      const size_t bytes = field.is_pointer ? sizeof(pointer) : field.value.size();
      offset = (offset + bytes - 1) / bytes * bytes;
      if (offset + bytes > block.size()) throw std::runtime_error("argument does not fit");
      std::memcpy(block.data() + offset,
                  field.is_pointer ? static_cast<const void*>(&pointer) : field.value.data(),
                  bytes);
      offset += bytes;
    }
  }
  return block;
}

const DeviceMemory::Pointer& DeviceMemory::at(CUdeviceptr value) const {
  for (const Pointer& pointer : pointers_) {
    if (pointer.value == value) return pointer;
  }
  throw std::runtime_error("a pointer slot holds no pointer of the launch");
}

DeviceMemory::~DeviceMemory() {
  for (const CUdeviceptr each : allocated_)
    static_cast<void>(cuMemFree(each));
}

CpuDevice& CpuDevice::get() {
  static CpuDevice device;
  return device;
}

CpuDevice::CpuDevice() {
  CUcontext context = nullptr;
  require(cuInit(0), "cuInit");
  require(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  require(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

CUfunction CpuDevice::function(const std::string& file, const std::string& kernel) {
  static std::map<std::string, CUmodule> modules;
  CUmodule& module = modules[file];
  if (module == nullptr) {
    std::ifstream stream(std::string(SLUICE_ANALYSIS_KERNELS) + "/" + file + ".ptx");
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    require(cuModuleLoadData(&module, text.c_str()), file);
  }
  CUfunction found = nullptr;
  require(cuModuleGetFunction(&found, module, kernel.c_str()), kernel);
  return found;
}

dro::CheckRecord CpuDevice::run_traced(CUfunction function, const KernelCase& launch,
                                       const analysis::KernelSignature& signature,
                                       const analysis::Footprint& footprint) {
  DeviceMemory memory;
  const std::vector<std::byte> parameters = memory.bind(signature, launch.arguments);
  std::vector<runtime::BoundPointer> pointers;
  for (size_t i = 0; i < signature.pointers.size(); ++i) {
    runtime::BoundPointer bound{.name = signature.pointers[i].name};
    const analysis::ArgumentFootprint& argument = footprint.arguments[i];
    if (argument.reads.present() || argument.may_writes.present() ||
        argument.must_writes.present()) {
      const analysis::ParameterSlot& slot = signature.pointers[i];
      const auto pointer = slot.is_variable ? variable_of(function, slot.name)
                                            : memory.at(runtime::read_slot(parameters, slot));
      bound = {bound.name, pointer.value, pointer.begin, pointer.end};
    }
    pointers.push_back(bound);
  }
  TracingDevice device;
  runtime::FootprintCheck check(device);
  check.add_footprint(1, footprint);
  const auto runner = check.watch(launch.kernel, 1, pointers, parameters.size());
  if (runner == nullptr) throw std::runtime_error("the footprint cannot be evaluated");

  SluiceBlockCode code = {};
  const uint32_t block[3] = {launch.block.x, launch.block.y, launch.block.z};
  require(static_cast<CUresult>(
              table().get_traced_block_code(function, block, launch.dynamic_shared_bytes, &code)),
          "get_traced_block_code");
  const Scratch scratch(code.scratch_bytes);
  const SluiceBlockLaunch blocks = {parameters.data(),
                                    {launch.grid.x, launch.grid.y, launch.grid.z},
                                    launch.dynamic_shared_bytes};
  runner->run(code, blocks, 0, static_cast<uint32_t>(launch.grid.count()), scratch.memory);
  return check.records().at(0);
}

void CpuDevice::run(CUfunction function, const KernelCase& launch,
                    const analysis::KernelSignature& signature) {
  DeviceMemory memory;
  std::vector<std::byte> parameters = memory.bind(signature, launch.arguments);
  size_t bytes = parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &bytes, CU_LAUNCH_PARAM_END};
  require(cuLaunchKernel(function, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x,
                         launch.block.y, launch.block.z, launch.dynamic_shared_bytes, nullptr,
                         nullptr, extra),
          "cuLaunchKernel");
  require(cuCtxSynchronize(), "cuCtxSynchronize");
}

}  // namespace sluice::footprints
