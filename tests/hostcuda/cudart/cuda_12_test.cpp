// libcudart.so.12 as programs built by CUDA 12 call it: each function by its version node, with
// CUDA 12's parameters and structures.
#include <cstring>
#include <string>
#include <vector>

#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "hostcuda/cudart/cuda_12/types.hpp"

namespace sluice::cudart::cuda_12 {
namespace {

// cuda_12() is the function of that name and type.
template <class Type>
Type* cuda_12(const char* name) {
  // The call keeps the CPU device's driver among the libraries of this program.
  static void* const library =
      cuInit(0) == CUDA_SUCCESS ? dlopen(SLUICE_CUDART_12, RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const function = library == nullptr ? nullptr : dlvsym(library, name, "libcudart.so.12");
  if (function == nullptr) ADD_FAILURE() << name << " is not there";
  return reinterpret_cast<Type*>(function);
}

template <class... Arguments>
cudaError_t call(const char* name, Arguments... arguments) {
  auto* const function = cuda_12<cudaError_t(Arguments...)>(name);
  return function == nullptr ? cudaErrorSymbolNotFound : function(arguments...);
}

// Guarded holds a structure of `size` bytes, and notices what is written behind it.
class Guarded {
 public:
  explicit Guarded(size_t size) : size_(size), bytes_(size + 256, 0xa5) {}
  void* get() { return bytes_.data(); }
  bool is_kept() const {
    for (size_t i = size_; i < bytes_.size(); ++i) {
      if (bytes_[i] != 0xa5) return false;
    }
    return true;
  }
  template <class T>
  T at(size_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

 private:
  size_t size_;
  std::vector<unsigned char> bytes_;
};

// Where CUDA 12 has members that stand elsewhere in CUDA 13.
TEST(Cuda12, DevicePropertiesLieWhereItHasThem) {
  EXPECT_EQ(offsetof(DeviceProperties, clockRate), 348u);
  EXPECT_EQ(offsetof(DeviceProperties, major), 360u);
  EXPECT_EQ(offsetof(DeviceProperties, multiProcessorCount), 388u);
  EXPECT_EQ(offsetof(DeviceProperties, maxTexture2D), 420u);
  EXPECT_EQ(offsetof(DeviceProperties, memoryClockRate), 608u);
  EXPECT_EQ(offsetof(DeviceProperties, cooperativeLaunch), 688u);
  EXPECT_EQ(offsetof(DeviceProperties, sharedMemPerBlockOptin), 696u);
  EXPECT_EQ(offsetof(DeviceProperties, unifiedFunctionPointers), 776u);
  EXPECT_EQ(offsetof(DeviceProperties, reserved), 780u);
  EXPECT_EQ(size_before_cuda_12, 728u);
  EXPECT_EQ(pointer_attributes_size, 24u);
}

TEST(Cuda12, DevicePropertiesAgreeWithTheAttributes) {
  Guarded filled(sizeof(DeviceProperties));
  ASSERT_EQ(call<void*>("cudaGetDeviceProperties_v2", filled.get(), 0), cudaSuccess);
  EXPECT_TRUE(filled.is_kept());
  const auto attribute = [](cudaDeviceAttr which) {
    int value = -1;
    EXPECT_EQ(call("cudaDeviceGetAttribute", &value, which, 0), cudaSuccess);
    return value;
  };
#define EXPECT_MEMBER(name, which) \
  EXPECT_EQ(filled.at<int>(offsetof(DeviceProperties, name)), attribute(which))
  EXPECT_MEMBER(clockRate, cudaDevAttrClockRate);
  EXPECT_MEMBER(memoryClockRate, cudaDevAttrMemoryClockRate);
  EXPECT_MEMBER(multiProcessorCount, cudaDevAttrMultiProcessorCount);
  EXPECT_MEMBER(maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth);
  EXPECT_MEMBER(cooperativeLaunch, cudaDevAttrCooperativeLaunch);
  EXPECT_MEMBER(managedMemory, cudaDevAttrManagedMemory);
#undef EXPECT_MEMBER
  EXPECT_EQ(filled.at<int>(offsetof(DeviceProperties, warpSize)), 32);
  EXPECT_EQ(call<void*>("cudaGetDeviceProperties_v2", filled.get(), 7), cudaErrorInvalidDevice);
  Guarded before(size_before_cuda_12);
  ASSERT_EQ(call<void*>("cudaGetDeviceProperties", before.get(), 0), cudaSuccess);
  EXPECT_TRUE(before.is_kept());
  EXPECT_EQ(before.at<int>(offsetof(DeviceProperties, warpSize)), 32);
}

TEST(Cuda12, StructuresThatGrewInCuda13AreNotWrittenBeyond) {
  void* memory = nullptr;
  ASSERT_EQ(call("cudaMalloc", &memory, size_t{4096}), cudaSuccess);
  Guarded attributes(pointer_attributes_size);
  ASSERT_EQ((call<void*, const void*>("cudaPointerGetAttributes", attributes.get(), memory)),
            cudaSuccess);
  EXPECT_TRUE(attributes.is_kept());
  EXPECT_EQ(attributes.at<void*>(offsetof(cudaPointerAttributes, devicePointer)), memory);

  Guarded given(resource_size), shown(resource_size);
  auto* const resource = static_cast<cudaResourceDesc*>(given.get());
  std::memset(given.get(), 0, resource_size);
  resource->resType = cudaResourceTypeLinear;
  resource->res.linear.devPtr = memory;
  resource->res.linear.desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  resource->res.linear.sizeInBytes = 4096;
  const cudaTextureDesc texture = {};
  cudaTextureObject_t object = 0;
  ASSERT_EQ((call<cudaTextureObject_t*, const void*, const cudaTextureDesc*, const void*>(
                "cudaCreateTextureObject", &object, given.get(), &texture, nullptr)),
            cudaSuccess);
  ASSERT_EQ(call("cudaGetTextureObjectResourceDesc", shown.get(), object), cudaSuccess);
  EXPECT_TRUE(shown.is_kept());
  EXPECT_EQ(std::memcmp(given.get(), shown.get(), resource_size), 0);
  EXPECT_EQ(call("cudaDestroyTextureObject", object), cudaSuccess);
  EXPECT_EQ(call("cudaFree", memory), cudaSuccess);
}

TEST(Cuda12, ManagedMemoryIsSentToADeviceByItsNumber) {
  void* memory = nullptr;
  ASSERT_EQ(call("cudaMallocManaged", &memory, size_t{4096}, 1u), cudaSuccess);
  const void* const constant = memory;
  cudaStream_t const none = nullptr;
  for (const int device : {0, cudaCpuDeviceId}) {
    EXPECT_EQ(call("cudaMemPrefetchAsync", constant, size_t{4096}, device, none), cudaSuccess);
    EXPECT_EQ(
        call("cudaMemAdvise", constant, size_t{4096}, cudaMemAdviseSetPreferredLocation, device),
        cudaSuccess);
  }
  cudaMemLocation place = {};
  place.type = cudaMemLocationTypeDevice;
  EXPECT_EQ(call("cudaMemPrefetchAsync_v2", constant, size_t{4096}, place, 0u, none), cudaSuccess);
  EXPECT_EQ(call("cudaDeviceSynchronize"), cudaSuccess);
  EXPECT_EQ(call("cudaFree", memory), cudaSuccess);
}

// The forms without data at edges, and those with it.
TEST(Cuda12, GraphsHaveEdgesInBothForms) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(call("cudaGraphCreate", &graph, 0u), cudaSuccess);
  cudaGraphNode_t nodes[2] = {};
  const cudaGraphNode_t* const no_nodes = nullptr;
  for (cudaGraphNode_t& node : nodes)
    ASSERT_EQ(call("cudaGraphAddEmptyNode", &node, graph, no_nodes, size_t{0}), cudaSuccess);
  const cudaGraphNode_t* const from = &nodes[0];
  const cudaGraphNode_t* const to = &nodes[1];
  ASSERT_EQ(call("cudaGraphAddDependencies", graph, from, to, size_t{1}), cudaSuccess);
  cudaGraphNode_t begin = nullptr, end = nullptr;
  cudaGraphEdgeData* const no_data = nullptr;
  size_t count = 1;
  ASSERT_EQ(call("cudaGraphGetEdges", graph, &begin, &end, &count), cudaSuccess);
  EXPECT_TRUE(count == 1 && begin == nodes[0] && end == nodes[1]);
  begin = end = nullptr;
  ASSERT_EQ(call("cudaGraphGetEdges_v2", graph, &begin, &end, no_data, &count), cudaSuccess);
  EXPECT_TRUE(count == 1 && begin == nodes[0] && end == nodes[1]);
  ASSERT_EQ(call("cudaGraphNodeGetDependencies", nodes[1], &begin, &count), cudaSuccess);
  EXPECT_TRUE(count == 1 && begin == nodes[0]);
  ASSERT_EQ(call("cudaGraphNodeGetDependentNodes", nodes[0], &end, &count), cudaSuccess);
  EXPECT_TRUE(count == 1 && end == nodes[1]);
  ASSERT_EQ(call("cudaGraphRemoveDependencies", graph, from, to, size_t{1}), cudaSuccess);
  cudaGraphNode_t* const uncounted = nullptr;
  ASSERT_EQ(call("cudaGraphGetEdges", graph, uncounted, uncounted, &count), cudaSuccess);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(call("cudaGraphDestroy", graph), cudaSuccess);
}

TEST(Cuda12, CaptureIsToldInAllItsForms) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(call("cudaStreamCreate", &stream), cudaSuccess);
  ASSERT_EQ(call("cudaStreamBeginCapture", stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long first = 0, second = 0;
  EXPECT_EQ(call("cudaStreamGetCaptureInfo", stream, &status, &first), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* after = nullptr;
  size_t count = 9;
  EXPECT_EQ(call("cudaStreamGetCaptureInfo_v2", stream, &status, &second, &graph, &after, &count),
            cudaSuccess);
  EXPECT_EQ(first, second);
  EXPECT_NE(graph, nullptr);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(call("cudaStreamEndCapture", stream, &graph), cudaSuccess);
  EXPECT_EQ(call("cudaGraphDestroy", graph), cudaSuccess);
  EXPECT_EQ(call("cudaStreamDestroy", stream), cudaSuccess);
}

TEST(Cuda12, ItSaysItsVersionAndKnowsOldNames) {
  int version = 0;
  EXPECT_EQ(call("cudaRuntimeGetVersion", &version), cudaSuccess);
  EXPECT_EQ(version, 12090);
  EXPECT_EQ(call("cudaThreadSynchronize"), cudaSuccess);
  size_t stack = 0;
  EXPECT_EQ(call("cudaThreadGetLimit", &stack, cudaLimitStackSize), cudaSuccess);
  EXPECT_GT(stack, 0u);
}

// What nvcc's host code does for a kernel and for <<<>>>. The fat binary holds its PTX as it is.
struct FatBinary {
  struct Container {
    unsigned magic = 0xBA55ED50;
    unsigned short version = 1, header_size = 16;
    unsigned long long size = 0;
    unsigned short kind = 1, unit_version = 0x101;
    unsigned unit_header_size = 64;
    unsigned long long payload_size = 0;
    unsigned compressed_size = 0;
    unsigned short minor = 0, major = 7;
    unsigned architecture = 75, name_offset = 64, name_length = 0;
    unsigned long long flags = 0x11, reserved = 0, uncompressed_size = 0;
  };
  static_assert(sizeof(Container) == 80);

  explicit FatBinary(std::string ptx) {
    ptx.resize((ptx.size() + 8) / 8 * 8);
    Container container;
    container.payload_size = ptx.size();
    container.size = 64 + ptx.size();
    bytes.assign(reinterpret_cast<const char*>(&container), sizeof container);
    bytes += ptx;
    wrapper.data = bytes.data();
  }
  std::string bytes;
  struct {
    int magic = 0x466243b1, version = 1;
    const void* data = nullptr;
    void* others = nullptr;
  } wrapper;
};

constexpr const char* doubles = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 values) {
  .reg .u32 %r<3>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [values];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  shl.b32 %r2, %r2, 1;
  st.global.u32 [%rd3], %r2;
  ret;
}
)";

void twice_on_the_host() {}

TEST(Cuda12, RegisteredKernelsAreLaunched) {
  FatBinary code{doubles};
  void** const handle = cuda_12<void**(void*)>("__cudaRegisterFatBinary")(&code.wrapper);
  const auto* const host = reinterpret_cast<const char*>(&twice_on_the_host);
  cuda_12<void(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*)>(
      "__cudaRegisterFunction")(handle, host, const_cast<char*>("twice"), "twice", -1, nullptr,
                                nullptr, nullptr, nullptr, nullptr);
  cuda_12<void(void**)>("__cudaRegisterFatBinaryEnd")(handle);

  void* memory = nullptr;
  int values[64];
  for (int i = 0; i < 64; ++i)
    values[i] = i;
  ASSERT_EQ(call("cudaMalloc", &memory, sizeof values), cudaSuccess);
  ASSERT_EQ((call<void*, const void*, size_t, cudaMemcpyKind>(
                "cudaMemcpy", memory, values, sizeof values, cudaMemcpyHostToDevice)),
            cudaSuccess);
  void* arguments[] = {static_cast<void*>(&memory)};
  ASSERT_EQ((call<const void*, dim3, dim3, void**, size_t, cudaStream_t>(
                "cudaLaunchKernel", host, dim3(1), dim3(64), arguments, 0, nullptr)),
            cudaSuccess);
  LaunchParameters together = {const_cast<char*>(host), dim3(1), dim3(64), arguments, 0, nullptr};
  ASSERT_EQ(call("cudaLaunchCooperativeKernelMultiDevice", &together, 1u, 0u), cudaSuccess);
  EXPECT_NE(call("cudaLaunchCooperativeKernelMultiDevice", &together, 2u, 0u), cudaSuccess);
  ASSERT_EQ((call<void*, const void*, size_t, cudaMemcpyKind>(
                "cudaMemcpy", values, memory, sizeof values, cudaMemcpyDeviceToHost)),
            cudaSuccess);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], 4 * i);
  EXPECT_EQ(call("cudaFree", memory), cudaSuccess);
  cuda_12<void(void**)>("__cudaUnregisterFatBinary")(handle);
}

}  // namespace
}  // namespace sluice::cudart::cuda_12
